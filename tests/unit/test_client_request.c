/* What a request is made of: descriptors of what really exists, real names, streams a leg may hold.
 */
#include "request.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cmocka.h>

static char top[] = "/tmp/saphan-client-XXXXXX";
static const char *const command[] = {"/bin/true", NULL};

static int enter(void **state)
{
    return mkdtemp(top) && chdir(top) == 0 ? 0 : -1;
}

static int leave(void **state)
{
    char line[128];

    (void)snprintf(line, sizeof(line), "rm -rf %s", top);
    return chdir("/") == 0 && system(line) == 0 ? 0 : -1;
}

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void init(struct saphan_run *run)
{
    saphan_run_init(run);
    run->argv = command;
}

static int make(struct request *request, const struct saphan_run *run, struct saphan_error *error)
{
    memset(request, 0, sizeof(*request));
    return request_make(request, run, error);
}

static bool bytes_equal(ProtobufCBinaryData bytes, const char *format, ...)
{
    char text[256];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return bytes.len == strlen(text) && memcmp(bytes.data, text, bytes.len) == 0;
}

static void grants_are_opened_here(void **state)
{
    struct saphan_grant grants[] = {
        {SAPHAN_GRANT_WORKSPACE, -1, "w"}, {SAPHAN_GRANT_READ, -1, "file"}};
    struct request request;
    struct saphan_error error;
    struct saphan_run run;
    struct stat st, want;

    assert_int_equal(mkdir("w", 0755), 0);
    put("file", "x");
    init(&run);
    run.grants = grants;
    run.n_grants = 2;
    assert_int_equal(make(&request, &run, &error), 0);
    assert_int_equal(request.run.n_grants, 2);
    assert_int_equal(request.n_fds, 2);
    assert_true(bytes_equal(request.run.grants[0]->path, "%s/w", top));
    assert_int_equal(request.run.grants[1]->descriptor, 2);
    assert_int_equal(fstat(request.fds[1], &st), 0);
    assert_int_equal(stat("file", &want), 0);
    assert_true(st.st_ino == want.st_ino);
    assert_true((fcntl(request.fds[0], F_GETFL) & O_PATH) != 0);
    assert_true((fcntl(request.fds[0], F_GETFD) & FD_CLOEXEC) != 0);
    request_done(&request);
}

static void what_a_container_is_asked_for(void **state)
{
    static const char *const names[] = {"CAP_CHOWN", "CAP_FOWNER", NULL};
    struct saphan_error error = {0};
    struct saphan_run run;
    struct request request;

    init(&run);
    assert_int_equal(make(&request, &run, &error), 0);
    assert_int_equal(request.run.n_capabilities, 0);
    request_done(&request);
    run.boundary = SAPHAN_BOUNDARY_CONTAINER;
    run.image = "debian";
    run.user = "bob";
    run.writable_root = true;
    run.capabilities = names;
    assert_int_equal(make(&request, &run, &error), 0);
    assert_string_equal(request.run.image, "debian");
    assert_string_equal(request.run.user, "bob");
    assert_true(request.run.writable_root);
    assert_int_equal(request.run.n_capabilities, 2);
    assert_string_equal(request.run.capabilities[1], "CAP_FOWNER");
    request_done(&request);
}

static void what_is_no_grant_is_refused(void **state)
{
    struct saphan_grant grant = {SAPHAN_GRANT_READ, -1, "absent"};
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "socket"};
    static const struct {
        const char *path;
        enum saphan_grant_kind kind;
        int result;
        const char *says;
    } bad[] = {{"absent", SAPHAN_GRANT_READ, -ENOENT, "ENOENT"},
        {"fifo", SAPHAN_GRANT_WRITE, SAPHAN_E_GRANT, "a FIFO"},
        {"socket", SAPHAN_GRANT_READ, SAPHAN_E_GRANT, "a socket"},
        {"/dev/null", SAPHAN_GRANT_READ, SAPHAN_E_GRANT, "a device"},
        {"plain", SAPHAN_GRANT_WORKSPACE, SAPHAN_E_GRANT, "must be a directory"},
        {"plain", SAPHAN_GRANT_SEAT, SAPHAN_E_GRANT, "must be a directory"},
        {"/proc/self/cwd", SAPHAN_GRANT_READ, -ELOOP, "ELOOP"},
        {"", SAPHAN_GRANT_READ, SAPHAN_E_VALUE, "empty"}};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    assert_true(fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
    assert_int_equal(mkfifo("fifo", 0644), 0);
    put("plain", "x");
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct request request;
        struct saphan_error error;
        struct saphan_run run;

        init(&run);
        grant.path = bad[i].path;
        grant.kind = bad[i].kind;
        run.grants = &grant;
        run.n_grants = 1;
        assert_int_equal(make(&request, &run, &error), bad[i].result);
        assert_non_null(strstr(error.message, bad[i].says));
        assert_string_equal(error.step, "open-grants");
        request_done(&request);
    }
    close(fd);
}

