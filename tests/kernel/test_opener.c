/* test_opener.c - saphan-opener: paths as the requester, and linked worktrees that may be forged.
 */
#include "started.h"

#include "messages.h"
#include <sys/stat.h>

/* A directory with a repository and a worktree linked to it, made file by file. */
struct place {
    char path[64];
    int directory;
};

/* One answer; the descriptor is the caller's. */
struct answer {
    uint32_t path, kind;
    int error;
    int descriptor;
    char name[256];
};

static char *in_place(const struct place *place, const char *name)
{
    static char path[4][256];
    static int turn;

    turn = (turn + 1) % 4;
    (void)snprintf(path[turn], sizeof(path[turn]), "%s/%s", place->path, name);
    return path[turn];
}

static void make_directory(const struct place *place, const char *name)
{
    assert_int_equal(mkdirat(place->directory, name, 0755), 0);
}

static void write_text(const struct place *place, const char *name, const char *text)
{
    int fd =
        openat(place->directory, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);

    assert_true(fd >= 0);
    assert_int_equal(descriptor_write_all(fd, text, strlen(text)), 0);
    close(fd);
}

static void write_pointer(
    const struct place *place, const char *name, const char *before, const char *target)
{
    char text[512];

    (void)snprintf(text, sizeof(text), "%s%s\n", before, in_place(place, target));
    write_text(place, name, text);
}

/* As `git worktree add` leaves it, by absolute paths. */
static void link_worktree(const struct place *place)
{
    write_pointer(place, "tree/.git", "gitdir: ", "repo/.git/worktrees/tree");
    write_pointer(place, "repo/.git/worktrees/tree/gitdir", "", "tree/.git");
    write_text(place, "repo/.git/worktrees/tree/commondir", "../..\n");
}

