/* program.c - from rules to BPF (the kernel's Documentation/userspace-api/seccomp_filter.rst).
 *
 * What it should do: the shortest program that is easy to be sure of.  The kernel verifies,
 * compiles and tries a leg's filter at each start of a leg, so its length is part of the time that
 * takes. Numbers that stand side by side with one answer are one range; ranges are found by
 * halving:
 *
 *   load architecture; another: kill
 *   load number; of the x32 ABI: kill
 *   number >= middle?  ... the same for either half, down to one range:
 *       its clauses, one after the other, each: load half an argument, mask it, compare
 *       return its action
 *
 * BPF jumps forward alone, so the program is written from its end: what a jump leads to is there
 * already.  A jump goes 255 instructions far at most; where that is too near, a longer jump, or the
 * answer once more, stands between.
 */
#include "rules.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define X32_BIT 0x40000000U
#define NO_CALL 0xffffffffU /* what a tracer writes over a call that is to be left out */

#define ANSWERS_MAX 16

/* Places are counted from the program's end: the last instruction is 0. */
struct program {
    struct sock_filter *end;
    size_t length, capacity;
    struct {
        uint32_t action;
        size_t place; /* of the nearest instruction that returns it */
    } answers[ANSWERS_MAX];
    size_t n_answers;
};

/* One answer for the numbers from `first` to where the next range begins. */
struct range {
    unsigned int first;
    const struct call_rules *call; /* NULL: the default */
};

int rules_clause(struct rules *rules, int number, const struct clause *clause)
{
    struct call_rules *call = &rules->calls[number];
    size_t at = call->n_clauses;

    if (at == RULES_CLAUSES_MAX)
        return -E2BIG;
    /* As the kernel compares them: SECCOMP_RET_KILL_PROCESS is the least of the signed numbers. */
    while (at > 0 && (int32_t)call->clauses[at - 1].action > (int32_t)clause->action) {
        call->clauses[at] = call->clauses[at - 1];
        at--;
    }
    call->clauses[at] = *clause;
    call->n_clauses++;
    return 0;
}

static _Noreturn void too_much(const char *what)
{
    fprintf(stderr, "generate: the program has too many %s\n", what);
    exit(1);
}

/* Puts an instruction before all that are there. Its place. */
static size_t before(struct program *program, uint16_t code, uint32_t k)
{
    if (program->length == program->capacity)
        too_much("instructions");
    program->end[-1 - (ptrdiff_t)program->length] = (struct sock_filter){.code = code, .k = k};
    return program->length++;
}

static size_t load(struct program *program, size_t offset)
{
    return before(program, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset);
}

/* A place for the next two instructions to jump to, that leads to PLACE. */
static size_t within_reach(struct program *program, size_t place)
{
    const struct sock_filter *there = &program->end[-1 - (ptrdiff_t)place];

    if (program->length + 1 - place <= UINT8_MAX)
        return place;
    if (BPF_CLASS(there->code) == BPF_RET)
        return before(program, there->code, there->k);
    return before(program, BPF_JMP | BPF_JA, (uint32_t)(program->length - 1 - place));
}

/* TEST is a BPF_JEQ, BPF_JGE or BPF_JSET. */
static size_t jump(struct program *program, uint16_t test, uint32_t k, size_t yes, size_t no)
{
    size_t place;

    yes = within_reach(program, yes);
    no = within_reach(program, no);
    place = before(program, BPF_JMP | test | BPF_K, k);
    program->end[-1 - (ptrdiff_t)place].jt = (uint8_t)(place - 1 - yes);
    program->end[-1 - (ptrdiff_t)place].jf = (uint8_t)(place - 1 - no);
    return place;
}

/* Where ACTION is returned. */
static size_t answer(struct program *program, uint32_t action)
{
    size_t i = 0;

    while (i < program->n_answers && program->answers[i].action != action)
        i++;
    if (i == ANSWERS_MAX)
        too_much("different answers");
    if (i == program->n_answers) {
        program->n_answers++;
        program->answers[i].action = action;
        program->answers[i].place = before(program, BPF_RET | BPF_K, action);
    } else {
        program->answers[i].place = within_reach(program, program->answers[i].place);
    }
    return program->answers[i].place;
}

