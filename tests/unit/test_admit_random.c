/* test_admit_random.c - what holds of every decision, over many requests made at random.
 *
 * The requests are drawn from few names, so that they meet: nested, equal, alike, outside.  The
 * ceilings are judged a second time here, by components, in another way than admit() does.
 */
#include "admit_fixture.h"
#include "own.h"
#include "text.h"
#include <stdio.h>

#define ROUNDS 200000

static const char policy_text[] = "[allow one]\n"
                                  "User=1000\n"
                                  "Read=/usr /srv/a\n"
                                  "Write=~ /srv/a\n"
                                  "Limit-Ceiling=tasks=64 memory=1G\n"
                                  "[allow two]\n"
                                  "Group=27\n"
                                  "View=minimal host\n"
                                  "Net=none host\n"
                                  "Vendor=*\n"
                                  "Read=/\n"
                                  "Write=/srv/b ~/work\n"
                                  "Carve-Out=x .vscode/tasks\n"
                                  "Limit-Default=wall=10s\n"
                                  "Require-Rung=landlock-scope\n";

static const char *const paths[] = {"/", "/usr", "/usr/lib", "/srv", "/srv/a", "/srv/ab",
    "/srv/a/x", "/srv/a/.git", "/srv/a/.git/hooks", "/srv/a/x/.claude", "/srv/b", "/srv/b/.vscode",
    "/srv/b/x", "/home/ann", "/home/ann/work", "/home/ann/work/.codex", "/home/annx", "/etc",
    "/home/ann/work/sub"};

static const char *const relative[] = {"x", "../b/x", "out", ".git", ".git/config", "a/b/c", ".",
    "..", "/srv/a/out", "/srv/a/x/out", "/srv/b/out", "/etc/out", "./out/", ".vscode/tasks",
    "//srv//a//q", "../../../../../out"};

static uint64_t seed;

static uint32_t draw(uint32_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed >> 32) % below;
}

static bool chance(uint32_t one_in)
{
    return draw(one_in) == 0;
}

static void draw_request(struct fixture *f)
{
    struct request *request = &f->request;

    *request = (struct request){
        .boundary = chance(20) ? (enum boundary)draw(6) : BOUNDARY_UNSET,
        .view = (enum view)draw(chance(20) ? 5 : 3),
        .net = (enum net)draw(chance(20) ? 6 : 3),
        .vendor = chance(20) ? "codex" : NULL,
        .git = chance(6),
        .chdir = chance(4) ? paths[draw(array_size(paths))] : NULL,
    };
    for (uint32_t i = draw(5); i > 0; i--) {
        enum grant_kind kind = (enum grant_kind)(1 + draw(chance(40) ? 8 : 4));

        fixture_grant(f, kind, paths[draw(array_size(paths))]);
        request->grants[request->n_grants - 1].directory = !chance(25);
        request->grants[request->n_grants - 1].covers_own = chance(30);
    }
    for (uint32_t i = chance(2) ? draw(3) : 0; i > 0; i--)
        request->carve_outs[request->n_carve_outs++] = relative[draw(array_size(relative))];
    for (uint32_t i = chance(2) ? draw(3) : 0; i > 0; i--)
        request->artefacts[request->n_artefacts++].path = relative[draw(array_size(relative))];
    if (chance(4))
        request->limits = (struct limits){draw(100), draw(100), draw(100), draw(100), 0, 1};
}

static void draw_world(struct fixture *f)
{
    f->peer.uid = chance(10) ? draw(3) * 35000 : 1000;
    f->peer.n_groups = chance(4) ? draw(3) : 2;
    f->peer.home = chance(5) ? "/" : "/home/ann";
    f->usage = (struct usage){draw(70), draw(10)};
    for (size_t i = 0; i < RUNG_COUNT; i++)
        f->machine.rungs[i].state = chance(150) ? (enum rung_state)draw(5) : RUNG_HOLDS;
}

/* PATH begins with all components of CEILING: by walking both. */
static bool within(const char *path, const char *ceiling)
{
    for (;;) {
        size_t a, b;

        ceiling += strspn(ceiling, "/");
        path += strspn(path, "/");
        if (!*ceiling)
            return true;
        a = strcspn(path, "/");
        b = strcspn(ceiling, "/");
        if (a != b || memcmp(path, ceiling, a) != 0)
            return false;
        path += a;
        ceiling += b;
    }
}

static bool under_a_ceiling(const struct fixture *f, const char *path)
{
    const struct rule *rule = f->decision.rule;

    for (size_t i = 0; i < rule->n_write_ceilings; i++) {
        const char *ceiling = rule->write_ceilings[i];
        auto_free char *whole = NULL;

        if (ceiling[0] == '~' && strcmp(f->peer.home, "/") == 0)
            continue;
        whole =
            ceiling[0] == '~' ? text_format("%s%s", f->peer.home, ceiling + 1) : strdup(ceiling);
        if (within(path, whole))
            return true;
    }
    return false;
}

