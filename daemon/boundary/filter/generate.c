/* generate - turns a list of system calls into BPF, at build time.
 *
 *   generate LIST NAME OUTPUT [sanitized]
 *
 * What it should do: read LIST, have libseccomp compile it for this machine's architecture, and
 * write OUTPUT, a C file that defines filter_NAME and, where the list has rules that refuse or tell
 * by argument, filter_NAME_walls.  It runs in the build alone, so that no program of ours links a
 * filter compiler.  It must not guess: a call name that libseccomp does not know ends the build.
 *
 * A list has one rule a line; `#` starts a comment:
 *   default KILL | ENOSYS | EPERM ...      what becomes of a call that no rule names
 *   include FILE                           beside this one
 *   allow NAME...                          NUMBER=NAME for a call newer than libseccomp
 *   deny ERRNO NAME...
 *   notify NAME...                         the listener is asked
 *   allow|deny ERRNO|notify NAME if ARG & MASK == VALUE [ARG & MASK == VALUE ...]
 *   sanitized allow ...                    only in a build with sanitizers
 *
 * One program cannot say "this call, but not with these arguments" when the kernel looks at 32 bits
 * of an argument and BPF compares 64 with "not equal": so what refuses or tells by argument goes
 * into a second program that lets all else pass.  The kernel takes the stricter answer of the two.
 */
#include <ctype.h>
#include <errno.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/filter.h>

#define WORDS_MAX 128
#define TOLD_MAX 128

struct generator {
    const char *file; /* being read, for messages */
    unsigned int line;
    bool sanitized;
    uint32_t default_action;
    scmp_filter_ctx list;  /* made by the `default` line */
    scmp_filter_ctx walls; /* lets all else pass */
    bool has_walls;
    bool tells; /* what is refused is told as well */
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
        return SCMP_ACT_ERRNO(EPERM);
    if (strcmp(name, "ENOSYS") == 0)
        return SCMP_ACT_ERRNO(ENOSYS);
    if (strcmp(name, "EAFNOSUPPORT") == 0)
        return SCMP_ACT_ERRNO(EAFNOSUPPORT);
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

static void add(struct generator *generator, scmp_filter_ctx program, uint32_t action, int number,
    const struct scmp_arg_cmp *compares, unsigned int n_compares)
{
    int r = seccomp_rule_add_array(program, action, number, n_compares, compares);

    if (r < 0 && r != -EEXIST)
        fail(generator, "libseccomp refuses the rule", strerror(-r));
}

/* WORDS: ARG & MASK == VALUE, again and again. */
static unsigned int parse_compares(const struct generator *generator, char **words, size_t n_words,
    struct scmp_arg_cmp ret[static 6])
{
    unsigned int count = 0;