static int place_open(void **state)
{
    static const char *const directories[] = {"repo", "repo/.git", "repo/.git/worktrees",
        "repo/.git/worktrees/tree", "other", "other/.git", "other/.git/worktrees",
        "other/.git/worktrees/tree", "tree", "private"};
    struct place *place = calloc(1, sizeof(*place));

    assert_non_null(place);
    strcpy(place->path, "/tmp/saphan-opener-XXXXXX");
    assert_non_null(mkdtemp(place->path));
    assert_int_equal(chmod(place->path, 0755), 0);
    place->directory = open(place->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(place->directory >= 0);
    for (size_t i = 0; i < array_size(directories); i++)
        make_directory(place, directories[i]);
    make_directory(place, "private/inside");
    assert_int_equal(fchmodat(place->directory, "private", 0700, 0), 0);
    write_text(place, "file", "text");
    assert_int_equal(symlinkat("tree", place->directory, "link"), 0);
    assert_int_equal(mkfifoat(place->directory, "fifo", 0666), 0);
    link_worktree(place);
    *state = place;
    return 0;
}

static int place_close(void **state)
{
    struct place *place = *state;
    char command[128];

    close(place->directory);
    (void)snprintf(command, sizeof(command), "rm -rf '%s'", place->path);
    assert_int_equal(system(command), 0);
    free(place);
    return 0;
}

static struct started start_opener(const char *uid)
{
    char *const argv[] = {(char *)"saphan-opener", (char *)uid, (char *)uid, NULL};

    return start_with("saphan-opener", argv, -EBADF);
}

static void ask(const struct started *opener, const char *const *paths, uint32_t n, bool follow_git)
{
    struct seam_open asked = {.n_paths = n};
    struct seam_writer writer;

    seam_writer_init(&writer, SEAM_OPEN, 7);
    for (uint32_t i = 0; i < n; i++) {
        asked.paths[i].path = seam_put_text(&writer, paths[i]);
        asked.paths[i].follow_git = follow_git;
    }
    assert_int_equal(seam_send(opener->channel, &writer, &asked, NULL, 0), 0);
    seam_writer_done(&writer);
}

static struct answer hear(const struct started *opener)
{
    struct seam_message message = started_hear(opener, SEAM_OPENED);
    const struct seam_opened *opened = message.fixed;
    struct answer answer = {
        .path = opened->path, .kind = opened->kind, .error = opened->error, .descriptor = -EBADF};

    assert_int_equal(message.header.request, 7);
    assert_int_equal(message.n_descriptors, opened->error == 0 ? 1 : 0);
    if (opened->error == 0)
        answer.descriptor = steal_fd(&message.descriptors[0]);
    (void)snprintf(answer.name, sizeof(answer.name), "%s", seam_text(&message, opened->name));
    seam_message_done(&message);
    return answer;
}

static void assert_is(int descriptor, const char *path)
{
    struct stat one, other;

    assert_int_equal(fstat(descriptor, &one), 0);
    assert_int_equal(stat(path, &other), 0);
    assert_int_equal(one.st_dev, other.st_dev);
    assert_int_equal(one.st_ino, other.st_ino);
    assert_true(fcntl(descriptor, F_GETFL) & O_PATH);
}

/* What a path's own answer is when its .git is followed: the pointer's answers go before. */
struct followed {
    int n_before;
    struct answer before[2], own;
};

static struct followed follow(const struct started *opener, const char *path)
{
    struct followed followed = {0};

    ask(opener, &path, 1, true);
    for (;;) {
        struct answer answer = hear(opener);

        if (answer.kind == 0) {
            followed.own = answer;
            return followed;
        }
        assert_true(followed.n_before < 2);
        followed.before[followed.n_before++] = answer;
    }
}

static void let_go(struct followed *followed)
{
    close_fd(&followed->own.descriptor);
    for (int i = 0; i < followed->n_before; i++)
        close_fd(&followed->before[i].descriptor);
}

static void paths_in_order(void **state)
{
    struct place *place = *state;
    const struct {
        const char *path;
        int error;
    } cases[] = {
        {"/", 0},
        {in_place(place, "tree"), 0},
        {in_place(place, "link"), 0}, /* a symlink of the requester's own is followed */
        {in_place(place, "fifo"), 0}, /* nothing is opened but its name: no hang */
        {in_place(place, "absent"), ENOENT},
        {"relative", EINVAL},
        {"", EINVAL},
        {"/proc/self/fd/3", ELOOP}, /* a magic link would be the opener's own channel */
        {"/proc/self/exe", ELOOP},
        {"/proc/1/root", EACCES},
    };
    struct started opener = start_opener("1000");
    const char *paths[array_size(cases)];

    for (size_t i = 0; i < array_size(cases); i++)
        paths[i] = cases[i].path;
    ask(&opener, paths, array_size(cases), false);
    for (uint32_t i = 0; i < array_size(cases); i++) {
        struct answer answer = hear(&opener);

        assert_int_equal(answer.path, i);
        assert_int_equal(answer.kind, 0);
        assert_string_equal(answer.name, cases[i].path);
        if (i == array_size(cases) - 1 && answer.error == ELOOP)
            answer.error = EACCES; /* either: the link may be looked at by nobody else, or no one */
        if (answer.error != cases[i].error)
            fail_msg("%s: %s", cases[i].path, strerror(answer.error));
        if (answer.error == 0)
            assert_is(answer.descriptor, cases[i].path);
        close_fd(&answer.descriptor);
    }
    assert_int_equal(started_end(&opener), 0);
}

/* The same path, as one who may not pass and as one who may. */
static void it_opens_as_the_requester(void **state)
{
    struct place *place = *state;
    const char *path = in_place(place, "private/inside");
    struct started opener = start_opener("1000");
    struct answer answer;

    ask(&opener, &path, 1, false);
    answer = hear(&opener);
    assert_int_equal(answer.error, EACCES);
    assert_int_equal(started_end(&opener), 0);

    opener = start_opener("0"); /* owns it; holds no capability all the same */
    ask(&opener, &path, 1, false);
    answer = hear(&opener);
    assert_int_equal(answer.error, 0);
    assert_is(answer.descriptor, path);
    close(answer.descriptor);
    assert_status(opener.pid, "CapEff", "0000000000000000");
    assert_status(opener.pid, "\nSeccomp", "2");
    assert_status(opener.pid, "\nNoNewPrivs", "1");
    assert_int_equal(started_end(&opener), 0);
}

static void a_linked_worktree(void **state)
{
    struct place *place = *state;
    struct started opener = start_opener("1000");
    struct followed followed;

    for (int relative = 0; relative < 2; relative++) {
        if (relative) { /* as newer gits write them */
            write_text(place, "tree/.git", "gitdir: ../repo/.git/worktrees/tree\n");
            write_text(place, "repo/.git/worktrees/tree/gitdir", "../../../../tree/.git\n");
        }
        followed = follow(&opener, in_place(place, "tree"));
        assert_int_equal(followed.n_before, 2);
        assert_int_equal(followed.before[0].kind, GRANT_GIT_DIR);
        assert_int_equal(followed.before[0].error, 0);
        assert_is(followed.before[0].descriptor, in_place(place, "repo/.git/worktrees/tree"));
        assert_string_equal(followed.before[0].name, in_place(place, "repo/.git/worktrees/tree"));
        assert_int_equal(followed.before[1].kind, GRANT_GIT_COMMON);
        assert_int_equal(followed.before[1].error, 0);
        assert_is(followed.before[1].descriptor, in_place(place, "repo/.git"));
        assert_int_equal(followed.own.error, 0);
        assert_is(followed.own.descriptor, in_place(place, "tree"));
        let_go(&followed);
    }
    link_worktree(place);
    assert_int_equal(started_end(&opener), 0);
}

/* By the real one, where there is one: what is understood is what git does. */
static void what_git_itself_makes(void **state)
{
    static const char script[] =
        "cd '%s' && mkdir real && cd real && git init -q a && cd a && "
        "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x "
        "&& git worktree add -q ../b 2>/dev/null";
    struct place *place = *state;
    struct started opener;
    struct followed followed;
    char command[512];

    if (system("git --version >/dev/null 2>&1") != 0) {
        print_message("there is no git\n");
        assert_false(must_run());
        skip();
    }
    (void)snprintf(command, sizeof(command), script, place->path);
    assert_int_equal(system(command), 0);
    opener = start_opener("0");
    followed = follow(&opener, in_place(place, "real/b"));
    assert_int_equal(followed.n_before, 2);
    assert_is(followed.before[0].descriptor, in_place(place, "real/a/.git/worktrees/b"));
    assert_is(followed.before[1].descriptor, in_place(place, "real/a/.git"));
    let_go(&followed);
    followed =
        follow(&opener, in_place(place, "real/a")); /* .git is a directory: nothing to follow */
    assert_int_equal(followed.n_before, 0);
    assert_int_equal(followed.own.error, 0);
    let_go(&followed);
    assert_int_equal(started_end(&opener), 0);
}

static void assert_forged(const struct started *opener, const struct place *place, const char *why)
{
    struct followed followed = follow(opener, in_place(place, "tree"));

    if (followed.n_before != 1 || followed.before[0].kind != GRANT_GIT_DIR ||
        followed.before[0].error != EXDEV)
        fail_msg("%s: %d answers, error %d", why, followed.n_before, followed.before[0].error);
    assert_int_equal(followed.own.error, 0);
    let_go(&followed);
}

static void a_forged_pointer(void **state)
{
    static const char *const texts[] = {"", "gitdir: ", "gitdir: /nowhere\n", "gitdir: .\n",
        "/tmp\n", "gitdir:/tmp\n", "gitdir: /etc\n", "gitdir: /etc/passwd\n",
        "gitdir: /proc/self\n"};
    static char huge[8192];
    struct place *place = *state;
    struct started opener = start_opener("1000");

    for (size_t i = 0; i < array_size(texts); i++) {
        write_text(place, "tree/.git", texts[i]);
        assert_forged(&opener, place, texts[i]);
    }
    memset(huge, 'a', sizeof(huge) - 1);
    memcpy(huge, "gitdir: /", 9);
    write_text(place, "tree/.git", huge);
    assert_forged(&opener, place, "a huge pointer");

    /* Somebody else's worktree, which names its own .git. */
    link_worktree(place);
    write_pointer(place, "other/.git/worktrees/tree/gitdir", "", "file");
    write_text(place, "other/.git/worktrees/tree/commondir", "../..\n");
    write_pointer(place, "tree/.git", "gitdir: ", "other/.git/worktrees/tree");
    assert_forged(&opener, place, "the other side names another");

    link_worktree(place); /* a link that looks back, but is not the file itself */
    assert_int_equal(symlinkat("../tree/.git", place->directory, "other/back"), 0);
    write_pointer(place, "repo/.git/worktrees/tree/gitdir", "", "other/back");
    assert_forged(&opener, place, "the other side names a link");

    link_worktree(place);
    write_pointer(place, "repo/.git/worktrees/tree/commondir", "", "other/.git");
    assert_forged(&opener, place, "the common directory is another's");

    link_worktree(place);
    assert_int_equal(unlinkat(place->directory, "repo/.git/worktrees/tree/commondir", 0), 0);
    assert_forged(&opener, place, "there is no common directory");

    assert_int_equal(mkfifoat(place->directory, "repo/.git/worktrees/tree/commondir", 0666), 0);
    assert_forged(&opener, place, "the common directory's name is a FIFO");
    assert_int_equal(unlinkat(place->directory, "repo/.git/worktrees/tree/commondir", 0), 0);

    link_worktree(place); /* out of the requester's sight */
    assert_int_equal(fchmodat(place->directory, "repo", 0700, 0), 0);
    assert_forged(&opener, place, "a repository that the requester may not see");
    assert_int_equal(fchmodat(place->directory, "repo", 0755, 0), 0);
    assert_int_equal(started_end(&opener), 0);
}

/* What is no regular file is no pointer, and does not hang. */
static void a_git_that_is_no_file(void **state)
{
    struct place *place = *state;
    struct started opener = start_opener("1000");

    for (int kind = 0; kind < 4; kind++) {
        struct followed followed;

        assert_int_equal(unlinkat(place->directory, "tree/.git", kind == 3 ? AT_REMOVEDIR : 0), 0);
        if (kind == 0)
            assert_int_equal(mkfifoat(place->directory, "tree/.git", 0666), 0);
        else if (kind == 1)
            assert_int_equal(symlinkat("../file", place->directory, "tree/.git"), 0);
        else if (kind == 2)
            make_directory(place, "tree/.git");
        followed = follow(&opener, in_place(place, "tree"));
        assert_int_equal(followed.n_before, 0);
        assert_int_equal(followed.own.error, 0);
        let_go(&followed);
    }
    link_worktree(place);
    assert_int_equal(started_end(&opener), 0);
}

/* As many as a request may have, each with all that git may add: no descriptor gets lost. */
static void as_many_as_there_may_be(void **state)
{
    struct place *place = *state;
    struct started opener = start_opener("1000");
    const char *paths[GRANTS_MAX];
    char *path = strdup(in_place(place, "tree"));

    for (size_t i = 0; i < GRANTS_MAX; i++)
        paths[i] = path;
    ask(&opener, paths, GRANTS_MAX, true);
    for (uint32_t i = 0; i < GRANTS_MAX * 3; i++) {
        struct answer answer = hear(&opener);

        assert_int_equal(answer.path, i / 3);
        assert_int_equal(answer.error, 0);
        close(answer.descriptor);
    }
    free(path);
    assert_int_equal(started_end(&opener), 0);
}

/* Without openat2 no path is opened at all: never by another call. */
static void without_openat2_it_says_so(void **state)
{
    struct place *place = *state;
    struct started opener;
    struct followed followed;

    started_world = (struct started_world){SYS_openat2, ENOSYS};
    opener = start_opener("1000");
    started_world = started_world_as_it_is;
    followed = follow(&opener, in_place(place, "tree"));
    assert_int_equal(followed.n_before, 0);
    assert_int_equal(followed.own.error, ENOSYS);
    assert_int_equal(started_end(&opener), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_in_order),
        cmocka_unit_test(it_opens_as_the_requester),
        cmocka_unit_test(a_linked_worktree),
        cmocka_unit_test(what_git_itself_makes),
        cmocka_unit_test(a_forged_pointer),
        cmocka_unit_test(a_git_that_is_no_file),
        cmocka_unit_test(as_many_as_there_may_be),
        cmocka_unit_test(without_openat2_it_says_so),
    };
    int skip = without_root_skip("opener");

    return skip ? skip : cmocka_run_group_tests_name("opener", tests, place_open, place_close);
}