static void check_refusals(const struct decision *decision)
{
    assert_true(decision->n_refusals <= REFUSALS_MAX);
    for (uint32_t i = 0; i < decision->n_refusals; i++) {
        const struct refusal *refusal = &decision->refusals[i];

        assert_int_equal(reason_entry(refusal->reason)->colour, COLOUR_REFUSED);
        assert_true(strlen(refusal->detail) > 5);
        for (const char *at = refusal->detail; *at; at++)
            assert_true(*at >= 0x20 && *at < 0x7f);
    }
    assert_null(decision->rule);
    assert_int_equal(decision->n_texts, 0);
}

static void check_grants(const struct fixture *f)
{
    for (uint32_t i = 0; i < f->request.n_grants; i++) {
        const struct grant *grant = &f->request.grants[i];

        if (grant->kind == GRANT_READ)
            continue;
        assert_true(under_a_ceiling(f, grant->path));
        assert_false(grant->covers_own);
    }
}

/* PATH of a workspace cannot be written: carved out of each write grant through which it is seen.
 */
static bool is_kept(const struct fixture *f, const char *path)
{
    const struct decision *d = &f->decision;
    const struct grant *deepest = NULL;

    for (uint32_t i = 0; i < f->request.n_grants; i++) {
        const struct grant *grant = &f->request.grants[i];

        if (grant->kind != GRANT_READ && grant->directory && within(path, grant->path) &&
            (!deepest || strlen(grant->path) > strlen(deepest->path)))
            deepest = grant;
    }
    for (uint32_t i = 0; i < f->request.n_grants; i++) {
        bool carved = false;

        if (strcmp(f->request.grants[i].path, deepest->path) != 0 ||
            f->request.grants[i].kind == GRANT_READ)
            continue;
        for (uint32_t j = 0; j < d->n_carve_outs; j++) {
            auto_free char *whole =
                text_format("%s/%s", f->request.grants[i].path, d->carve_outs[j].path);

            carved = carved || (d->carve_outs[j].grant == i && within(path, whole));
        }
        if (!carved)
            return false;
    }
    return true;
}

static void check_carve_outs(const struct fixture *f)
{
    const struct decision *d = &f->decision;

    for (uint32_t i = 0; i < d->n_carve_outs; i++) {
        const struct carve_out *one = &d->carve_outs[i];
        auto_free char *absolute = text_format("/%s", one->path);

        assert_true(one->grant < f->request.n_grants);
        assert_true(f->request.grants[one->grant].kind != GRANT_READ);
        assert_true(one->path[0] && text_path_is_normal(absolute));
        for (uint32_t j = 0; j < d->n_carve_outs; j++) {
            const struct carve_out *other = &d->carve_outs[j];
            auto_free char *around = text_format("/%s", other->path);

            if (i != j && one->grant == other->grant && other->kind != CARVE_OUT_PIN)
                assert_false(within(absolute, around));
        }
    }
    for (uint32_t i = 0; i < f->request.n_grants; i++) {
        if (f->request.grants[i].kind != GRANT_WORKSPACE)
            continue;
        for (const struct default_carve_out *at = default_carve_outs; at->name; at++) {
            auto_free char *path = text_format("%s/%s", f->request.grants[i].path, at->name);

            assert_true(is_kept(f, path));
        }
    }
}

static void check_admitted(const struct fixture *f)
{
    const struct decision *d = &f->decision;

    assert_int_equal(d->boundary, BOUNDARY_DOMAIN);
    assert_true(d->rule->views & 1U << d->view);
    assert_true(d->rule->nets & 1U << d->net);
    assert_true(text_path_is_normal(d->directory));
    assert_true(f->peer.uid <= 65535 && f->usage.legs_now < 64);
    check_grants(f);
    check_carve_outs(f);
    assert_int_equal(d->n_artefacts, f->request.n_artefacts);
    for (uint32_t i = 0; i < d->n_artefacts; i++)
        assert_true(f->request.grants[d->artefacts[i].grant].kind != GRANT_READ);
    for (uint32_t i = 0; i < d->n_claims; i++) {
        for (unsigned int rung = 0; rung < RUNG_COUNT; rung++) {
            if (d->claims[i].rungs & UINT64_C(1) << rung)
                assert_int_equal(f->machine.rungs[rung].state, RUNG_HOLDS);
        }
    }
}

static void what_holds_of_every_decision(void **state)
{
    struct fixture f;
    unsigned int admitted = 0, refused = 0;

    seed = UINT64_C(0x9e3779b97f4a7c15);
    fixture_start(&f, policy_text);
    for (unsigned int i = 0; i < ROUNDS; i++) {
        draw_request(&f);
        draw_world(&f);
        fixture_decide(&f);
        if (f.decision.n_refusals > 0) {
            check_refusals(&f.decision);
            refused++;
        } else {
            check_admitted(&f);
            admitted++;
        }
    }
    /* Else the test would say nothing. */
    print_message("admitted %u, refused %u\n", admitted, refused);
    assert_true(admitted > ROUNDS / 50);
    assert_true(refused > ROUNDS / 50);
    fixture_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_holds_of_every_decision)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
