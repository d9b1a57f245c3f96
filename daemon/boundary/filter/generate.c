/* generate - turns a list of system calls into BPF, at build time.
 *
 *   generate LIST NAME OUTPUT [sanitized]
 *
 * What it should do: read LIST, with the numbers that libseccomp knows for this machine's
 * architecture, and write OUTPUT, a C file that defines filter_NAME and, where the list tells, what
 * the listener may be told of.  It runs in the build alone, so that no program of ours links a
 * library for filters.  It must not guess: a call name that libseccomp does not know ends the
 * build.
 *
 * A list has one rule a line; `#` starts a comment:
 *   default KILL | ALLOW | ENOSYS | EPERM ...      what becomes of a call that no rule names
 *   include FILE                           beside this one
 *   allow NAME...                          NUMBER=NAME for a call newer than libseccomp
 *   deny ERRNO NAME...
 *   notify NAME...                         the listener is asked
 *   allow|deny ERRNO|notify NAME if ARG & MASK == VALUE [ARG & MASK != 0 ...]    all of them
 *   sanitized allow ...                    only in a build with sanitizers
 *
 * Where the arguments of a call meet several rules, the stricter answer is given; where they meet
 * none, the one for the call whatever its arguments, and where there is none, the default.
 */
#include "rules.h"

#include <errno.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/seccomp.h>

#define WORDS_MAX 128
#define TOLD_MAX 128
#define CODE_MAX BPF_MAXINSNS

struct generator {
    const char *file; /* being read, for messages */
    unsigned int line;
    bool sanitized;
    bool started; /* by the `default` line */
    bool tells;   /* what is refused is told as well */
    struct rules rules;
    struct {
        int number;
        bool nests;
        char name[32];
    } told[TOLD_MAX];
    size_t n_told;
};

static _Noreturn void fail(const struct generator *generator, const char *what, const char *about)
{
    fprintf(stderr, "%s:%u: %s: %s\n", generator->file, generator->line, what, about);
    exit(1);
}

static uint32_t errno_action(const struct generator *generator, const char *name)
{
    if (strcmp(name, "EPERM") == 0)
        return SECCOMP_RET_ERRNO | EPERM;
    if (strcmp(name, "ENOSYS") == 0)
        return SECCOMP_RET_ERRNO | ENOSYS;
    if (strcmp(name, "EAFNOSUPPORT") == 0)
        return SECCOMP_RET_ERRNO | EAFNOSUPPORT;
    fail(generator, "unknown errno", name);
}

static uint64_t number_of(const struct generator *generator, const char *text)
{
    char *end;
    uint64_t value;

    errno = 0;
    value = strtoull(text, &end, 0);
    if (errno || *end || end == text)
        fail(generator, "not a number", text);
    return value;
}

/* The call's number here; negative where this architecture has no such call. */
static int resolve(const struct generator *generator, const char *word, const char **ret_name)
{
    const char *equals = strchr(word, '=');
    int number;

    if (equals) {
        char digits[16] = {0};

        memcpy(digits, word, (size_t)(equals - word) < 15 ? (size_t)(equals - word) : 15);
        *ret_name = equals + 1;
        return (int)number_of(generator, digits);
    }
    number = seccomp_syscall_resolve_name(word);
    if (number == __NR_SCMP_ERROR)
        fail(generator, "unknown system call", word);
    *ret_name = word;
    return number;
}

static void remember_told(struct generator *generator, int number, bool nests, const char *name)
{
    for (size_t i = 0; i < generator->n_told; i++) {
        if (generator->told[i].number == number)
            return;
    }
    if (generator->n_told == TOLD_MAX || strlen(name) >= sizeof(generator->told[0].name))
        fail(generator, "too many calls that are told", name);
    generator->told[generator->n_told].number = number;
    generator->told[generator->n_told].nests = nests;
    strcpy(generator->told[generator->n_told++].name, name);
}

/* WORDS: ARG & MASK == VALUE, again and again. */
/* ARG & MASK == VALUE, or ARG & MASK != 0. */
static void parse_compare(
    const struct generator *generator, char *words[static 5], struct compare *ret)
{
    ret->argument = (unsigned int)number_of(generator, words[0]);
    ret->any = strcmp(words[3], "!=") == 0;
    ret->mask = number_of(generator, words[2]);
    ret->value = number_of(generator, words[4]);
    if (strcmp(words[1], "&") != 0 || (!ret->any && strcmp(words[3], "==") != 0))
        fail(generator, "a comparison is ARG & MASK == VALUE or ARG & MASK != 0", words[0]);
    if (ret->argument > 5 || (ret->value & ~ret->mask))
        fail(generator, "can never be met", words[0]);
    if (ret->any && (ret->value || ret->mask > UINT32_MAX))
        fail(generator, "only bits of the lower 32 are compared with != 0", words[0]);
}

static void parse_compares(
    const struct generator *generator, char **words, size_t n_words, struct clause *clause)
{
    if (n_words == 0 || n_words % 5 != 0 || n_words / 5 > RULES_COMPARES_MAX)
        fail(generator, "comparisons have five words each", "");
    for (size_t i = 0; i < n_words; i += 5)
        parse_compare(generator, words + i, &clause->compares[clause->n_compares++]);
}

static void rule(
    struct generator *generator, const struct clause *clause, bool nests, const char *word)
{
    const char *name;
    int number = resolve(generator, word, &name);
    struct call_rules *call;

    if (number < 0)
        return;
    if (number >= RULES_CALLS)
        fail(generator, "a number beyond all calls", word);
    call = &generator->rules.calls[number];
    if (clause->n_compares > 0) {
        if (rules_clause(&generator->rules, number, clause) < 0)
            fail(generator, "too many rules for this call", word);
    } else {
        if (call->named && call->action != clause->action)
            fail(generator, "two answers for one call", word);
        call->named = true;
        call->action = clause->action;
    }
    if (clause->action == SECCOMP_RET_USER_NOTIF)
        remember_told(generator, number, nests, name);
}

