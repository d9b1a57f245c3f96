/* test_admit_paths.c - the leg's directory, its carve-outs (git's among them), its artefacts. */
#include "admit_fixture.h"
#include "own.h"
#include "text.h"
#include <stdio.h>

static const char open_policy[] = "[allow all]\nUser=1000\nRead=/\nWrite=/\n";

static const char *const always[] = {".git", ".codex", ".agents", ".claude"};
static const char *const if_present[] = {
    ".qwen", ".gemini", ".factory", ".copilot", ".opencode", ".mcp.json", ".vscode"};

static void ask_carve_out(struct fixture *f, const char *path)
{
    f->request.carve_outs[f->request.n_carve_outs++] = path;
}

static void ask_artefact(struct fixture *f, const char *path)
{
    f->request.artefacts[f->request.n_artefacts++].path = path;
}

static void a_workspace_has_its_carve_outs(void **state)
{
    struct fixture f;

    fixture_start(&f, open_policy);
    fixture_grant(&f, GRANT_READ, "/usr");
    fixture_grant(&f, GRANT_WORKSPACE, "/srv/w");
    fixture_grant(&f, GRANT_WRITE, "/srv/x");
    fixture_admitted(&f);
    assert_string_equal(f.decision.directory, "/srv/w");
    assert_int_equal(f.decision.n_carve_outs, array_size(always) + array_size(if_present));
    for (size_t i = 0; i < array_size(always); i++)
        assert_int_equal(fixture_carve_out(&f, 1, always[i]), CARVE_OUT_ALWAYS);
    for (size_t i = 0; i < array_size(if_present); i++)
        assert_int_equal(fixture_carve_out(&f, 1, if_present[i]), CARVE_OUT_IF_PRESENT);
    fixture_end(&f);
}

static void a_rule_adds_to_them(void **state)
{
    struct fixture f;

    fixture_start(&f,
        "[allow all]\nUser=1000\nWrite=/\nCarve-Out=.envrc .vscode/tasks.json .git .qwen/x/y\n");
    fixture_grant(&f, GRANT_WORKSPACE, "/srv/w");
    fixture_admitted(&f);
    assert_int_equal(fixture_carve_out(&f, 0, ".envrc"), CARVE_OUT_ALWAYS);
    assert_int_equal(fixture_carve_out(&f, 0, ".git"), CARVE_OUT_ALWAYS);
    /* What must not come to exist in one kept if present: neither must that one. */
    assert_int_equal(fixture_carve_out(&f, 0, ".vscode"), CARVE_OUT_ALWAYS);
    assert_int_equal(fixture_carve_out(&f, 0, ".vscode/tasks.json"), 0);
    assert_int_equal(fixture_carve_out(&f, 0, ".qwen"), CARVE_OUT_ALWAYS);
    assert_int_equal(f.decision.n_carve_outs, array_size(always) + array_size(if_present) + 1);
    /* A plain write grant has none, the rule's included. */
    f.request.grants[0].kind = GRANT_WRITE;
    fixture_admitted(&f);
    assert_int_equal(f.decision.n_carve_outs, 0);
    fixture_end(&f);
}

static void carve_outs_as_asked(void **state)
{
    static const struct {
        const char *asked;
        uint32_t grant;
        const char *path;
    } rows[] = {
        {"secret", 0, "secret"}, {"./a//b/", 0, "a/b"}, {"a/../c", 0, "c"}, {"../x/d", 1, "d"},
        {"/srv/x/e", 1, "e"}, {"/srv/x/deep/f", 2, "f"},
        {"/srv/w/.codex/config.toml", 0, NULL}, /* covered already */
    };
    struct fixture f;

    fixture_start(&f, open_policy);
    fixture_grant(&f, GRANT_WORKSPACE, "/srv/w");
    fixture_grant(&f, GRANT_WRITE, "/srv/x");
    fixture_grant(&f, GRANT_WRITE, "/srv/x/deep");
    for (size_t i = 0; i < array_size(rows); i++) {
        f.request.n_carve_outs = 0;
        ask_carve_out(&f, rows[i].asked);
        fixture_admitted(&f);
        if (rows[i].path)
            assert_int_equal(fixture_carve_out(&f, rows[i].grant, rows[i].path), CARVE_OUT_ALWAYS);
        assert_int_equal(f.decision.n_carve_outs,
            array_size(always) + array_size(if_present) + (rows[i].path ? 1 : 0));
    }
    fixture_end(&f);
}