    if (n_words == 0 || n_words % 5 != 0 || n_words > 30)
        fail(generator, "a comparison is ARG & MASK == VALUE", "");
    for (size_t i = 0; i < n_words; i += 5) {
        if (strcmp(words[i + 1], "&") != 0 || strcmp(words[i + 3], "==") != 0)
            fail(generator, "a comparison is ARG & MASK == VALUE", words[i]);
        ret[count++] = (struct scmp_arg_cmp){.arg = (unsigned int)number_of(generator, words[i]),
            .op = SCMP_CMP_MASKED_EQ,
            .datum_a = number_of(generator, words[i + 2]),
            .datum_b = number_of(generator, words[i + 4])};
    }
    return count;
}

static void rule(struct generator *generator, uint32_t action, bool nests, const char *word,
    const struct scmp_arg_cmp *compares, unsigned int n_compares)
{
    bool told = action == SCMP_ACT_NOTIFY;
    bool wall = told || (action != SCMP_ACT_ALLOW && n_compares > 0);
    const char *name;
    int number = resolve(generator, word, &name);

    if (number < 0)
        return;
    if (!wall) {
        if (action != generator->default_action)
            add(generator, generator->list, action, number, compares, n_compares);
        return;
    }
    generator->has_walls = true;
    add(generator, generator->list, SCMP_ACT_ALLOW, number, NULL, 0);
    add(generator, generator->walls, action, number, compares, n_compares);
    if (told)
        remember_told(generator, number, nests, name);
}

static void start(struct generator *generator, const char *name)
{
    uint32_t action =
        strcmp(name, "KILL") == 0 ? SCMP_ACT_KILL_PROCESS : errno_action(generator, name);
    int r = 0;

    if (generator->list)
        fail(generator, "a second default", name);
    generator->default_action = action;
    generator->list = seccomp_init(action);
    generator->walls = seccomp_init(SCMP_ACT_ALLOW);
    if (!generator->list || !generator->walls)
        fail(generator, "libseccomp", "no memory");
    for (int i = 0; i < 2 && r == 0; i++) {
        scmp_filter_ctx program = i ? generator->walls : generator->list;

        r = seccomp_attr_set(program, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
        if (r == 0)
            r = seccomp_attr_set(program, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    }
    if (r < 0)
        fail(generator, "libseccomp", strerror(-r));
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
    struct scmp_arg_cmp compares[6];
    unsigned int n_compares = 0;
    uint32_t action = SCMP_ACT_ALLOW;
    size_t first = 1, last = 1;
    bool nests = strcmp(words[0], "notify") == 0;

    if (!generator->list)
        fail(generator, "a rule before the default", words[0]);
    if (nests)
        action = SCMP_ACT_NOTIFY;
    else if (strcmp(words[0], "refuse") == 0)
        action = generator->tells ? SCMP_ACT_NOTIFY : SCMP_ACT_ERRNO(EPERM);
    else if (strcmp(words[0], "deny") == 0 && n_words > 2)
        action = errno_action(generator, words[first++]);
    else if (strcmp(words[0], "allow") != 0)
        fail(generator, "unknown rule", words[0]);
    for (last = first; last < n_words && strcmp(words[last], "if") != 0; last++)
        continue;
    if (last == first)
        fail(generator, "no system call named", words[0]);
    if (last < n_words)
        n_compares = parse_compares(generator, words + last + 1, n_words - last - 1, compares);
    for (size_t i = first; i < last; i++)
        rule(generator, action, nests, words[i], compares, n_compares);
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

static void write_program(
    const struct generator *generator, FILE *out, scmp_filter_ctx program, const char *name)
{
    int memory = memfd_create("filter", MFD_CLOEXEC);
    struct sock_filter line;
    int r = memory < 0 ? -errno : seccomp_export_bpf(program, memory);

    if (r < 0 || lseek(memory, 0, SEEK_SET) < 0)
        fail(generator, "libseccomp cannot compile", strerror(r < 0 ? -r : errno));
    fprintf(out, "static const struct sock_filter code_%s[] = {\n", name);
    while (read(memory, &line, sizeof(line)) == (ssize_t)sizeof(line))
        fprintf(out, "    {0x%x, %u, %u, 0x%x},\n", line.code, line.jt, line.jf, line.k);
    fprintf(out,
        "};\nconst struct seccomp_filter filter_%s = {\n"
        "    code_%s, sizeof(code_%s) / sizeof(code_%s[0])};\n\n",
        name, name, name, name);
    (void)close(memory);
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
    struct generator generator = {.file = "generate"};
    char walls[64];
    FILE *out;

    if (argc < 4)
        fail(&generator, "usage", "generate LIST NAME OUTPUT [sanitized]");
    generator.sanitized = argc > 4 && strcmp(argv[4], "sanitized") == 0;
    /* The machine that builds need not be the one that runs: what libseccomp would find missing in
     * this kernel is measured where it counts. */
    (void)seccomp_api_set(6);
    read_list(&generator, argv[1]);
    if (!generator.list)
        fail(&generator, "no default", "");
    out = fopen(argv[3], "we");
    if (!out)
        fail(&generator, argv[3], strerror(errno));
    fprintf(out, "/* Made from a list by generate; do not edit. */\n#include \"filters.h\"\n\n");
    write_program(&generator, out, generator.list, argv[2]);
    if (generator.has_walls) {
        (void)snprintf(walls, sizeof(walls), "%s_walls", argv[2]);
        write_program(&generator, out, generator.walls, walls);
    }
    if (generator.n_told > 0)
        write_told(&generator, out, argv[2]);
    if (fclose(out) != 0)
        fail(&generator, argv[3], strerror(errno));
    seccomp_release(generator.list);
    seccomp_release(generator.walls);
    return 0;
}
