/* test_reader.c - saphan-reader among hostile settings, saphan-maker in a hostile home, and the
 * walls around both. */
#include "started.h"

#include "kept.h"
#include "messages.h"
#include "nesting.h"
#include "path.h"
#include "text.h"
#include <sys/stat.h>

#define SHA256_ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define USER 1000U

/* A directory of the requester's, with one beside it that is not. */
struct home {
    char path[64];
    int directory; /* what is granted: O_PATH */
};

static void write_file(int directory, const char *name, const char *text, mode_t mode)
{
    int fd = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(descriptor_write_all(fd, text, strlen(text)), 0);
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
}

static void write_big(int directory, const char *name, off_t size)
{
    int fd = openat(directory, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

    assert_true(fd >= 0);
    assert_int_equal(fchmod(fd, 0644), 0);
    assert_int_equal(ftruncate(fd, size), 0);
    close(fd);
}

static void write_deep(int directory, const char *name)
{
    enum { DEEP = 100000 };
    char *text = malloc(DEEP + 1);

    assert_non_null(text);
    memset(text, '[', DEEP);
    text[DEEP] = '\0';
    write_file(directory, name, text, 0644);
    free(text);
}

static int home_open(void **state)
{
    struct home *home = calloc(1, sizeof(*home));
    int top;

    assert_non_null(home);
    strcpy(home->path, "/tmp/saphan-reader-XXXXXX");
    assert_non_null(mkdtemp(home->path));
    assert_int_equal(chmod(home->path, 0755), 0);
    top = open(home->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(top >= 0);
    assert_int_equal(mkdirat(top, "beside", 0755), 0);
    write_file(top, "beside/outside", "{\"a\": 1}", 0644);
    assert_int_equal(mkdirat(top, "seat", 0755), 0);
    assert_int_equal(fchownat(top, "seat", USER, USER, 0), 0);
    home->directory = openat(top, "seat", O_PATH | O_DIRECTORY | O_CLOEXEC);
    close(top);
    write_file(home->directory, "abc", "abc", 0644);
    write_file(home->directory, "json",
        "{\"a\": {\"b\": true, \"n\": 12, \"s\": \"x y\", \"l\": [1], \"z\": null}, \"a.b\": 1}",
        0644);
    write_file(home->directory, "twice", "{\"a\": 1, \"a\": 2}", 0644);
    write_file(home->directory, "list", "[1]", 0644);
    write_file(home->directory, "nul", "{\"a\": \"x\\u0000y\"}", 0644);
    write_file(home->directory, "private", "{\"a\": 1}", 0600);
    write_deep(home->directory, "deep");
    write_big(home->directory, "big", 5 << 20);
    assert_int_equal(mkdirat(home->directory, "folder", 0755), 0);
    assert_int_equal(mkfifoat(home->directory, "fifo", 0666), 0);
    assert_int_equal(symlinkat("json", home->directory, "link"), 0);
    assert_int_equal(symlinkat("../beside/outside", home->directory, "link-out"), 0);
    *state = home;
    return 0;
}

static int home_close(void **state)
{
    struct home *home = *state;
    char command[128];

    close(home->directory);
    (void)snprintf(command, sizeof(command), "rm -rf '%s'", home->path);
    assert_int_equal(system(command), 0);
    free(home);
    return 0;
}

static struct started start_as_user(const char *program)
{
    char *const argv[] = {(char *)(uintptr_t)program, (char *)"1000", (char *)"1000", NULL};

    return start_with(program, argv, -EBADF);
}

struct question {
    uint32_t kind;
    int32_t descriptor;
    const char *path, *text, *key;
};

struct answer {
    uint32_t found;
    char value[NESTING_VALUE_MAX], why[NESTING_VALUE_MAX];
    uint8_t sha256[32];
};

static void send_question(
    const struct started *reader, int directory, const struct question *question)
{
    struct seam_read *read = calloc(1, sizeof(*read));
    struct seam_writer writer;

    assert_non_null(read);
    seam_writer_init(&writer, SEAM_READ, 7);
    read->n_questions = 1;
    read->questions[0].kind = question->kind;
    read->questions[0].descriptor = question->descriptor;
    read->questions[0].path = seam_put_text(&writer, question->path);
    read->questions[0].text = seam_put_text(&writer, question->text);
    read->questions[0].key = seam_put_text(&writer, question->key);
    assert_int_equal(
        seam_send(reader->channel, &writer, read, &directory, directory < 0 ? 0 : 1), 0);
    seam_writer_done(&writer);
    free(read);
}

static struct answer ask(
    const struct started *reader, int directory, const struct question *question)
{
    struct answer answer = {0};
    struct seam_message message;
    const struct seam_found *found;
    const char *text;

    send_question(reader, directory, question);
    message = started_hear(reader, SEAM_FOUND);
    found = message.fixed;
    answer.found = found->found;
    memcpy(answer.sha256, found->sha256, sizeof(answer.sha256));
    text = seam_text(&message, found->value);
    (void)snprintf(answer.value, sizeof(answer.value), "%s", text ? text : "");
    text = seam_text(&message, found->why);
    (void)snprintf(answer.why, sizeof(answer.why), "%s", text ? text : "");
    seam_message_done(&message);
    return answer;
}

static void one_key(void **state)
{
    static const struct {
        const char *path, *key;
        uint32_t found;
        const char *value;
    } rows[] = {
        {"json", "a.b", FOUND_VALUE, "true"},
        {"json", "a.n", FOUND_VALUE, "12"},
        {"json", "a.s", FOUND_VALUE, "x y"},
        {"json", "a.l", FOUND_VALUE, "array"},
        {"json", "a.z", FOUND_VALUE, "null"},
        {"json", "a", FOUND_VALUE, "object"},
        {"json", "a.b.c", FOUND_VALUE, "true"},
        {"json", "c", FOUND_NOTHING, ""},
        {"link", "a.b", FOUND_VALUE, "true"},
        {"absent", "a", FOUND_NOTHING, ""},
        {"json/absent", "a", FOUND_NOTHING, ""},
        {"abc", "a", FOUND_BROKEN, ""},
        {"twice", "a", FOUND_BROKEN, ""},
        {"list", "a", FOUND_BROKEN, ""},
        {"nul", "a", FOUND_BROKEN, ""},
        {"deep", "a", FOUND_BROKEN, ""},
        {"private", "a", FOUND_BROKEN, ""},
        {"big", "a", FOUND_BROKEN, ""},
        {"folder", "a", FOUND_BROKEN, ""},
        {"fifo", "a", FOUND_BROKEN, ""},
        {"link-out", "a", FOUND_BROKEN, ""},
        {"../beside/outside", "a", FOUND_BROKEN, ""},
    };
    struct home *home = *state;
    struct started reader = start_as_user("saphan-reader");

    for (size_t i = 0; i < array_size(rows); i++) {
        struct answer answer = ask(&reader, home->directory,
            &(struct question){.kind = READ_KEY, .path = rows[i].path, .key = rows[i].key});

        if (answer.found != rows[i].found)
            fail_msg("%s: %s: found %u: %s", rows[i].path, rows[i].key, answer.found, answer.why);
        assert_string_equal(answer.value, rows[i].value);
        assert_int_equal(answer.why[0] != '\0', rows[i].found == FOUND_BROKEN);
    }
    assert_int_equal(started_end(&reader), 0);
}

static void hashes_texts_and_kept_output(void **state)
{
    struct home *home = *state;
    struct started reader = start_as_user("saphan-reader");
    struct kept_writer writer;
    struct answer answer;
    char digest[65], path[128];
    int kept;

    answer = ask(&reader, home->directory, &(struct question){.kind = READ_HASH, .path = "abc"});
    text_format_sha256(answer.sha256, digest);
    assert_string_equal(digest, SHA256_ABC);
    answer = ask(&reader, home->directory, &(struct question){.kind = READ_HASH, .path = "fifo"});
    assert_int_equal(answer.found, FOUND_BROKEN);
    answer = ask(&reader, -1,
        &(struct question){
            .kind = READ_KEY, .descriptor = -1, .text = "{\"a\": {\"b\": false}}", .key = "a.b"});
    assert_string_equal(answer.value, "false");
    (void)snprintf(path, sizeof(path), "%s/kept", home->path);
    kept = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(kept_start(&writer, kept, 4096), 0);
    assert_int_equal(kept_append(&writer, "v 1.2\033[0m\nmore\n", 15), 0);
    answer = ask(&reader, kept, &(struct question){.kind = READ_KEPT_LINE});
    assert_int_equal(answer.found, FOUND_VALUE);
    assert_string_equal(answer.value, "v 1.2\\x1b[0m");
    assert_int_equal(ftruncate(kept, 10), 0);
    answer = ask(&reader, kept, &(struct question){.kind = READ_KEPT_LINE});
    assert_int_equal(answer.found, FOUND_NOTHING);
    close(kept);
    assert_int_equal(started_end(&reader), 0);
}

static void a_drop_in_directory(void **state)
{
    struct home *home = *state;
    struct started reader = start_as_user("saphan-reader");
    char pattern[128];
    struct question question = {.kind = READ_KEY, .descriptor = -1, .path = pattern, .key = "a"};
    int directory;

    (void)snprintf(pattern, sizeof(pattern), "%s/absent.d/*.json", home->path);
    assert_int_equal(ask(&reader, -1, &question).found, FOUND_NOTHING);
    (void)snprintf(pattern, sizeof(pattern), "%s/drop.d", home->path);
    assert_int_equal(mkdir(pattern, 0755), 0);
    directory = open(pattern, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    (void)snprintf(pattern, sizeof(pattern), "%s/drop.d/*.json", home->path);
    assert_int_equal(ask(&reader, -1, &question).found, FOUND_NOTHING);
    write_file(directory, "1.json", "{\"a\": 1}", 0644);
    write_file(directory, "2.json", "{\"a\": 1}", 0644);
    write_file(directory, "3.json", "{\"b\": 3}", 0644);
    write_file(directory, "4.conf", "{\"a\": 4}", 0644);
    write_file(directory, ".5.json", "{\"a\": 5}", 0644);
    assert_string_equal(ask(&reader, -1, &question).value, "1");
    write_file(directory, "6.json", "{\"a\": 6}", 0644);
    assert_int_equal(ask(&reader, -1, &question).found, FOUND_BROKEN);
    assert_int_equal(unlinkat(directory, "6.json", 0), 0);
    assert_int_equal(mkfifoat(directory, "7.json", 0644), 0);
    assert_int_equal(ask(&reader, -1, &question).found, FOUND_BROKEN);
    assert_int_equal(unlinkat(directory, "7.json", 0), 0);
    assert_string_equal(ask(&reader, -1, &question).value, "1");
    close(directory);
    assert_int_equal(started_end(&reader), 0);
}

static void a_bad_message_ends_it(void **state)
{
    static const struct question bad[] = {
        {.kind = 9, .path = "json", .key = "a"},
        {.kind = READ_KEY, .path = "json"},
        {.kind = READ_KEY, .key = "a"},
        {.kind = READ_KEY, .descriptor = 1, .path = "json", .key = "a"},
        {.kind = READ_KEY, .descriptor = -1, .path = "json", .key = "a"},
        {.kind = READ_KEY, .descriptor = -1, .path = "/etc/../etc/x", .key = "a"},
        {.kind = READ_KEPT_LINE, .descriptor = -1},
    };
    struct home *home = *state;

    for (size_t i = 0; i < array_size(bad); i++) {
        struct started reader = start_as_user("saphan-reader");
        int status;

        send_question(&reader, home->directory, &bad[i]);
        status = started_wait(&reader);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
        close(reader.channel);
    }
}

/* What the parts of a seat home come to; -errno of each. */
static void make(
    const struct started *maker, int seat, const char *const *paths, size_t count, int ret[8])
{
    struct seam_make asked = {0};
    struct seam_writer writer;

    seam_writer_init(&writer, SEAM_MAKE, 7);
    asked.paths = seam_put_list(&writer, paths, count);
    assert_int_equal(seam_send(maker->channel, &writer, &asked, &seat, 1), 0);
    seam_writer_done(&writer);
    for (size_t i = 0; i < count; i++) {
        struct seam_message message = started_hear(maker, SEAM_MADE);
        const struct seam_made *made = message.fixed;

        assert_int_equal(made->path, i);
        assert_int_equal(message.n_descriptors, made->error ? 0 : 1);
        ret[i] = made->error;
        seam_message_done(&message);
    }
}

static void parts_of_a_home(void **state)
{
    static const char *const paths[] = {
        ".a", ".b/c/d", "folder", "abc", "link-out", "loop/x", "../up", "out/x"};
    static const int errors[] = {0, 0, 0, ENOTDIR, EXDEV, ELOOP, EINVAL, EXDEV};
    struct home *home = *state;
    struct started maker = start_as_user("saphan-maker");
    struct stat st;
    int found[8];

    assert_int_equal(symlinkat("loop", home->directory, "loop"), 0);
    assert_int_equal(symlinkat("../beside", home->directory, "out"), 0);
    make(&maker, home->directory, paths, array_size(paths), found);
    for (size_t i = 0; i < array_size(paths); i++) {
        if (found[i] != errors[i])
            fail_msg("%s: %d, not %d", paths[i], found[i], errors[i]);
    }
    assert_int_equal(fstatat(home->directory, ".b/c/d", &st, 0), 0);
    assert_int_equal(st.st_uid, USER);
    assert_int_equal(st.st_mode & 07777, 0700);
    assert_int_equal(fstatat(home->directory, "../beside/x", &st, 0), -1);
    assert_int_equal(started_end(&maker), 0);
    maker = start_as_user("saphan-maker");
    assert_int_equal(fchownat(home->directory, "", 0, 0, AT_EMPTY_PATH), 0);
    make(&maker, home->directory, (const char *const[]){".new"}, 1, found);
    assert_int_equal(found[0], EACCES); /* as the requester, who may not */
    assert_int_equal(fchownat(home->directory, "", USER, USER, AT_EMPTY_PATH), 0);
    make(&maker, home->directory, (const char *const[]){".new"}, 1, found);
    assert_int_equal(found[0], 0);
    assert_int_equal(started_end(&maker), 0);
}

static void assert_walls(const struct started *started)
{
    static const char *const sets[] = {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"};
    char line[256];

    assert_status(started->pid, "\nUid", "1000\t1000\t1000\t1000");
    for (size_t i = 0; i < array_size(sets); i++)
        assert_status(started->pid, sets[i], "0000000000000000");
    assert_status(started->pid, "\nNoNewPrivs", "1");
    assert_status(started->pid, "\nSeccomp", "2");
    assert_limit(started->pid, "Max processes", "0");
    status_line(getpid(), "CapEff", line, sizeof(line)); /* the control */
    assert_string_not_equal(line, "0000000000000000");
}

static void the_walls_around_them(void **state)
{
    struct home *home = *state;
    struct started reader = start_as_user("saphan-reader"), maker = start_as_user("saphan-maker");
    int found[8];

    (void)ask(&reader, home->directory, &(struct question){.kind = READ_HASH, .path = "abc"});
    make(&maker, home->directory, (const char *const[]){".a"}, 1, found);
    assert_walls(&reader);
    assert_walls(&maker);
    assert_int_equal(started_end(&reader), 0);
    assert_int_equal(started_end(&maker), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_key),
        cmocka_unit_test(hashes_texts_and_kept_output),
        cmocka_unit_test(a_drop_in_directory),
        cmocka_unit_test(a_bad_message_ends_it),
        cmocka_unit_test(parts_of_a_home),
        cmocka_unit_test(the_walls_around_them),
    };
    int skip = without_root_skip("reader");

    return skip ? skip : cmocka_run_group_tests_name("reader", tests, home_open, home_close);
}