static void carve_outs_outside(void **state)
{
    static const char *const outside[] = {"/etc", "/srv", "../../etc/passwd", "/srv/wx", "/usr/x"};
    struct fixture f;

    fixture_start(&f, open_policy);
    fixture_grant(&f, GRANT_WORKSPACE, "/srv/w");
    fixture_grant(&f, GRANT_READ, "/usr");
    f.request.n_carve_outs = 1;
    for (size_t i = 0; i < array_size(outside); i++) {
        f.request.carve_outs[0] = outside[i];
        fixture_refused(&f, REASON_CARVE_OUT_OUTSIDE_GRANTS, "no write grant covers it");
    }
    f.request.carve_outs[0] = "/srv/w";
    fixture_refused(&f, REASON_CARVE_OUT_OUTSIDE_GRANTS, "is the write grant itself");
    f.request.carve_outs[0] = ".";
    fixture_refused(&f, REASON_CARVE_OUT_OUTSIDE_GRANTS, "is the write grant itself");
    f.request.grants[0].kind = GRANT_WRITE;
    f.request.carve_outs[0] = "x";
    fixture_refused(&f, REASON_CARVE_OUT_OUTSIDE_GRANTS, "relative to a workspace");
    f.request.carve_outs[0] = "/srv/w/x";
    fixture_admitted(&f);
    f.request.grants[0].directory = false; /* a file holds nothing */
    fixture_refused(&f, REASON_CARVE_OUT_OUTSIDE_GRANTS, "no write grant covers it");
    fixture_end(&f);
}

static void what_a_read_grant_lies_over_stays_where_it_is(void **state)
{
    struct fixture f;

    fixture_start(&f, open_policy);
    fixture_grant(&f, GRANT_WORKSPACE, "/srv/w");
    fixture_grant(&f, GRANT_READ, "/srv/w/.codex");
    fixture_grant(&f, GRANT_READ, "/srv/w/a/b");
    fixture_grant(&f, GRANT_READ, "/srv/w");
    ask_carve_out(&f, ".codex/x");
    ask_carve_out(&f, "a/b/c/d");
    fixture_admitted(&f);
    assert_int_equal(fixture_carve_out(&f, 0, ".codex"), CARVE_OUT_ALWAYS);
    assert_int_equal(fixture_carve_out(&f, 0, "a/b"), CARVE_OUT_ALWAYS);
    assert_int_equal(fixture_carve_out(&f, 0, ".git"), CARVE_OUT_ALWAYS);
    assert_int_equal(f.decision.n_carve_outs, array_size(always) + array_size(if_present) + 1);
    fixture_end(&f);
}

static void the_same_directory_granted_twice(void **state)
{
    struct fixture f;

    fixture_start(&f, open_policy);
    fixture_grant(&f, GRANT_WRITE, "/srv/w");
    fixture_grant(&f, GRANT_WORKSPACE, "/srv/w");
    fixture_grant(&f, GRANT_WRITE, "/srv");
    fixture_admitted(&f);
    for (uint32_t i = 0; i <= 1; i++)
        assert_int_equal(fixture_carve_out(&f, i, ".git"), CARVE_OUT_ALWAYS);
    assert_int_equal(fixture_carve_out(&f, 2, "w/.git"), 0);
    fixture_end(&f);
}

static void a_write_grant_does_not_open_a_carve_out(void **state)
{
    static const char *const inside[] = {"/srv/w/.git", "/srv/w/.git/hooks", "/srv/w/.codex",
        "/srv/w/.claude/a/b", "/srv/w/.vscode", "/srv/w/.vscode/x", "/srv/w/own", "/srv/w/own/x"};
    static const enum grant_kind kinds[] = {GRANT_WRITE, GRANT_SEAT};

    for (size_t i = 0; i < array_size(inside); i++) {
        for (size_t k = 0; k < array_size(kinds); k++) {
            struct fixture f;

            fixture_start(&f, "[allow all]\nUser=1000\nWrite=/\nCarve-Out=own\n");
            fixture_grant(&f, GRANT_WORKSPACE, "/srv/w");
            fixture_grant(&f, kinds[k], inside[i]);
            fixture_refused(&f, REASON_CARVE_OUT_UNENFORCEABLE, inside[i]);
            fixture_end(&f);
        }
    }
}

