/* Carve-outs on a real file system: present, absent, symlinked, deep, pinned; each refused act
 * beside the same act in a leg that has no carve-outs. */
#include "plot.h"

#include "own.h"
#include "placeholder_mark.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

static struct plot plot;

static int set_up(void **state)
{
    plot_make(&plot);
    return 0;
}

static int tear_down(void **state)
{
    plot_clear(&plot);
    return 0;
}

static struct play with(uint32_t kind, const char *path)
{
    struct play play = plot_play(&plot, "", PLAN_MOUNT_WRITE);

    play.directory = plot.path;
    play.carve_outs[0] = (struct play_carve_out){.kind = kind, .path = path};
    return play;
}

/* Each act fails with the carve-out; each one succeeds, on a fresh plot, without it. */
static void refused(uint32_t kind, const char *path, const char *before, const char *const *acts)
{
    for (size_t i = 0; acts[i]; i++) {
        struct play play;

        assert_int_equal(control(&plot, SOMEONE, before), 0);
        play = with(kind, path);
        if (play_script(&play, acts[i], &last) != 0 || last.fault.step || !last.exited ||
            last.wait_status == 0)
            fail_msg(
                "%s: went through: step %s, %s", acts[i], step_slug(last.fault.step), last.output);
        assert_int_equal(control(&plot, 0, "rm -rf $G/* $G/.[a-z]*"), 0);

        assert_int_equal(control(&plot, SOMEONE, before), 0);
        play = plot_play(&plot, "", PLAN_MOUNT_WRITE);
        play.directory = plot.path;
        expect_status(&play, acts[i], 0);
        assert_int_equal(control(&plot, 0, "rm -rf $G/* $G/.[a-z]*"), 0);
    }
}

static void test_directory_present(void **state)
{
    static const char *const acts[] = {"touch .git/x", "echo y > .git/config", "rm .git/config",
        "rm -r .git", "mv .git g", "mv .git g && mkdir .git", "chmod 700 .git", "mkdir .git/hooks",
        "mv q .git", "ln .git/config l", "touch -d @1 .git",
        "mv -T --exchange q .git || mv -T q g && mv .git q", NULL};

    refused(CARVE_OUT_ALWAYS, ".git", "mkdir .git q && echo x > .git/config", acts);
    refused(CARVE_OUT_IF_PRESENT, ".git", "mkdir .git q && echo x > .git/config", acts);
}

static void test_file_present(void **state)
{
    static const char *const acts[] = {"echo y > .mcp.json", "rm .mcp.json", "mv q .mcp.json",
        "ln .mcp.json l", "ln -sf q .mcp.json", "chmod 600 .mcp.json", "truncate -s 0 .mcp.json",
        NULL};

    refused(CARVE_OUT_ALWAYS, ".mcp.json", "echo x > .mcp.json; echo y > q", acts);
    refused(CARVE_OUT_IF_PRESENT, ".mcp.json", "echo x > .mcp.json; echo y > q", acts);
}

static void test_absent(void **state)
{
    static const char *const acts[] = {"mkdir .codex", "echo x > .codex",
        "mv x .codex && test -f .codex", "mv d .codex && test -e .codex/f", "ln -s x .codex",
        "ln x .codex && test -f .codex", "mkfifo .codex",
        "rmdir .codex || mkdir .codex && touch .codex/x", NULL};

    refused(CARVE_OUT_ALWAYS, ".codex", "echo x > x; mkdir d; touch d/f", acts);
    refused(CARVE_OUT_PIN, ".codex", "echo x > x; mkdir d; touch d/f", acts);
}

static void test_absent_file(void **state)
{
    static const char *const acts[] = {
        "echo x > f", "mv x f", "ln x f", "ln -s x f", "mkdir f", "rm f || mkdir f", NULL};

    refused(CARVE_OUT_ALWAYS_FILE, "f", "echo x > x", acts);
    refused(CARVE_OUT_ALWAYS_HERE, "f", "echo x > x", acts);
}

