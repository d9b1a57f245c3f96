/* test_filter_program.c - from rules to BPF: what the kernel would answer, number by number.
 *
 * The programs are run by an interpreter here, which knows the instructions that program.c writes
 * and fails at any other.  What the kernel itself makes of them is looked at in the kernel tier.
 */
#include "own.h"
#include "rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <linux/audit.h>
#include <linux/seccomp.h>

#include <cmocka.h>

#define CODE_MAX 4096
#define DENY (SECCOMP_RET_ERRNO | 1)
#define LACK (SECCOMP_RET_ERRNO | 38)

static struct rules rules;
static struct sock_filter code[CODE_MAX];
static size_t length;

static uint32_t loaded(const struct seccomp_data *data, uint32_t offset)
{
    uint32_t word;

    assert_true(offset % 4 == 0 && offset + 4 <= sizeof(*data));
    memcpy(&word, (const char *)data + offset, sizeof(word));
    return word;
}

static bool holds(uint16_t test, uint32_t accumulator, uint32_t k)
{
    if (test == BPF_JEQ)
        return accumulator == k;
    return test == BPF_JGE ? accumulator >= k : (accumulator & k) != 0;
}

static uint32_t answer(const struct seccomp_data *data)
{
    uint32_t accumulator = 0;

    for (size_t at = 0; at < length; at++) {
        const struct sock_filter *step = &code[at];

        switch (step->code) {
        case BPF_LD | BPF_W | BPF_ABS:
            accumulator = loaded(data, step->k);
            break;
        case BPF_ALU | BPF_AND | BPF_K:
            accumulator &= step->k;
            break;
        case BPF_JMP | BPF_JA:
            at += step->k;
            break;
        case BPF_JMP | BPF_JEQ | BPF_K:
        case BPF_JMP | BPF_JGE | BPF_K:
        case BPF_JMP | BPF_JSET | BPF_K:
            at += holds(BPF_OP(step->code), accumulator, step->k) ? step->jt : step->jf;
            break;
        case BPF_RET | BPF_K:
            return step->k;
        default:
            fail_msg("instruction %zu: %#x", at, step->code);
        }
    }
    fail_msg("the program ends without an answer");
    return 0;
}

static uint32_t called(uint32_t number, uint64_t first, uint64_t second)
{
    const struct seccomp_data data = {
        .nr = (int)number, .arch = AUDIT_ARCH_X86_64, .args = {first, second}};

    return answer(&data);
}

static void begin(uint32_t default_action)
{
    memset(&rules, 0, sizeof(rules));
    rules.architecture = AUDIT_ARCH_X86_64;
    rules.default_action = default_action;
}

static void name(unsigned int number, uint32_t action)
{
    rules.calls[number].named = true;
    rules.calls[number].action = action;
}

static void assemble(void)
{
    length = program_assemble(&rules, code, CODE_MAX);
}

static void test_foreign_abis(void **state)
{
    struct seccomp_data data = {.nr = 1, .arch = AUDIT_ARCH_I386};

    begin(LACK);
    name(1, SECCOMP_RET_ALLOW);
    assemble();
    assert_int_equal(called(1, 0, 0), SECCOMP_RET_ALLOW);
    assert_int_equal(answer(&data), SECCOMP_RET_KILL_PROCESS);
    assert_int_equal(called(0x40000001, 0, 0), SECCOMP_RET_KILL_PROCESS);
    assert_int_equal(called(0xfffffffe, 0, 0), SECCOMP_RET_KILL_PROCESS);
    /* What a tracer leaves out is no call of the x32 ABI. */
    assert_int_equal(called(0xffffffff, 0, 0), LACK);
    assert_int_equal(called(0x3fffffff, 0, 0), LACK);
}

/* Every second call has an answer of its own, and many have clauses: no range is long, and the
 * program is far longer than a jump. */
static void test_far_jumps(void **state)
{
    begin(LACK);
    for (unsigned int number = 0; number < RULES_CALLS; number += 2) {
        name(number, number % 4 ? SECCOMP_RET_ALLOW : DENY);
        for (uint64_t value = 0; value < 3; value++) {
            const struct clause clause = {.action = SECCOMP_RET_USER_NOTIF,
                .compares = {{.argument = 0, .mask = UINT64_MAX, .value = value << 32 | number}},
                .n_compares = 1};

            assert_int_equal(rules_clause(&rules, (int)number, &clause), 0);
        }
    }
    assemble();
    assert_true(length > 10U * 255);
    for (unsigned int number = 0; number < RULES_CALLS + 8; number++) {
        bool odd = number % 2 || number >= RULES_CALLS;
        uint32_t otherwise = odd ? LACK : number % 4 ? SECCOMP_RET_ALLOW : DENY;

        assert_int_equal(called(number, UINT64_MAX, 0), otherwise);
        assert_int_equal(called(number, 3ULL << 32 | number, 0), otherwise);
        assert_int_equal(
            called(number, 2ULL << 32 | number, 0), odd ? otherwise : SECCOMP_RET_USER_NOTIF);
        assert_int_equal(called(number, number, 0), odd ? otherwise : SECCOMP_RET_USER_NOTIF);
    }
}

/* All compares of a clause must be met, and of two clauses that are met the stricter answers. */
static void test_clauses(void **state)
{
    const struct clause tell = {.action = SECCOMP_RET_USER_NOTIF,
        .compares = {{.argument = 0, .any = true, .mask = 0xf0}},
        .n_compares = 1};
    const struct clause deny = {.action = DENY,
        .compares = {{.argument = 0, .any = true, .mask = 0x30},
            {.argument = 1, .mask = 0xffffffff, .value = 7}},
        .n_compares = 2};

    begin(SECCOMP_RET_KILL_PROCESS);
    name(56, SECCOMP_RET_ALLOW);
    assert_int_equal(rules_clause(&rules, 56, &tell), 0);
    assert_int_equal(rules_clause(&rules, 56, &deny), 0);
    assert_int_equal(rules_clause(&rules, 57, &deny), 0);
    assemble();
    assert_int_equal(called(56, 0x0f, 7), SECCOMP_RET_ALLOW);
    assert_int_equal(called(56, 0x80, 7), SECCOMP_RET_USER_NOTIF);
    assert_int_equal(called(56, 0x10, 7), DENY);
    assert_int_equal(called(56, 0x10, 1ULL << 32 | 7), DENY); /* 32 bits were asked for */
    assert_int_equal(called(56, 0x10, 8), SECCOMP_RET_USER_NOTIF);
    assert_int_equal(called(56, 0x1000000000, 7), SECCOMP_RET_ALLOW);
    assert_int_equal(called(57, 0x10, 7), DENY);
    assert_int_equal(called(57, 0x10, 8), SECCOMP_RET_KILL_PROCESS);
}

static void test_too_many_clauses(void **state)
{
    const struct clause deny = {
        .action = DENY, .compares = {{.argument = 0, .any = true, .mask = 1}}, .n_compares = 1};

    begin(LACK);
    for (int i = 0; i < RULES_CLAUSES_MAX; i++)
        assert_int_equal(rules_clause(&rules, 3, &deny), 0);
    assert_true(rules_clause(&rules, 3, &deny) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_foreign_abis),
        cmocka_unit_test(test_far_jumps),
        cmocka_unit_test(test_clauses),
        cmocka_unit_test(test_too_many_clauses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