static void names_become_the_real_ones(void **state)
{
    static const char *const carve_outs[] = {"/usr/../usr/./x-absent/y", "./a//b", NULL};
    struct saphan_grant grant = {SAPHAN_GRANT_WORKSPACE, -1, "real"};
    struct saphan_artefact artefacts[2] = {{.path = "out/./r"}};
    char absolute[128], directory[128];
    struct request request;
    struct saphan_run run;

    assert_int_equal(mkdir("real", 0755), 0);
    assert_int_equal(symlink("real", "link"), 0);
    (void)snprintf(absolute, sizeof(absolute), "%s/link/new/out", top);
    (void)snprintf(directory, sizeof(directory), "%s/link/", top);
    artefacts[1].path = absolute;
    init(&run);
    run.grants = &grant;
    run.n_grants = 1;
    run.artefacts = artefacts;
    run.n_artefacts = 2;
    run.carve_outs = carve_outs;
    run.directory = directory;
    assert_int_equal(make(&request, &run, NULL), 0);
    assert_true(bytes_equal(request.run.artefacts[0]->path, "out/r"));
    assert_true(bytes_equal(request.run.artefacts[1]->path, "%s/real/new/out", top));
    assert_true(bytes_equal(request.run.carve_outs[0], "/usr/x-absent/y"));
    assert_true(bytes_equal(request.run.carve_outs[1], "a/b"));
    assert_true(bytes_equal(request.run.chdir, "%s/real", top));
    request_done(&request);
    run.directory = "/home/leg/absent-here";
    assert_int_equal(make(&request, &run, NULL), 0);
    assert_true(bytes_equal(request.run.chdir, "/home/leg/absent-here"));
    request_done(&request);
}

static void names_that_climb_are_refused(void **state)
{
    static const char *const bad[] = {"../x", "a/../../x", ".", "", "/", "/absent/../x"};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct saphan_artefact artefact = {.path = bad[i]};
        struct request request;
        struct saphan_error error;
        struct saphan_run run;

        init(&run);
        run.artefacts = &artefact;
        run.n_artefacts = 1;
        assert_int_equal(make(&request, &run, &error), SAPHAN_E_VALUE);
        assert_string_equal(error.step, "artefact");
        request_done(&request);
    }
}

static void bad_requests_are_refused(void **state)
{
    static const char *const none[] = {NULL}, *const env[] = {"A", NULL},
                             *const rel[] = {"x", NULL};
    struct saphan_grant two[] = {
        {SAPHAN_GRANT_WORKSPACE, -1, "."}, {SAPHAN_GRANT_WORKSPACE, -1, "."}};
    struct request request;
    struct saphan_run run;

    init(&run);
    run.argv = none;
    assert_int_equal(make(&request, &run, NULL), SAPHAN_E_VALUE);
    request_done(&request);
    init(&run);
    run.env = env;
    assert_int_equal(make(&request, &run, NULL), SAPHAN_E_VALUE);
    request_done(&request);
    init(&run);
    run.carve_outs = rel;
    assert_int_equal(make(&request, &run, NULL), SAPHAN_E_VALUE);
    request_done(&request);
    init(&run);
    run.git = true;
    assert_int_equal(make(&request, &run, NULL), SAPHAN_E_VALUE);
    request_done(&request);
    init(&run);
    run.grants = two;
    run.n_grants = 2;
    assert_int_equal(make(&request, &run, NULL), SAPHAN_E_VALUE);
    request_done(&request);
    init(&run);
    run.size--;
    assert_int_equal(make(&request, &run, NULL), SAPHAN_E_VALUE);
    request_done(&request);
}

/* ---- streams ---- */