static void test_deep(void **state)
{
    static const char *const acts[] = {"echo y > a/b/settings", "mv a/b/settings z", "mv a/b c",
        "mv a c", "mv a c && mkdir -p a/b && echo y > a/b/settings", "rm -r a", NULL};
    static const char *const absent[] = {"mkdir -p .claude && echo x > .claude/settings",
        "mv d .claude && test -e .claude/settings", NULL};
    struct play play;

    refused(CARVE_OUT_ALWAYS, "a/b/settings", "mkdir -p a/b && echo x > a/b/settings", acts);
    refused(CARVE_OUT_ALWAYS, ".claude/settings", "mkdir d; touch d/settings", absent);
    /* Beside it all stays writable. */
    assert_int_equal(control(&plot, SOMEONE, "mkdir -p a/b && echo x > a/b/settings"), 0);
    play = with(CARVE_OUT_ALWAYS, "a/b/settings");
    expect_status(&play, "touch a/b/x a/y z && mv a/b/x a/b/w && rm a/y && mkdir a/b/d", 0);
}

static void test_pin(void **state)
{
    static const char *const acts[] = {"mv .git g", "rm -r .git", "mv .git g && mkdir .git", NULL};
    struct play play;

    refused(CARVE_OUT_PIN, ".git", "mkdir .git", acts);
    /* Writable, but for what is carved out of it. */
    plot_directory(&plot, ".git", SOMEONE);
    plot_directory(&plot, ".git/hooks", SOMEONE);
    plot_file(&plot, ".git/config", "x", SOMEONE);
    play = with(CARVE_OUT_PIN, ".git");
    play.carve_outs[1] = (struct play_carve_out){CARVE_OUT_ALWAYS, 0, ".git/config"};
    play.carve_outs[2] = (struct play_carve_out){CARVE_OUT_ALWAYS, 0, ".git/hooks"};
    play.carve_outs[3] = (struct play_carve_out){CARVE_OUT_ALWAYS_HERE, 0, ".git/commondir"};
    expect_status(&play,
        "touch .git/index.lock && mv .git/index.lock .git/index && mkdir .git/objects && "
        "! echo y > .git/config && ! touch .git/hooks/x && ! mv .git/config .git/c && "
        "! mv .git g && ! rm -r .git/hooks && ! touch .git/commondir/x && ! mv .git/index "
        ".git/config "
        "&& test \"$(cat .git/commondir)\" = .",
        0);
}

static void test_symlinks(void **state)
{
    static const char *const inside[] = {"touch .git/x", "touch real/x", "rm .git",
        "mv .git g && mkdir .git", "mv real r", "ln -sfn q .git", "rm -r real", NULL};
    static const char *const part[] = {"touch .git/hooks/x", "mv .git/hooks .git/h", "mv .git g",
        "touch hooks-really/x", "mv hooks-really h", NULL};
    static const char *const outside[] = {"rm .git", "mv .git g", "ln -sfn q .git", NULL};
    struct play play;

    refused(CARVE_OUT_ALWAYS, ".git", "mkdir real q && ln -s real .git", inside);
    refused(CARVE_OUT_ALWAYS, ".git", "mkdir real q && ln -s $G/real .git", inside);
    refused(CARVE_OUT_ALWAYS, ".git", "mkdir real q && ln -s real r2 && ln -s ./r2/ .git", inside);
    refused(CARVE_OUT_ALWAYS, ".git/hooks",
        "mkdir .git hooks-really && ln -s ../hooks-really .git/hooks", part);
    /* Out of every grant: the leg starts, and the link keeps its place. */
    refused(CARVE_OUT_ALWAYS, ".git", "mkdir q && ln -s /nowhere/at/all .git", outside);
    refused(CARVE_OUT_ALWAYS, ".git", "mkdir q && ln -s /usr/share .git", outside);

    /* Dangling into the grant: what it names could come to be, and no journal would know. */
    plot_link(&plot, ".git", "not-yet");
    play = with(CARVE_OUT_ALWAYS, ".git");
    expect_failure(&play, STEP_CARVE_OUTS, ENOENT);
    assert_non_null(strstr(last.fault.subject, ".git"));
    plot_link(&plot, "loop", "loop");
    play = with(CARVE_OUT_ALWAYS, "loop");
    expect_failure(&play, STEP_CARVE_OUTS, ELOOP);
}

