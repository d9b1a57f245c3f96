/* rules.h - what a list says of each system call, and the program that says it to the kernel. */
#pragma once

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RULES_CALLS 512 /* no architecture of Linux has a number above, but for other ABIs' */
#define RULES_CLAUSES_MAX 32
#define RULES_COMPARES_MAX 6

/* One argument, 64 bits wide as a register is: argument & mask == value; `any`: argument & mask is
 * not 0, for a mask of the lower 32 bits. */
struct compare {
    unsigned int argument; /* 0 to 5 */
    bool any;
    uint64_t mask, value;
};

/* An action (SECCOMP_RET_*) for a call whose arguments meet all compares. */
struct clause {
    uint32_t action;
    struct compare compares[RULES_COMPARES_MAX];
    size_t n_compares;
};

struct call_rules {
    struct clause clauses[RULES_CLAUSES_MAX]; /* looked at in this order: rules_clause() sorts */
    size_t n_clauses;
    bool named; /* `action` is for a call that meets no clause; else the list's default is */
    uint32_t action;
};

struct rules {
    uint32_t architecture; /* AUDIT_ARCH_*: another's calls are killed */
    uint32_t default_action;
    struct call_rules calls[RULES_CALLS];
};

/* Puts CLAUSE among those of NUMBER, the stricter first, as the kernel ranks the answers of two
 * filters.  0, or -E2BIG: too many. */
int rules_clause(struct rules *rules, int number, const struct clause *clause);

/* The program: at most CAPACITY instructions.  Its length; exits when it has no room, for this is
 * part of the build. */
size_t program_assemble(const struct rules *rules, struct sock_filter *ret, size_t capacity);