static enum stream_route route_of(int fd)
{
    enum stream_route route = STREAM_ROUTE_PUMP;

    assert_true(fd >= 0);
    assert_int_equal(stream_route(fd, &route), 0);
    close(fd);
    return route;
}

static void only_plain_streams_are_passed(void **state)
{
    int ends[2], pair[2], datagrams[2], alone;
    enum stream_route route;

    assert_int_equal(pipe(ends), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, datagrams), 0);
    alone = socket(AF_UNIX, SOCK_STREAM, 0);
    put("log", "");
    assert_int_equal(route_of(ends[0]), STREAM_ROUTE_PASS);
    assert_int_equal(route_of(ends[1]), STREAM_ROUTE_PASS);
    assert_int_equal(route_of(pair[0]), STREAM_ROUTE_PASS);
    assert_int_equal(route_of(datagrams[0]), STREAM_ROUTE_PUMP);
    assert_int_equal(route_of(alone), STREAM_ROUTE_PUMP);
    assert_int_equal(route_of(socket(AF_INET, SOCK_STREAM, 0)), STREAM_ROUTE_PUMP);
    assert_int_equal(route_of(open("log", O_WRONLY)), STREAM_ROUTE_PASS);
    assert_int_equal(route_of(open("/dev/null", O_WRONLY)), STREAM_ROUTE_NULL);
    assert_int_equal(route_of(open("/dev/zero", O_RDONLY)), STREAM_ROUTE_PUMP);
    assert_int_equal(route_of(posix_openpt(O_RDWR | O_NOCTTY)), STREAM_ROUTE_PUMP);
    assert_int_equal(route_of(open(".", O_RDONLY)), STREAM_ROUTE_PUMP);
    assert_int_equal(stream_route(-1, &route), -EBADF);
    close(pair[1]);
    close(datagrams[1]);
}

static void a_terminal_is_pumped(void **state)
{
    int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    struct request request;
    struct saphan_run run;
    struct saphan_error error;
    struct stat out, err;

    assert_true(terminal >= 0);
    init(&run);
    run.in = run.out = run.err = (struct saphan_stream){SAPHAN_STREAM_FD, terminal};
    assert_int_equal(make(&request, &run, &error), 0);
    /* Output and errors share a pipe, so that their order stays. */
    assert_int_equal(request.n_pumps, 2);
    assert_int_equal(request.n_fds, 3);
    for (size_t i = 0; i < 3; i++)
        assert_false(isatty(request.fds[i]));
    assert_int_equal(fstat(request.fds[1], &out), 0);
    assert_int_equal(fstat(request.fds[2], &err), 0);
    assert_true(out.st_ino == err.st_ino);
    assert_int_equal(fcntl(request.fds[1], F_GETFL) & O_NONBLOCK, 0);
    request_done(&request);
    run.detach = true;
    assert_int_equal(make(&request, &run, &error), SAPHAN_E_VALUE);
    assert_string_equal(error.step, "stdio");
    request_done(&request);
    close(terminal);
}

/* ---- linked worktrees ---- */

static void make_repository(void)
{
    char text[256];

    assert_int_equal(mkdir("repo", 0755), 0);
    assert_int_equal(mkdir("repo/objects", 0755), 0);
    assert_int_equal(mkdir("repo/refs", 0755), 0);
    assert_int_equal(mkdir("repo/worktrees", 0755), 0);
    assert_int_equal(mkdir("repo/worktrees/wt", 0755), 0);
    put("repo/HEAD", "ref: refs/heads/main\n");
    put("repo/worktrees/wt/commondir", "../..\n");
    (void)snprintf(text, sizeof(text), "%s/wt/.git\n", top);
    put("repo/worktrees/wt/gitdir", text);
    assert_int_equal(mkdir("wt", 0755), 0);
    (void)snprintf(text, sizeof(text), "gitdir: %s/repo/worktrees/wt\n", top);
    put("wt/.git", text);
}

static int run_git(const char *workspace, struct request *request, struct saphan_error *error)
{
    struct saphan_grant grant = {SAPHAN_GRANT_WORKSPACE, -1, workspace};
    struct saphan_run run;

    init(&run);
    run.git = true;
    run.grants = &grant;
    run.n_grants = 1;
    return make(request, &run, error);
}