static void test_symlink_into_another_grant(void **state)
{
    struct play play;

    plot_directory(&plot, "w", SOMEONE);
    plot_directory(&plot, "store", SOMEONE);
    plot_directory(&plot, "store/repo", SOMEONE);
    plot_link(&plot, "w/.git", "../store/repo");
    play = plot_play(&plot, "w", PLAN_MOUNT_WRITE);
    play.mounts[1] =
        (struct play_mount){.path = plot_path(&plot, "store"), .kind = PLAN_MOUNT_WRITE};
    expect_status(&play, "touch $G/w/.git/x && touch $G/store/repo/y", 0);
    play.carve_outs[0] = (struct play_carve_out){CARVE_OUT_ALWAYS, 0, ".git"};
    expect_status(&play,
        "! touch $G/w/.git/z && ! touch $G/store/repo/z && touch $G/store/z && "
        "! mv $G/store/repo $G/store/r && ! rm $G/w/.git",
        0);
}

/* ---- placeholders ---- */

static void test_placeholder(void **state)
{
    struct play play = with(CARVE_OUT_ALWAYS, ".agents");
    struct stat before, after, it;
    char mark[32] = {0};

    assert_int_equal(stat(plot.path, &before), 0);
    expect_status(&play, "test -d .agents && test -z \"$(ls -A .agents)\"", 0);
    assert_int_equal(stat(plot.path, &after), 0);
    assert_int_equal(before.st_mtim.tv_sec, after.st_mtim.tv_sec);
    assert_int_equal(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
    assert_int_equal(stat(plot_path(&plot, ".agents"), &it), 0);
    assert_int_equal(it.st_uid, SOMEONE);
    assert_int_equal(it.st_gid, SOMEONE);
    assert_int_equal(it.st_mode, S_IFDIR | 0755);
    assert_true(getxattr(plot_path(&plot, ".agents"), PLACEHOLDER_MARK, mark, sizeof(mark)) > 0);
    assert_string_equal(mark, "4711");
    /* A second leg lives with it, deeper carve-outs too. */
    expect_status(&play, "! touch .agents/x", 0);
    play = with(CARVE_OUT_ALWAYS, ".agents/deep/down");
    expect_status(&play, "! touch .agents/x && test -z \"$(ls -A .agents)\"", 0);
}

static void test_no_placeholder_where_none_is_needed(void **state)
{
    struct play play = with(CARVE_OUT_ALWAYS, "theirs/.git");

    plot_directory(&plot, "theirs", 4242);
    expect_status(&play, "! mkdir theirs/.git && ! mv theirs t", 0);
    assert_int_equal(access(plot_path(&plot, "theirs/.git"), F_OK), -1);
    /* Writable for it by its group alone: needed. */
    assert_int_equal(chown(plot_path(&plot, "theirs"), 4242, SOMEONE), 0);
    assert_int_equal(chmod(plot_path(&plot, "theirs"), 0775), 0);
    expect_status(&play, "! mkdir theirs/.git && touch theirs/x", 0);
    assert_int_equal(access(plot_path(&plot, "theirs/.git"), F_OK), 0);
    /* Only kept if present. */
    play = with(CARVE_OUT_IF_PRESENT, ".vscode");
    expect_status(&play, "mkdir .vscode && touch .vscode/x", 0);
}

static void test_parent_repository_is_still_found(void **state)
{
    struct play play = with(CARVE_OUT_ALWAYS, "sub/.git");

    need_program("git");
    assert_int_equal(control(&plot, SOMEONE, "git init -q . && mkdir sub"), 0);
    expect_output(&play, "cd sub && git rev-parse --show-toplevel", 0, plot.path);
}

int main(void)
{
#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(test_directory_present),
        CASE(test_file_present),
        CASE(test_absent),
        CASE(test_absent_file),
        CASE(test_deep),
        CASE(test_pin),
        CASE(test_symlinks),
        CASE(test_symlink_into_another_grant),
        CASE(test_placeholder),
        CASE(test_no_placeholder_where_none_is_needed),
        CASE(test_parent_repository_is_still_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