static void more_carve_outs_than_fit(void **state)
{
    static char names[CARVE_OUTS_MAX][8];
    struct fixture f;
    size_t room = CARVE_OUTS_MAX - array_size(always) - array_size(if_present);

    fixture_start(&f, open_policy);
    fixture_grant(&f, GRANT_WORKSPACE, "/srv/w");
    for (size_t i = 0; i < room; i++) {
        (void)snprintf(names[i], sizeof(names[i]), "n%zu", i);
        ask_carve_out(&f, names[i]);
    }
    for (size_t i = 0; i < ARTEFACTS_MAX; i++)
        ask_artefact(&f, "out");
    fixture_admitted(&f);
    assert_int_equal(f.decision.n_carve_outs, CARVE_OUTS_MAX);
    assert_int_equal(f.decision.n_artefacts, ARTEFACTS_MAX);
    ask_carve_out(&f, "one-more");
    fixture_refused(&f, REASON_REQUEST_TOO_BIG, "one-more");
    fixture_end(&f);
}

/* -- git -- */

static const struct {
    const char *path;
    enum carve_out_kind kind;
} repository[] = {
    {"config", CARVE_OUT_ALWAYS_FILE},
    {"config.worktree", CARVE_OUT_ALWAYS_FILE},
    {"commondir", CARVE_OUT_ALWAYS_HERE},
    {"hooks", CARVE_OUT_ALWAYS},
    {"info", CARVE_OUT_ALWAYS},
    {"worktrees", CARVE_OUT_ALWAYS},
    {"modules", CARVE_OUT_ALWAYS},
    {"remotes", CARVE_OUT_ALWAYS},
    {"branches", CARVE_OUT_ALWAYS},
    {"objects/info/alternates", CARVE_OUT_ALWAYS_FILE},
};

static void assert_repository(const struct fixture *f, uint32_t grant, const char *prefix)
{
    for (size_t i = 0; i < array_size(repository); i++) {
        auto_free char *path = text_format("%s%s", prefix, repository[i].path);

        assert_int_equal(fixture_carve_out(f, grant, path), repository[i].kind);
    }
}

static void a_commit_in_a_workspace(void **state)
{
    static const char *const writable[] = {
        ".git/objects", ".git/refs", ".git/logs", ".git/index", ".git/HEAD", ".git/packed-refs"};
    struct fixture f;

    fixture_start(&f, open_policy);
    f.request.git = true;
    fixture_grant(&f, GRANT_WORKSPACE, "/srv/w");
    fixture_admitted(&f);
    assert_int_equal(fixture_carve_out(&f, 0, ".git"), CARVE_OUT_PIN);
    assert_repository(&f, 0, ".git/");
    for (size_t i = 0; i < array_size(writable); i++)
        assert_int_equal(fixture_carve_out(&f, 0, writable[i]), 0);
    assert_int_equal(fixture_carve_out(&f, 0, ".codex"), CARVE_OUT_ALWAYS);
    assert_int_equal(f.decision.n_carve_outs,
        array_size(always) + array_size(if_present) + array_size(repository));
    /* The pin stands before what lies in it. */
    assert_string_equal(f.decision.carve_outs[0].path, ".git");
    fixture_end(&f);
}

static void a_carve_out_of_git_wins_over_the_commit(void **state)
{
    struct fixture f;

    fixture_start(&f, open_policy);
    f.request.git = true;
    fixture_grant(&f, GRANT_WORKSPACE, "/srv/w");
    ask_carve_out(&f, ".git");
    fixture_admitted(&f);
    assert_int_equal(fixture_carve_out(&f, 0, ".git"), CARVE_OUT_ALWAYS);
    assert_int_equal(fixture_carve_out(&f, 0, ".git/config"), 0);
    f.request.carve_outs[0] = ".git/refs/heads";
    fixture_admitted(&f);
    assert_int_equal(fixture_carve_out(&f, 0, ".git"), CARVE_OUT_PIN);
    assert_int_equal(fixture_carve_out(&f, 0, ".git/refs/heads"), CARVE_OUT_ALWAYS);
    /* Git reads this one: the kind that does not break it stays. */
    f.request.carve_outs[0] = ".git/commondir";
    fixture_admitted(&f);
    assert_int_equal(fixture_carve_out(&f, 0, ".git/commondir"), CARVE_OUT_ALWAYS_HERE);
    fixture_end(&f);
}