static void a_linked_worktree_is_found(void **state)
{
    struct request request;

    make_repository();
    assert_int_equal(run_git("wt", &request, NULL), 0);
    assert_int_equal(request.run.n_grants, 3);
    assert_int_equal(request.n_fds, 3);
    assert_int_equal(request.run.grants[1]->kind, SAPHAN__V1__GRANT_KIND__GRANT_GIT_DIR);
    assert_int_equal(request.run.grants[2]->kind, SAPHAN__V1__GRANT_KIND__GRANT_GIT_COMMON);
    assert_true(bytes_equal(request.run.grants[1]->path, "%s/repo/worktrees/wt", top));
    assert_true(bytes_equal(request.run.grants[2]->path, "%s/repo", top));
    request_done(&request);
    /* git's relative form, both ways */
    put("wt/.git", "gitdir: ../repo/worktrees/wt\n");
    put("repo/worktrees/wt/gitdir", "../../../wt/.git\n");
    assert_int_equal(run_git("wt", &request, NULL), 0);
    assert_int_equal(request.run.n_grants, 3);
    request_done(&request);
}

static void a_plain_repository_needs_nothing(void **state)
{
    struct request request;

    assert_int_equal(mkdir("plain-repo", 0755), 0);
    assert_int_equal(run_git("plain-repo", &request, NULL), 0);
    assert_int_equal(request.run.n_grants, 1);
    request_done(&request);
    assert_int_equal(mkdir("plain-repo/.git", 0755), 0);
    assert_int_equal(run_git("plain-repo", &request, NULL), 0);
    assert_int_equal(request.run.n_grants, 1);
    request_done(&request);
    assert_int_equal(rmdir("plain-repo/.git"), 0);
    assert_int_equal(symlink("../repo", "plain-repo/.git"), 0);
    assert_int_equal(run_git("plain-repo", &request, NULL), 0);
    assert_int_equal(request.run.n_grants, 1);
    request_done(&request);
}

static void assert_forged(const char *workspace)
{
    struct request request;
    struct saphan_error error;

    assert_int_equal(run_git(workspace, &request, &error), SAPHAN_E_WORKTREE);
    assert_string_equal(error.step, "worktree-forged");
    request_done(&request);
}

/* Each forgery beside the control: the same repository with the right pointer is found above. */
static void forged_pointers_grant_nothing(void **state)
{
    assert_int_equal(mkdir("thief", 0755), 0);
    put("thief/.git", "gitdir: ../repo/worktrees/wt\n"); /* points back to wt, not here */
    assert_forged("thief");
    put("thief/.git", "gitdir: ../repo\n"); /* the common directory itself: no back pointer */
    assert_forged("thief");
    put("thief/.git", "gitdir: ../absent\n");
    assert_forged("thief");
    put("thief/.git", "gitdir: \n");
    assert_forged("thief");
    put("thief/.git", "anything\n");
    assert_forged("thief");
    /* A gitdir of the thief's own that names somebody's repository as its common directory. */
    assert_int_equal(mkdir("thief/mine", 0755), 0);
    put("thief/mine/gitdir", "../.git\n");
    put("thief/mine/commondir", "../../repo\n");
    put("thief/.git", "gitdir: mine\n");
    assert_forged("thief");
    /* and the same in a link to the real list */
    assert_int_equal(symlink("../repo/worktrees", "thief/worktrees"), 0);
    put("thief/mine/commondir", "..\n");
    assert_forged("thief");
    /* a FIFO does not hang */
    assert_int_equal(unlink("thief/mine/gitdir"), 0);
    assert_int_equal(mkfifo("thief/mine/gitdir", 0644), 0);
    assert_forged("thief");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grants_are_opened_here),
        cmocka_unit_test(what_a_container_is_asked_for),
        cmocka_unit_test(what_is_no_grant_is_refused),
        cmocka_unit_test(names_become_the_real_ones),
        cmocka_unit_test(names_that_climb_are_refused),
        cmocka_unit_test(bad_requests_are_refused),
        cmocka_unit_test(only_plain_streams_are_passed),
        cmocka_unit_test(a_terminal_is_pumped),
        cmocka_unit_test(a_linked_worktree_is_found),
        cmocka_unit_test(a_plain_repository_needs_nothing),
        cmocka_unit_test(forged_pointers_grant_nothing),
    };

    return cmocka_run_group_tests(tests, enter, leave);
}