/* Half of an argument, unless the mask leaves nothing of it. */
static size_t compare_half(struct program *program, size_t offset, uint32_t mask, uint32_t value,
    size_t equal, size_t other)
{
    if (mask == 0)
        return equal;
    (void)jump(program, BPF_JEQ, value, equal, other);
    if (mask != UINT32_MAX)
        (void)before(program, BPF_ALU | BPF_AND | BPF_K, mask);
    return load(program, offset);
}

static size_t compare(
    struct program *program, const struct compare *compare, size_t met, size_t other)
{
    size_t low = offsetof(struct seccomp_data, args) + compare->argument * sizeof(uint64_t);
    size_t high = low + sizeof(uint32_t);

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    high = low;
    low = high + sizeof(uint32_t);
#endif
    if (compare->any) {
        (void)jump(program, BPF_JSET, (uint32_t)compare->mask, met, other);
        return load(program, low);
    }
    met = compare_half(program, high, (uint32_t)(compare->mask >> 32),
        (uint32_t)(compare->value >> 32), met, other);
    return compare_half(
        program, low, (uint32_t)compare->mask, (uint32_t)compare->value, met, other);
}

static size_t assemble_call(
    struct program *program, const struct rules *rules, const struct call_rules *call)
{
    size_t next = answer(program, call && call->named ? call->action : rules->default_action);

    for (size_t i = call ? call->n_clauses : 0; i-- > 0;) {
        const struct clause *clause = &call->clauses[i];
        size_t met = answer(program, clause->action);

        for (size_t j = clause->n_compares; j-- > 0;)
            met = compare(program, &clause->compares[j], met, next);
        next = met;
    }
    return next;
}

static size_t assemble_ranges(
    struct program *program, const struct rules *rules, const struct range *ranges, size_t n_ranges)
{
    size_t middle = n_ranges / 2, upper, lower;

    if (n_ranges == 1)
        return assemble_call(program, rules, ranges[0].call);
    upper = assemble_ranges(program, rules, ranges + middle, n_ranges - middle);
    lower = assemble_ranges(program, rules, ranges, middle);
    return jump(program, BPF_JGE, ranges[middle].first, upper, lower);
}

/* Whether a number with these rules belongs to the range before it. */
static bool same(const struct rules *rules, const struct call_rules *a, const struct call_rules *b)
{
    uint32_t one = a && a->named ? a->action : rules->default_action;
    uint32_t other = b && b->named ? b->action : rules->default_action;

    return !(a && a->n_clauses > 0) && !(b && b->n_clauses > 0) && one == other;
}

static size_t find_ranges(const struct rules *rules, struct range ret[static RULES_CALLS + 1])
{
    size_t n = 0;

    ret[n++] = (struct range){0, &rules->calls[0]};
    for (unsigned int number = 1; number <= RULES_CALLS; number++) {
        const struct call_rules *call = number < RULES_CALLS ? &rules->calls[number] : NULL;

        if (!same(rules, ret[n - 1].call, call))
            ret[n++] = (struct range){number, call};
    }
    return n;
}

size_t program_assemble(const struct rules *rules, struct sock_filter *ret, size_t capacity)
{
    struct program program = {.end = ret + capacity, .capacity = capacity};
    struct range ranges[RULES_CALLS + 1];
    size_t n_ranges = find_ranges(rules, ranges);
    size_t next = assemble_ranges(&program, rules, ranges, n_ranges);

    if (rules->architecture == AUDIT_ARCH_X86_64) {
        size_t x32 =
            jump(&program, BPF_JEQ, NO_CALL, next, answer(&program, SECCOMP_RET_KILL_PROCESS));

        (void)jump(&program, BPF_JGE, X32_BIT, x32, next);
    }
    /* A load goes on with what stands right behind it: the last that was written. */
    next = load(&program, offsetof(struct seccomp_data, nr));
    (void)jump(
        &program, BPF_JEQ, rules->architecture, next, answer(&program, SECCOMP_RET_KILL_PROCESS));
    (void)load(&program, offsetof(struct seccomp_data, arch));
    memmove(ret, program.end - program.length, program.length * sizeof(*ret));
    return program.length;
}