static void a_commit_in_a_linked_worktree(void **state)
{
    struct fixture f;

    fixture_start(&f, open_policy);
    f.request.git = true;
    fixture_grant(&f, GRANT_WORKSPACE, "/srv/w");
    fixture_grant(&f, GRANT_GIT_DIR, "/srv/r/.git/worktrees/w");
    fixture_grant(&f, GRANT_GIT_COMMON, "/srv/r/.git");
    fixture_admitted(&f);
    assert_int_equal(fixture_carve_out(&f, 0, ".git"), CARVE_OUT_ALWAYS);
    assert_int_equal(fixture_carve_out(&f, 0, ".git/config"), 0);
    assert_int_equal(fixture_carve_out(&f, 1, "commondir"), CARVE_OUT_ALWAYS_FILE);
    assert_int_equal(fixture_carve_out(&f, 1, "gitdir"), CARVE_OUT_ALWAYS_FILE);
    assert_int_equal(fixture_carve_out(&f, 1, "config.worktree"), CARVE_OUT_ALWAYS_FILE);
    assert_int_equal(fixture_carve_out(&f, 1, "info"), CARVE_OUT_ALWAYS);
    assert_int_equal(fixture_carve_out(&f, 1, "HEAD"), 0);
    assert_repository(&f, 2, "");
    assert_int_equal(fixture_carve_out(&f, 2, "HEAD"), CARVE_OUT_IF_PRESENT);
    assert_int_equal(fixture_carve_out(&f, 2, "index"), CARVE_OUT_IF_PRESENT);
    /* But no other write grant may lie in another worktree's directory. */
    fixture_grant(&f, GRANT_WRITE, "/srv/r/.git/worktrees/other");
    fixture_refused(&f, REASON_CARVE_OUT_UNENFORCEABLE, "worktrees/other");
    fixture_end(&f);
}

static void a_commit_in_a_submodule(void **state)
{
    struct fixture f;

    fixture_start(&f, open_policy);
    f.request.git = true;
    fixture_grant(&f, GRANT_WORKSPACE, "/srv/w/sub");
    fixture_grant(&f, GRANT_GIT_DIR, "/srv/w/.git/modules/sub");
    fixture_admitted(&f);
    assert_int_equal(fixture_carve_out(&f, 0, ".git"), CARVE_OUT_ALWAYS);
    assert_repository(&f, 1, "");
    assert_int_equal(fixture_carve_out(&f, 1, "HEAD"), 0);
    /* The same directory under both names. */
    fixture_grant(&f, GRANT_GIT_COMMON, "/srv/w/.git/modules/sub");
    fixture_admitted(&f);
    assert_repository(&f, 1, "");
    assert_repository(&f, 2, "");
    assert_int_equal(fixture_carve_out(&f, 1, "HEAD"), 0);
    fixture_end(&f);
}

static void git_directories_are_under_the_ceiling_too(void **state)
{
    struct fixture f;

    fixture_start(&f, "[allow all]\nUser=1000\nWrite=/srv/w\n");
    f.request.git = true;
    fixture_grant(&f, GRANT_WORKSPACE, "/srv/w");
    fixture_grant(&f, GRANT_GIT_DIR, "/srv/r/.git/worktrees/w");
    fixture_refused(&f, REASON_GRANT_OUTSIDE_CEILING, "git-dir /srv/r/.git/worktrees/w");
    fixture_end(&f);
}

/* -- directory and artefacts -- */

static void the_legs_directory(void **state)
{
    struct fixture f;

    fixture_start(&f, open_policy);
    f.request.chdir = "/usr//share/./doc/..";
    fixture_admitted(&f);
    assert_string_equal(f.decision.directory, "/usr/share");
    f.request.chdir = "/../..";
    fixture_admitted(&f);
    assert_string_equal(f.decision.directory, "/");
    fixture_grant(&f, GRANT_WORKSPACE, "/srv/w");
    fixture_admitted(&f);
    assert_string_equal(f.decision.directory, "/");
    f.request.chdir = NULL;
    fixture_admitted(&f);
    assert_string_equal(f.decision.directory, "/srv/w");
    fixture_end(&f);
}

