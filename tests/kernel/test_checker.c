/* test_checker.c - saphan-checker among hostile files, and the walls around it. */
#include "started.h"

#include "confine.h"
#include "filters.h"
#include "messages.h"
#include "path.h"
#include "text.h"
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

#define SHA256_ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

/* A directory of the requester's, with a file beside it that is not. */
struct zoo {
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

static void make_socket(int directory, const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    (void)snprintf(
        address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s", directory, name);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    close(fd);
}

static int zoo_open(void **state)
{
    struct zoo *zoo = calloc(1, sizeof(*zoo));
    int top, sparse;

    assert_non_null(zoo);
    strcpy(zoo->path, "/tmp/saphan-checker-XXXXXX");
    assert_non_null(mkdtemp(zoo->path));
    assert_int_equal(chmod(zoo->path, 0755), 0);
    top = open(zoo->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(top >= 0);
    write_file(top, "beside", "secret", 0644);
    assert_int_equal(mkdirat(top, "granted", 0755), 0);
    zoo->directory = openat(top, "granted", O_PATH | O_DIRECTORY | O_CLOEXEC);
    close(top);
    assert_true(zoo->directory >= 0);
    write_file(zoo->directory, "abc", "abc", 0644);
    write_file(zoo->directory, "empty", "", 0644);
    write_file(zoo->directory, "group", "abc", 0640);
    assert_int_equal(fchownat(zoo->directory, "group", 0, 2000, 0), 0);
    write_file(zoo->directory, "private", "abc", 0600);
    assert_int_equal(mkdirat(zoo->directory, "directory", 0755), 0);
    write_file(zoo->directory, "directory/deep", "abc", 0644);
    assert_int_equal(mkfifoat(zoo->directory, "fifo", 0666), 0);
    assert_int_equal(mknodat(zoo->directory, "device", S_IFCHR | 0666, makedev(1, 5)), 0);
    assert_int_equal(symlinkat("abc", zoo->directory, "link"), 0);
    assert_int_equal(symlinkat("../beside", zoo->directory, "link-out"), 0);
    assert_int_equal(symlinkat("/etc/passwd", zoo->directory, "link-passwd"), 0);
    assert_int_equal(symlinkat("directory", zoo->directory, "link-directory"), 0);
    make_socket(zoo->directory, "socket");
    sparse = openat(zoo->directory, "sparse", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    assert_int_equal(ftruncate(sparse, 1LL << 40), 0);
    close(sparse);
    *state = zoo;
    return 0;
}

static int zoo_close(void **state)
{
    struct zoo *zoo = *state;
    char command[128];

    close(zoo->directory);
    (void)snprintf(command, sizeof(command), "rm -rf '%s'", zoo->path);
    assert_int_equal(system(command), 0);
    free(zoo);
    return 0;
}

static struct started start_checker(const char *uid, const char *gid, const char *groups)
{
    char *const argv[] = {(char *)"saphan-checker", (char *)uid, (char *)gid, (char *)groups, NULL};

    return start_with("saphan-checker", argv, -EBADF);
}

static void ask(const struct started *checker, int grant, uint32_t descriptor,
    const char *const *paths, uint32_t n_paths, bool hash)
{
    struct seam_check check = {.n_artefacts = n_paths};
    struct seam_writer writer;

    seam_writer_init(&writer, SEAM_CHECK, 42);
    for (uint32_t i = 0; i < n_paths; i++) {
        check.artefacts[i].descriptor = descriptor;
        check.artefacts[i].hash = hash;
        check.artefacts[i].path = seam_put_text(&writer, paths[i]);
    }
    assert_int_equal(seam_send(checker->channel, &writer, &check, &grant, 1), 0);
    seam_writer_done(&writer);
}

static void hear(const struct started *checker, uint32_t artefact, struct artefact_stamp *ret)
{
    struct seam_message message = started_hear(checker, SEAM_CHECKED);
    const struct seam_checked *checked = message.fixed;

    assert_int_equal(message.header.request, 42);
    assert_int_equal(checked->artefact, artefact);
    *ret = checked->stamp;
    seam_message_done(&message);
}

static void ask_one(
    const struct started *checker, int grant, const char *path, struct artefact_stamp *ret)
{
    ask(checker, grant, 0, &path, 1, true);
    hear(checker, 0, ret);
}

static void assert_is_abc(const struct artefact_stamp *stamp)
{
    char digest[65];

    assert_int_equal(stamp->error, 0);
    assert_int_equal(stamp->regular, 1);
    assert_int_equal(stamp->size, 3);
    assert_int_equal(stamp->hashed, 1);
    text_format_sha256(stamp->sha256, digest);
    assert_string_equal(digest, SHA256_ABC);
}

static void every_kind_of_file(void **state)
{
    static const struct {
        const char *path;
        int error;
        bool regular;
    } kinds[] = {
        {"abc", 0, true},
        {"directory/deep", 0, true},
        {"empty", 0, true},
        {"absent", ENOENT, false},
        {"absent/absent", ENOENT, false},
        {"abc/absent", ENOTDIR, false},
        {"directory", 0, false},
        {"fifo", 0, false},
        {"device", 0, false},
        {"socket", 0, false},
        {"link", 0, false},
        {"link-out", 0, false},
        {"link-passwd", 0, false},
        {"link-directory/deep", ELOOP, false},
        {"../beside", EXDEV, false},
        {"directory/../../beside", EXDEV, false},
        {"/etc/passwd", EXDEV, false},
    };
    struct zoo *zoo = *state;
    struct started checker = start_checker("1000", "1000", NULL);
    const char *paths[sizeof(kinds) / sizeof(kinds[0])];

    for (size_t i = 0; i < array_size(kinds); i++)
        paths[i] = kinds[i].path;
    ask(&checker, zoo->directory, 0, paths, array_size(kinds), true);
    for (uint32_t i = 0; i < array_size(kinds); i++) {
        struct artefact_stamp stamp;

        hear(&checker, i, &stamp);
        if (stamp.error != kinds[i].error || stamp.regular != kinds[i].regular)
            fail_msg("%s: error %d, regular %u", kinds[i].path, stamp.error, stamp.regular);
        assert_int_equal(stamp.hashed, kinds[i].regular);
        if (i < 2)
            assert_is_abc(&stamp);
    }
    assert_int_equal(started_end(&checker), 0);
}

static void a_stamp_says_what_stat_says(void **state)
{
    struct zoo *zoo = *state;
    struct started checker = start_checker("1000", "1000", NULL);
    const char *path = "abc";
    struct artefact_stamp stamp;
    struct stat st;

    assert_int_equal(fstatat(zoo->directory, path, &st, 0), 0);
    ask(&checker, zoo->directory, 0, &path, 1, false);
    hear(&checker, 0, &stamp);
    assert_int_equal(stamp.hashed, 0); /* nothing was to be read */
    assert_int_equal(stamp.regular, 1);
    assert_int_equal(stamp.dev, st.st_dev);
    assert_int_equal(stamp.ino, st.st_ino);
    assert_int_equal(stamp.size, 3);
    assert_int_equal(stamp.mtime_ns, st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec);
    assert_int_equal(stamp.ctime_ns, st.st_ctim.tv_sec * 1000000000 + st.st_ctim.tv_nsec);
    assert_int_equal(started_end(&checker), 0);
}

/* The grant is the file itself, by a descriptor that cannot be read from and by one that can. */
static void a_granted_file(void **state)
{
    static const int flags[] = {O_PATH, O_RDONLY, O_WRONLY};
    struct zoo *zoo = *state;
    struct started checker = start_checker("1000", "1000", NULL);

    for (size_t i = 0; i < array_size(flags); i++) {
        int grant = openat(zoo->directory, "abc", flags[i] | O_CLOEXEC);
        struct artefact_stamp stamp;

        ask_one(&checker, grant, "", &stamp);
        assert_is_abc(&stamp);
        ask_one(&checker, grant, "abc", &stamp);
        assert_int_equal(stamp.error, ENOTDIR);
        close(grant);
    }
    assert_int_equal(started_end(&checker), 0);
}

static void a_descriptor_of_something_else(void **state)
{
    struct zoo *zoo = *state;
    struct started checker = start_checker("1000", "1000", NULL);
    struct artefact_stamp stamp;
    int ends[2], fifo;

    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    ask_one(&checker, ends[0], "", &stamp);
    assert_int_equal(stamp.regular, 0);
    assert_int_equal(stamp.hashed, 0);
    fifo = openat(zoo->directory, "fifo", O_PATH | O_CLOEXEC);
    ask_one(&checker, fifo, "", &stamp);
    assert_int_equal(stamp.error, 0);
    assert_int_equal(stamp.regular, 0);
    close(fifo);
    close(ends[0]);
    close(ends[1]);
    assert_int_equal(started_end(&checker), 0);
}

/* The same file, once as somebody who may not read it and once as somebody who may. */
static void it_reads_as_the_requester(void **state)
{
    static const struct {
        const char *uid, *gid, *groups, *path;
        int error;
    } cases[] = {
        {"1000", "1000", NULL, "private", EACCES},
        {"0", "0", NULL, "private", 0}, /* its owner, by uid alone: no capability is held */
        {"1000", "1000", "1000", "group", EACCES},
        {"1000", "1000", "1000,2000", "group", 0},
        {"1000", "2000", NULL, "group", 0},
    };
    struct zoo *zoo = *state;

    for (size_t i = 0; i < array_size(cases); i++) {
        struct started checker = start_checker(cases[i].uid, cases[i].gid, cases[i].groups);
        struct artefact_stamp stamp;

        ask_one(&checker, zoo->directory, cases[i].path, &stamp);
        assert_int_equal(stamp.error, cases[i].error);
        assert_int_equal(stamp.regular, 1);
        assert_int_equal(stamp.hashed, cases[i].error == 0);
        assert_int_equal(started_end(&checker), 0);
    }
}

/* A terabyte of nothing: no answer, and the one who waits can end it. */
static void a_sparse_file_is_the_callers_to_end(void **state)
{
    struct zoo *zoo = *state;
    struct started checker = start_checker("1000", "1000", NULL);
    struct pollfd waiting = {.fd = checker.channel, .events = POLLIN};
    const char *path = "sparse";
    int status;

    ask(&checker, zoo->directory, 0, &path, 1, true);
    assert_int_equal(poll(&waiting, 1, 200), 0);
    assert_limit(checker.pid, "Max cpu time", "60");
    assert_int_equal(kill(checker.pid, SIGKILL), 0);
    status = started_wait(&checker);
    assert_true(WIFSIGNALED(status));
    close(checker.channel);
}

static void the_walls_around_it(void **state)
{
    static const char *const sets[] = {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"};
    struct zoo *zoo = *state;
    struct started checker = start_checker("1000", "1001", "1001,2000");
    struct artefact_stamp stamp;
    char path[64], line[256];
    struct stat st;

    ask_one(&checker, zoo->directory, "abc", &stamp); /* the walls stand before it reads this */
    assert_status(checker.pid, "\nUid", "1000\t1000\t1000\t1000");
    assert_status(checker.pid, "\nGid", "1001\t1001\t1001\t1001");
    assert_status(checker.pid, "\nGroups", "1001 2000");
    for (size_t i = 0; i < array_size(sets); i++)
        assert_status(checker.pid, sets[i], "0000000000000000");
    assert_status(checker.pid, "\nNoNewPrivs", "1");
    assert_status(checker.pid, "\nSeccomp", "2");
    /* 4 may still be the grant of the message that was just answered. */
    (void)snprintf(path, sizeof(path), "/proc/%d/fd/5", checker.pid);
    assert_int_equal(lstat(path, &st), -1);
    (void)snprintf(path, sizeof(path), "/proc/%d/fd", checker.pid);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_uid, 0); /* not dumpable: its own user may not look into it */
    assert_limit(checker.pid, "Max core file size", "0");
    assert_limit(checker.pid, "Max processes", "0");
    /* The control: this process has none of these walls. */
    status_line(getpid(), "CapEff", line, sizeof(line));
    assert_string_not_equal(line, "0000000000000000");
    assert_status(getpid(), "\nSeccomp", "0");
    assert_int_equal(started_end(&checker), 0);
}

/* What a confined process says of an act, over a pipe: it must not assert. */
enum try { TRY_WRITE, TRY_CREATE, TRY_SOCKET, TRY_FORK, TRY_READ };

static int act(enum try what, int directory)
{
    int fd = -1;

    if (what == TRY_WRITE)
        return path_open(directory, "open-to-all", O_WRONLY, 0);
    if (what == TRY_CREATE)
        return path_open(directory, "new", O_WRONLY | O_CREAT, 0);
    if (what == TRY_READ)
        return path_open(directory, "open-to-all", O_RDONLY, 0);
    if (what == TRY_SOCKET)
        fd = socket(AF_INET, SOCK_STREAM, 0);
    if (what == TRY_FORK) {
        fd = fork();
        if (fd == 0)
            _exit(0);
    }
    return fd < 0 ? -errno : fd;
}

/* The result of the act, or -1000 - SIGNAL when the one who tried was ended by it. */
static int confined_act(enum try what, int directory, bool confined)
{
    static const struct confine_program program = {
        .name = "test", .filter = &filter_checker, .cpu_seconds = 5};
    const struct confine_identity identity = {.uid = 1000, .gid = 1000};
    int ends[2], result = -9999, status;
    pid_t pid;

    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid = fork();
    if (pid == 0) {
        struct fault fault;
        int r;

        /* What it needs, where the set-up lets it live: everything above 3 is closed. */
        int told = fcntl(ends[1], F_DUPFD, 10), place = fcntl(directory, F_DUPFD, 10);

        if (dup2(told, 1) < 0 || dup2(place, 3) < 0)
            _exit(1);
        r = confined ? confine_self(&program, &identity, &fault) : 0;
        if (r == 0)
            r = act(what, 3);
        (void)!write(1, &r, sizeof(r));
        _exit(0);
    }
    close(ends[1]);
    (void)descriptor_read_all(ends[0], &result, sizeof(result));
    close(ends[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status) ? -1000 - WTERMSIG(status) : result;
}

static void a_confined_process_only_reads(void **state)
{
    struct zoo *zoo = *state;
    int top;

    assert_int_equal(mkdirat(zoo->directory, "open", 0755), 0);
    assert_int_equal(fchmodat(zoo->directory, "open", 0777, 0), 0);
    top = openat(zoo->directory, "open", O_PATH | O_DIRECTORY | O_CLOEXEC);
    write_file(top, "open-to-all", "abc", 0666);
    assert_true(confined_act(TRY_READ, top, true) >= 0);
    assert_int_equal(confined_act(TRY_WRITE, top, true), -EACCES);
    assert_int_equal(confined_act(TRY_CREATE, top, true), -EACCES);
    assert_int_equal(confined_act(TRY_SOCKET, top, true), -1000 - SIGSYS);
#ifndef SAPHAN_SANITIZED /* whose run time may fork */
    assert_int_equal(confined_act(TRY_FORK, top, true), -1000 - SIGSYS);
#endif
    /* The controls: without the walls each goes through. */
    assert_true(confined_act(TRY_WRITE, top, false) >= 0);
    assert_true(confined_act(TRY_CREATE, top, false) >= 0);
    assert_true(confined_act(TRY_SOCKET, top, false) >= 0);
    assert_true(confined_act(TRY_FORK, top, false) >= 0);
    close(top);
}

static void an_identity_is_exact(void **state)
{
    static const char *const bad[][3] = {
        {"01", "1000", NULL},
        {"0x1", "1000", NULL},
        {"-1", "1000", NULL},
        {"1:0", "1000", NULL},
        {"root", "1000", NULL},
        {"", "1000", NULL},
        {" 1", "1000", NULL},
        {"4294967295", "1000", NULL},
        {"4294967296", "1000", NULL},
        {"1000", "4294967295", NULL},
        {"1000", "x", NULL},
        {"1000", "1000", ""},
        {"1000", "1000", "1,"},
        {"1000", "1000", ",1"},
        {"1000", "1000", "1,,2"},
        {"1000", "1000", "1,4294967295"},
        {"1000", NULL, NULL},
        {NULL, NULL, NULL},
    };

    for (size_t i = 0; i < array_size(bad); i++) {
        struct started checker = start_checker(bad[i][0], bad[i][1], bad[i][2]);
        int status = started_wait(&checker);

        if (!WIFEXITED(status) || WEXITSTATUS(status) != 2)
            fail_msg("case %zu: status %x", i, (unsigned int)status);
        close(checker.channel);
    }
}

static void a_bad_message_ends_it(void **state)
{
    static const char *const path = "abc";
    struct zoo *zoo = *state;
    struct started checker = start_checker("1000", "1000", NULL);
    struct seam_end end = {0};
    struct seam_writer writer;

    assert_int_equal(send(checker.channel, "nonsense", 8, 0), 8);
    assert_int_equal(WEXITSTATUS(started_wait(&checker)), 1);
    close(checker.channel);

    checker = start_checker("1000", "1000", NULL); /* good in form, but not for it */
    seam_writer_init(&writer, SEAM_GO, 1);
    assert_int_equal(seam_send(checker.channel, &writer, &end, NULL, 0), 0);
    assert_int_equal(WEXITSTATUS(started_wait(&checker)), 1);
    close(checker.channel);

    checker = start_checker("1000", "1000", NULL); /* names a descriptor that did not come */
    ask(&checker, zoo->directory, 1, &path, 1, true);
    assert_int_equal(WEXITSTATUS(started_wait(&checker)), 1);
    close(checker.channel);
}

/* A wall that cannot be raised, or only says it stands, is no start at all. */
static void without_a_wall_it_does_not_start(void **state)
{
    static const struct started_world worlds[] = {
        {SYS_capset, ENOSYS},
        {SYS_capset, 0},
        {SYS_setresuid, ENOSYS},
        {SYS_setresuid, 0},
        {SYS_setresgid, 0},
        {SYS_setgroups, EPERM},
        {SYS_prctl, EPERM},
        {SYS_landlock_restrict_self, EPERM},
        {SYS_landlock_restrict_self, E2BIG},
        {SYS_seccomp, ENOSYS},
    };

    (void)state;
    for (size_t i = 0; i < array_size(worlds); i++) {
        struct started checker;
        int status;

        started_world = worlds[i];
        checker = start_checker("1000", "1000", NULL);
        started_world = started_world_as_it_is;
        status = started_wait(&checker);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 1)
            fail_msg("call %d: status %x", worlds[i].call, (unsigned int)status);
        close(checker.channel);
    }
}

/* Without openat2 nothing can be opened beneath, so nothing is: never by another call. */
static void without_openat2_it_says_so(void **state)
{
    struct zoo *zoo = *state;
    struct started checker;
    struct artefact_stamp stamp;

    started_world = (struct started_world){SYS_openat2, ENOSYS};
    checker = start_checker("1000", "1000", NULL);
    started_world = started_world_as_it_is;
    ask_one(&checker, zoo->directory, "abc", &stamp);
    assert_int_equal(stamp.error, ENOSYS);
    assert_int_equal(stamp.regular, 0);
    assert_int_equal(stamp.hashed, 0);
    assert_int_equal(started_end(&checker), 0);
}

/* A kernel without Landlock: one wall less, and all the others. */
static void without_landlock_the_others_stand(void **state)
{
    struct zoo *zoo = *state;
    struct started checker;
    struct artefact_stamp stamp;

    started_world = (struct started_world){SYS_landlock_create_ruleset, ENOSYS};
    checker = start_checker("1000", "1000", NULL);
    started_world = started_world_as_it_is;
    ask_one(&checker, zoo->directory, "abc", &stamp);
    assert_is_abc(&stamp);
    assert_status(checker.pid, "CapEff", "0000000000000000");
    assert_status(checker.pid, "\nSeccomp", "2");
    assert_int_equal(started_end(&checker), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_file),
        cmocka_unit_test(a_stamp_says_what_stat_says),
        cmocka_unit_test(a_granted_file),
        cmocka_unit_test(a_descriptor_of_something_else),
        cmocka_unit_test(it_reads_as_the_requester),
        cmocka_unit_test(a_sparse_file_is_the_callers_to_end),
        cmocka_unit_test(the_walls_around_it),
        cmocka_unit_test(a_confined_process_only_reads),
        cmocka_unit_test(an_identity_is_exact),
        cmocka_unit_test(a_bad_message_ends_it),
        cmocka_unit_test(without_a_wall_it_does_not_start),
        cmocka_unit_test(without_openat2_it_says_so),
        cmocka_unit_test(without_landlock_the_others_stand),
    };
    int skip = without_root_skip("checker");

    return skip ? skip : cmocka_run_group_tests_name("checker", tests, zoo_open, zoo_close);
}