static void start(struct generator *generator, const char *name)
{
    if (generator->started)
        fail(generator, "a second default", name);
    generator->started = true;
    generator->rules.architecture =
        seccomp_arch_native(); /* libseccomp's tokens are AUDIT_ARCH_* */
    generator->rules.default_action = strcmp(name, "KILL") == 0    ? SECCOMP_RET_KILL_PROCESS
                                      : strcmp(name, "ALLOW") == 0 ? SECCOMP_RET_ALLOW
                                                                   : errno_action(generator, name);
}

static void read_list(struct generator *generator, const char *path);

static void include_list(struct generator *generator, const char *name)
{
    char path[4096];
    const char *slash = strrchr(generator->file, '/');
    const char *file = generator->file;
    unsigned int line = generator->line;

    (void)snprintf(path, sizeof(path), "%.*s%s", slash ? (int)(slash + 1 - file) : 0, file, name);
    read_list(generator, path);
    generator->file = file;
    generator->line = line;
}

static void read_rule(struct generator *generator, char **words, size_t n_words)
{
    struct clause clause = {.action = SECCOMP_RET_ALLOW};
    size_t first = 1, last = 1;
    bool nests = strcmp(words[0], "notify") == 0;

    if (!generator->started)
        fail(generator, "a rule before the default", words[0]);
    if (nests)
        clause.action = SECCOMP_RET_USER_NOTIF;
    else if (strcmp(words[0], "refuse") == 0)
        clause.action = generator->tells ? SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ERRNO | EPERM;
    else if (strcmp(words[0], "deny") == 0 && n_words > 2)
        clause.action = errno_action(generator, words[first++]);
    else if (strcmp(words[0], "allow") != 0)
        fail(generator, "unknown rule", words[0]);
    for (last = first; last < n_words && strcmp(words[last], "if") != 0; last++)
        continue;
    if (last == first)
        fail(generator, "no system call named", words[0]);
    if (last < n_words)
        parse_compares(generator, words + last + 1, n_words - last - 1, &clause);
    for (size_t i = first; i < last; i++)
        rule(generator, &clause, nests, words[i]);
}

static void read_line(struct generator *generator, char *line)
{
    char *words[WORDS_MAX], *at = NULL, **first = words;
    size_t n_words = 0;

    line[strcspn(line, "#\n")] = '\0';
    for (char *word = strtok_r(line, " \t", &at); word; word = strtok_r(NULL, " \t", &at)) {
        if (n_words == WORDS_MAX)
            fail(generator, "too many words", word);
        words[n_words++] = word;
    }
    if (n_words > 0 && strcmp(words[0], "sanitized") == 0) {
        if (!generator->sanitized)
            return;
        first++;
        n_words--;
    }
    if (n_words == 0)
        return;
    if (n_words == 1 && strcmp(first[0], "tells") == 0)
        generator->tells = true;
    else if (n_words == 2 && strcmp(first[0], "default") == 0)
        start(generator, first[1]);
    else if (n_words == 2 && strcmp(first[0], "include") == 0)
        include_list(generator, first[1]);
    else
        read_rule(generator, first, n_words);
}

static void read_list(struct generator *generator, const char *path)
{
    FILE *file = fopen(path, "re");
    char line[4096];

    generator->file = path;
    generator->line = 0;
    if (!file)
        fail(generator, "cannot be read", strerror(errno));
    while (fgets(line, sizeof(line), file)) {
        generator->line++;
        read_line(generator, line);
    }
    if (ferror(file))
        fail(generator, "cannot be read", strerror(errno));
    (void)fclose(file);
}

static void write_program(const struct generator *generator, FILE *out, const char *name)
{
    static struct sock_filter code[CODE_MAX];
    size_t length = program_assemble(&generator->rules, code, CODE_MAX);

    fprintf(out, "static const struct sock_filter code[] = {\n");
    for (size_t i = 0; i < length; i++)
        fprintf(
            out, "    {0x%x, %u, %u, 0x%x},\n", code[i].code, code[i].jt, code[i].jf, code[i].k);
    fprintf(out,
        "};\nconst struct seccomp_filter filter_%s = {code, sizeof(code) / sizeof(code[0])};\n\n",
        name);
}

static void write_told(const struct generator *generator, FILE *out, const char *name)
{
    fprintf(out, "const struct filter_call filter_%s_told[] = {\n", name);
    for (size_t i = 0; i < generator->n_told; i++)
        fprintf(out, "    {%d, \"%s\", %d},\n", generator->told[i].number, generator->told[i].name,
            generator->told[i].nests);
    fprintf(out, "    {-1, 0, 0},\n};\n");
}

int main(int argc, char *argv[])
{
    static struct generator generator = {.file = "generate"};
    FILE *out;

    if (argc < 4)
        fail(&generator, "usage", "generate LIST NAME OUTPUT [sanitized]");
    generator.sanitized = argc > 4 && strcmp(argv[4], "sanitized") == 0;
    read_list(&generator, argv[1]);
    if (!generator.started)
        fail(&generator, "no default", "");
    out = fopen(argv[3], "we");
    if (!out)
        fail(&generator, argv[3], strerror(errno));
    fprintf(out, "/* Made from a list by generate; do not edit. */\n#include \"filters.h\"\n\n");
    write_program(&generator, out, argv[2]);
    if (generator.n_told > 0)
        write_told(&generator, out, argv[2]);
    if (fclose(out) != 0)
        fail(&generator, argv[3], strerror(errno));
    return 0;
}