static void artefacts_as_asked(void **state)
{
    static const struct {
        const char *directory, *asked;
        uint32_t grant;
        const char *path;
    } rows[] = {
        {NULL, "out", 0, "out"},
        {NULL, "./a//out", 0, "a/out"},
        {NULL, "a/../../w/out", 0, "out"},
        {NULL, "../x/out", 1, "out"},
        {NULL, "/srv/x/out", 1, "out"},
        {NULL, "/srv/x/deep/out", 2, "out"},
        {NULL, "/srv/file", 3, ""},
        {"/srv/x", "out", 1, "out"},
        {"/srv/w/sub", "out", 0, "sub/out"},
        {"/srv/w/sub", "../out", 0, "out"},
        {"/", "srv/x/deep/../out", 1, "out"},
    };
    struct fixture f;

    fixture_start(&f, open_policy);
    fixture_grant(&f, GRANT_WORKSPACE, "/srv/w");
    fixture_grant(&f, GRANT_WRITE, "/srv/x");
    fixture_grant(&f, GRANT_WRITE, "/srv/x/deep");
    fixture_grant(&f, GRANT_WRITE, "/srv/file");
    f.request.grants[3].directory = false;
    f.request.n_artefacts = 1;
    f.request.artefacts[0].min_size = 42;
    f.request.artefacts[0].has_sha256 = true;
    memset(f.request.artefacts[0].sha256, 7, 32);
    for (size_t i = 0; i < array_size(rows); i++) {
        const struct artefact *artefact = f.decision.artefacts;

        f.request.chdir = rows[i].directory;
        f.request.artefacts[0].path = rows[i].asked;
        fixture_admitted(&f);
        assert_int_equal(f.decision.n_artefacts, 1);
        assert_int_equal(artefact->grant, rows[i].grant);
        assert_string_equal(artefact->path, rows[i].path);
        assert_true(artefact->min_size == 42 && artefact->has_sha256);
        assert_int_equal(artefact->sha256[31], 7);
    }
    fixture_end(&f);
}

static void artefacts_that_could_never_be_left(void **state)
{
    static const struct {
        const char *asked, *found;
    } rows[] = {
        {"/tmp/out", "no write grant"},
        {"../out", "no write grant"},
        {"../../../../out", "artefact /out; no write grant"},
        {"/srv/wx/out", "no write grant"},
        {"/srv/w/ro/out", "no write grant"},
        {"/usr/out", "no write grant"},
        {"/srv/file/out", "no write grant"},
        {".", "granted directory"},
        {"/srv/w", "granted directory"},
        {".git/config", "carve-out .git"},
        {".codex", "carve-out .codex"},
    };
    struct fixture f;

    fixture_start(&f, open_policy);
    fixture_grant(&f, GRANT_WORKSPACE, "/srv/w");
    fixture_grant(&f, GRANT_READ, "/srv/w/ro");
    fixture_grant(&f, GRANT_READ, "/usr");
    fixture_grant(&f, GRANT_WRITE, "/srv/file");
    f.request.grants[3].directory = false;
    f.request.n_artefacts = 1;
    for (size_t i = 0; i < array_size(rows); i++) {
        f.request.artefacts[0].path = rows[i].asked;
        fixture_refused(&f, REASON_ARTEFACT_OUTSIDE_GRANTS, rows[i].found);
    }
    /* With --git HEAD can be left, config still not. */
    f.request.git = true;
    f.request.artefacts[0].path = ".git/HEAD";
    fixture_admitted(&f);
    f.request.artefacts[0].path = ".git/config";
    fixture_refused(&f, REASON_ARTEFACT_OUTSIDE_GRANTS, "carve-out .git/config");
    fixture_end(&f);
}

static void the_root_as_a_grant(void **state)
{
    struct fixture f;

    fixture_start(&f, open_policy);
    fixture_grant(&f, GRANT_WRITE, "/");
    ask_carve_out(&f, "/etc/passwd");
    ask_artefact(&f, "srv/out");
    fixture_admitted(&f);
    assert_int_equal(fixture_carve_out(&f, 0, "etc/passwd"), CARVE_OUT_ALWAYS);
    assert_string_equal(f.decision.artefacts[0].path, "srv/out");
    fixture_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_workspace_has_its_carve_outs),
        cmocka_unit_test(a_rule_adds_to_them),
        cmocka_unit_test(carve_outs_as_asked),
        cmocka_unit_test(carve_outs_outside),
        cmocka_unit_test(what_a_read_grant_lies_over_stays_where_it_is),
        cmocka_unit_test(the_same_directory_granted_twice),
        cmocka_unit_test(a_write_grant_does_not_open_a_carve_out),
        cmocka_unit_test(more_carve_outs_than_fit),
        cmocka_unit_test(a_commit_in_a_workspace),
        cmocka_unit_test(a_carve_out_of_git_wins_over_the_commit),
        cmocka_unit_test(a_commit_in_a_linked_worktree),
        cmocka_unit_test(a_commit_in_a_submodule),
        cmocka_unit_test(git_directories_are_under_the_ceiling_too),
        cmocka_unit_test(the_legs_directory),
        cmocka_unit_test(artefacts_as_asked),
        cmocka_unit_test(artefacts_that_could_never_be_left),
        cmocka_unit_test(the_root_as_a_grant),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
