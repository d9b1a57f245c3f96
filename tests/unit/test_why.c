/* test_why.c - which part of a boundary decides for a path. */
#include "why.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char *const lines[] = {"system /usr", "system /etc", "link:usr/bin /bin",
    "link:/usr/lib /lib", "mask /etc/shadow", "proc /proc", "devices /dev", "own /tmp",
    "own /dev/shm", "read-grant /srv/a", "write-grant /srv/a/b", "write-grant /srv/w",
    "carve-out /srv/w/.codex", "pin /srv/w/.git", "carve-out /srv/w/.git/hooks",
    "carve-out-if-present /srv/w/.vscode", "write-grant /tmp/grant", "read-grant /srv/with space"};

static const struct {
    const char *path;
    enum why_kind kind;
    const char *area;
    const char *rights; /* of "rwx" */
} rows[] = {
    {"/usr/bin/true", WHY_SYSTEM, "/usr", "rx"},
    {"/usr", WHY_SYSTEM, "/usr", "rx"},
    {"/usrx", WHY_NONE, NULL, ""},
    {"/bin/true", WHY_SYSTEM, "/usr", "rx"},
    {"/bin", WHY_SYSTEM, "/usr", "rx"},
    {"/binx", WHY_NONE, NULL, ""},
    {"/lib/x", WHY_SYSTEM, "/usr", "rx"},
    {"/etc/shadow", WHY_MASK, "/etc/shadow", ""},
    {"/etc/shadow-", WHY_SYSTEM, "/etc", "rx"},
    {"/proc/self/comm", WHY_PROC, "/proc", "rw"},
    {"/dev/null", WHY_DEVICES, "/dev", "rw"},
    {"/dev/shm/x", WHY_OWN, "/dev/shm", "rwx"},
    {"/tmp/x", WHY_OWN, "/tmp", "rwx"},
    {"/tmp/grant/x", WHY_WRITE, "/tmp/grant", "rwx"},
    {"/srv/a/x", WHY_READ, "/srv/a", "rx"},
    {"/srv/a/b/x", WHY_WRITE, "/srv/a/b", "rwx"},
    {"/srv/a/bx", WHY_READ, "/srv/a", "rx"},
    {"/srv/w/x", WHY_WRITE, "/srv/w", "rwx"},
    {"/srv/w/.codex", WHY_CARVE_OUT, "/srv/w/.codex", "rx"},
    {"/srv/w/.codex/deep/x", WHY_CARVE_OUT, "/srv/w/.codex", "rx"},
    {"/srv/w/.codexx", WHY_WRITE, "/srv/w", "rwx"},
    {"/srv/w/.git", WHY_PIN, "/srv/w/.git", "rwx"},
    {"/srv/w/.git/HEAD", WHY_WRITE, "/srv/w", "rwx"},
    {"/srv/w/.git/hooks/x", WHY_CARVE_OUT, "/srv/w/.git/hooks", "rx"},
    {"/srv/w/.vscode/x", WHY_CARVE_OUT_IF_PRESENT, "/srv/w/.vscode", "rx"},
    {"/srv/with space/x", WHY_READ, "/srv/with space", "rx"},
    {"/srv", WHY_WAY, NULL, "r"},
    {"/", WHY_WAY, NULL, "r"},
    {"/srv/c", WHY_NONE, NULL, ""},
    {"/root", WHY_NONE, NULL, ""},
};

#define N_LINES (sizeof(lines) / sizeof(lines[0]))

static void each_path(void **state)
{
    char copies[N_LINES][64];
    struct why_area areas[N_LINES];

    (void)state;
    for (size_t i = 0; i < N_LINES; i++) {
        strcpy(copies[i], lines[i]);
        assert_int_equal(why_parse(copies[i], &areas[i]), 0);
    }
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct why_answer answer;
        char rights[4];

        why_decide(areas, N_LINES, rows[i].path, &answer);
        (void)snprintf(rights, sizeof(rights), "%s%s%s", answer.read ? "r" : "",
            answer.write ? "w" : "", answer.execute ? "x" : "");
        if (answer.kind != rows[i].kind || strcmp(rights, rows[i].rights) != 0)
            fail_msg("%s: %s, %s", rows[i].path, why_slug(answer.kind), rights);
        if (rows[i].area)
            assert_string_equal(answer.area, rows[i].area);
        else
            assert_null(answer.area);
        assert_true(strlen(why_meaning(answer.kind)) > 5);
    }
}

static void the_host_view(void **state)
{
    const struct why_area areas[] = {{.kind = WHY_HOST, .path = "/"},
        {.kind = WHY_MASK, .path = "/home/x/.ssh"}, {.kind = WHY_OWN, .path = "/tmp"}};
    struct why_answer answer;

    (void)state;
    why_decide(areas, 3, "/home/x/y", &answer);
    assert_true(answer.kind == WHY_HOST && answer.read && !answer.write);
    why_decide(areas, 3, "/home/x/.ssh/id", &answer);
    assert_true(answer.kind == WHY_MASK && !answer.read);
    why_decide(areas, 3, "/", &answer);
    assert_true(answer.kind == WHY_HOST);
    why_decide(areas, 0, "/", &answer);
    assert_true(answer.kind == WHY_NONE);
}

static void broken_lines(void **state)
{
    static const char *const broken[] = {"", "system", "system ", "system relative", "none /",
        "nonsense /", "link /bin", "system:x /bin", "system /a/../b", "system /a//b", " /usr"};

    (void)state;
    for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
        struct why_area area;
        char copy[32];

        strcpy(copy, broken[i]);
        if (why_parse(copy, &area) != -EINVAL)
            fail_msg("'%s' was read", broken[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_path),
        cmocka_unit_test(the_host_view),
        cmocka_unit_test(broken_lines),
    };

    return cmocka_run_group_tests_name("why", tests, NULL, NULL);
}
