/* test_admit.c - who may ask for what: rules, ceilings, identity, limits, claims, numbers. */
#include "admit_fixture.h"
#include "own.h"
#include "text.h"

static const char open_policy[] = "[allow all]\n"
                                  "User=1000 0\n"
                                  "Boundary=domain container\n"
                                  "View=minimal host\n"
                                  "Net=none host door\n"
                                  "Vendor=*\n"
                                  "Read=/\n"
                                  "Write=/\n";

static const char narrow_policy[] = "[allow default]\n"
                                    "User=1000 0\n"
                                    "Read=/usr /srv ~\n"
                                    "Write=~ /srv\n"
                                    "Limit-Ceiling=memory=1G wall=1h\n"
                                    "Limit-Default=wall=60s tasks=100\n";

static void nothing_asked_is_the_narrowest_leg(void **state)
{
    struct fixture f;
    const struct decision *d = &f.decision;

    fixture_start(&f, open_policy);
    fixture_admitted(&f);
    assert_int_equal(d->boundary, BOUNDARY_DOMAIN);
    assert_int_equal(d->view, VIEW_MINIMAL);
    assert_int_equal(d->net, NET_NONE);
    assert_string_equal(d->directory, "/");
    assert_string_equal(d->rule->name, "all");
    assert_int_equal(d->n_carve_outs, 0);
    assert_int_equal(d->n_artefacts, 0);
    fixture_end(&f);
}

static void each_claim_of_a_leg_is_named_with_its_rungs(void **state)
{
    struct fixture f;
    const struct decision *d = &f.decision;
    uint64_t claims = 0;

    fixture_start(&f, open_policy);
    f.request.limits = (struct limits){.tasks = 5, .memory = 8U << 20, .cpu_percent = 50};
    fixture_admitted(&f);
    for (uint32_t i = 0; i < d->n_claims; i++) {
        assert_true(d->claims[i].rungs != 0);
        assert_false(claims & UINT64_C(1) << d->claims[i].claim);
        claims |= UINT64_C(1) << d->claims[i].claim;
    }
    assert_true(
        claims == ((UINT64_C(1) << CLAIM_COUNT) - 1 - (UINT64_C(1) << CLAIM_EGRESS_LISTED) -
                      (UINT64_C(1) << CLAIM_PRIVILEGE_LISTED) - (UINT64_C(1) << CLAIM_TCP_CUT) -
                      (UINT64_C(1) << CLAIM_INTERNET_CUT)));
    /* What was not asked is not promised. */
    f.request.limits = (struct limits){0};
    f.request.net = NET_HOST;
    fixture_admitted(&f);
    for (uint32_t i = 0; i < d->n_claims; i++)
        assert_true(
            d->claims[i].claim < CLAIM_TASKS_BOUNDED && d->claims[i].claim != CLAIM_EGRESS_CUT);
    assert_int_equal(d->n_claims, CLAIM_TASKS_BOUNDED - 1);
    fixture_end(&f);
}

static void what_no_policy_can_let(void **state)
{
    struct fixture f;

    fixture_start(&f, open_policy);
    f.request.boundary = BOUNDARY_NONE;
    fixture_refused(&f, REASON_BOUNDARY_NONE, "none");
    f.peer.uid = 4242; /* nor does it matter who asks */
    fixture_refused(&f, REASON_BOUNDARY_NONE, "none");
    f.peer.uid = 1000;
    f.request.boundary = BOUNDARY_CONTAINER;
    fixture_refused(&f, REASON_IMAGE_NEEDED, "container");
    f.request.boundary = BOUNDARY_UNSET;
    f.request.vendor = "codex";
    fixture_refused(&f, REASON_VENDOR_UNKNOWN, "codex; there are: none");
    f.request.known_vendors = "droid proc";
    fixture_refused(&f, REASON_VENDOR_UNKNOWN, "codex; there are: droid proc");
    f.request.known_vendors = NULL;
    f.request.vendor = "";
    fixture_admitted(&f);
    fixture_end(&f);
}

static void what_the_protocol_does_not_hold(void **state)
{
    struct fixture f;

    fixture_start(&f, open_policy);
    f.request.boundary = (enum boundary)9;
    fixture_refused(&f, REASON_REQUEST_MALFORMED, "boundary 9");
    f.request.boundary = 0;
    f.request.view = (enum view)9;
    fixture_refused(&f, REASON_REQUEST_MALFORMED, "view 9");
    f.request.view = 0;
    f.request.net = (enum net)9;
    fixture_refused(&f, REASON_REQUEST_MALFORMED, "mode 9");
    f.request.net = 0;
    f.request.chdir = "srv";
    fixture_refused(&f, REASON_REQUEST_MALFORMED, "absolute");
    f.request.chdir = NULL;
    f.request.git = true;
    fixture_refused(&f, REASON_REQUEST_MALFORMED, "workspace");
    f.request.git = false;
    f.request.n_artefacts = ARTEFACTS_MAX + 1;
    fixture_refused(&f, REASON_REQUEST_TOO_BIG, "33 artefacts");
    f.request.n_artefacts = 0;
    f.request.n_carve_outs = CARVE_OUTS_MAX + 1;
    fixture_refused(&f, REASON_REQUEST_TOO_BIG, "65 carve-outs");
    f.request.n_carve_outs = 0;
    f.request.n_grants = GRANTS_MAX + 1;
    fixture_refused(&f, REASON_GRANTS_TOO_MANY, "49 grants");
    f.request.n_grants = 0;
    fixture_admitted(&f);
    fixture_end(&f);
}

static void grants_of_a_bad_form(void **state)
{
    static const char *const paths[] = {"", "srv", "/srv/", "/srv/../etc", "//srv", NULL};
    struct fixture f;

    fixture_start(&f, open_policy);
    for (size_t i = 0; i < array_size(paths); i++) {
        f.request.n_grants = 0;
        fixture_grant(&f, GRANT_READ, paths[i]);
        fixture_refused(&f, REASON_REQUEST_MALFORMED, "path");
    }
    f.request.n_grants = 0;
    fixture_grant(&f, (enum grant_kind)0, "/srv");
    fixture_refused(&f, REASON_REQUEST_MALFORMED, "kind 0");
    f.request.grants[0].kind = (enum grant_kind)7;
    fixture_refused(&f, REASON_REQUEST_MALFORMED, "kind 7");
    f.request.grants[0].narrowed = true;
    fixture_admitted(&f);
    f.request.grants[0].kind = (enum grant_kind)8;
    fixture_refused(&f, REASON_REQUEST_MALFORMED, "kind 8");
    f.request.grants[0].kind = GRANT_GIT_DIR;
    fixture_refused(&f, REASON_REQUEST_MALFORMED, "without git");
    for (int kind = GRANT_WORKSPACE; kind <= GRANT_SEAT; kind++) {
        f.request.n_grants = 0;
        fixture_grant(&f, (enum grant_kind)kind, "/srv/a");
        fixture_grant(&f, (enum grant_kind)kind, "/srv/b");
        fixture_refused(&f, REASON_REQUEST_MALFORMED, "2 grants");
        f.request.n_grants = 1;
        f.request.grants[0].directory = false;
        fixture_refused(&f, REASON_GRANT_TYPE, "/srv/a");
    }
    f.request.grants[0].kind = GRANT_WRITE;
    fixture_admitted(&f);
    fixture_end(&f);
}

static void a_way_that_the_leg_could_write(void **state)
{
    struct custody_step way[] = {
        {"/srv", false}, {"/srv/w/bin", true}, {"/srv/w/bin/parrot", true}};
    struct fixture f;

    fixture_start(&f, open_policy);
    f.request.custody = way;
    f.request.n_custody = array_size(way);
    fixture_admitted(&f);
    fixture_grant(&f, GRANT_READ, "/srv/w");
    fixture_admitted(&f);
    f.request.grants[0].kind = GRANT_WRITE;
    fixture_refused(&f, REASON_CUSTODY_VENDOR_WRITABLE, "/srv/w/bin/parrot");
    way[2].writable = false;
    fixture_refused(&f, REASON_CUSTODY_VENDOR_WRITABLE, "/srv/w/bin:");
    way[1].writable = false;
    fixture_admitted(&f);
    way[2].writable = true;
    fixture_grant(&f, GRANT_READ, "/srv/w/bin");
    fixture_admitted(&f);
    f.request.n_grants = 1;
    f.request.carve_outs[f.request.n_carve_outs++] = "/srv/w/bin";
    fixture_admitted(&f);
    fixture_end(&f);
}

static void ceilings_go_by_whole_components(void **state)
{
    static const struct {
        enum grant_kind kind;
        const char *path;
        bool let;
    } rows[] = {
        {GRANT_READ, "/usr", true},
        {GRANT_READ, "/usr/lib", true},
        {GRANT_READ, "/usrx", false},
        {GRANT_READ, "/", false},
        {GRANT_READ, "/etc", false},
        {GRANT_READ, "/home/ann/x", true},
        {GRANT_READ, "/home/bob", false},
        {GRANT_WRITE, "/home/ann", true},
        {GRANT_WRITE, "/home/ann/x", true},
        {GRANT_WRITE, "/home/annx", false},
        {GRANT_WRITE, "/home", false},
        {GRANT_WRITE, "/usr", false},
        {GRANT_WORKSPACE, "/srv/w", true},
        {GRANT_WORKSPACE, "/usr/src", false},
        {GRANT_SEAT, "/srv", true},
        {GRANT_SEAT, "/etc", false},
    };

    for (size_t i = 0; i < array_size(rows); i++) {
        struct fixture f;

        fixture_start(&f, narrow_policy);
        fixture_grant(&f, rows[i].kind, rows[i].path);
        if (rows[i].let)
            fixture_admitted(&f);
        else
            fixture_refused(&f, REASON_GRANT_OUTSIDE_CEILING, rows[i].path);
        fixture_end(&f);
    }
}

static void a_refusal_says_what_was_asked_and_what_is_let(void **state)
{
    struct fixture f;

    fixture_start(&f, narrow_policy);
    fixture_grant(&f, GRANT_WRITE, "/etc");
    fixture_refused(&f, REASON_GRANT_OUTSIDE_CEILING,
        "asked: write /etc; the rule `default` of p.policy lets write: ~, /srv");
    f.request.n_grants = 0;
    f.request.view = VIEW_HOST;
    f.request.net = NET_HOST;
    fixture_refused(&f, REASON_VIEW_NOT_ALLOWED,
        "asked: view host; the rule `default` of p.policy "
        "lets: minimal");
    fixture_refused(&f, REASON_NET_NOT_ALLOWED, "lets: none");
    f.request.view = VIEW_UNSET;
    f.request.net = NET_UNSET;
    f.request.limits.memory = 2ULL << 30;
    fixture_refused(&f, REASON_LIMIT_OUTSIDE_CEILING,
        "asked: limit memory=2G; the rule `default` of p.policy lets at most 1G");
    f.request.limits.memory = 0;
    f.request.limits.wall_ms = 3600001;
    fixture_refused(&f, REASON_LIMIT_OUTSIDE_CEILING, "wall=3600001ms");
    fixture_end(&f);
    fixture_start(&f, "[allow none]\nUser=1000\n");
    fixture_grant(&f, GRANT_WRITE, "/srv/\x1b[31m");
    fixture_refused(&f, REASON_GRANT_OUTSIDE_CEILING, "/srv/\\x1b[31m;");
    fixture_refused(&f, REASON_GRANT_OUTSIDE_CEILING, "lets write: nothing");
    fixture_end(&f);
}

static void a_home_that_is_none(void **state)
{
    static const char *const homes[] = {NULL, "", "/", "home/ann", "/home/../", "//", "/srv/"};

    for (size_t i = 0; i < array_size(homes); i++) {
        struct fixture f;

        fixture_start(&f, "[allow home]\nUser=1000\nWrite=~ ~/x\n");
        f.peer.home = homes[i];
        fixture_grant(&f, GRANT_WRITE, "/srv/x");
        fixture_refused(&f, REASON_GRANT_OUTSIDE_CEILING, "/srv/x");
        fixture_end(&f);
    }
}

static void a_folder_of_the_home(void **state)
{
    static const struct {
        const char *path;
        bool let;
    } rows[] = {
        {"/home/ann/work", true},
        {"/home/ann/work/a", true},
        {"/home/ann/works", false},
        {"/home/ann", false},
        {"/work", false},
    };

    for (size_t i = 0; i < array_size(rows); i++) {
        struct fixture f;

        fixture_start(&f, "[allow home]\nUser=1000\nWrite=~/work\n");
        fixture_grant(&f, GRANT_WRITE, rows[i].path);
        if (rows[i].let)
            fixture_admitted(&f);
        else
            fixture_refused(&f, REASON_GRANT_OUTSIDE_CEILING, rows[i].path);
        fixture_end(&f);
    }
}

static void root_is_not_exempt(void **state)
{
    struct fixture f;

    fixture_start(&f, narrow_policy);
    f.peer = (struct peer){.uid = 0, .gid = 0, .home = "/root"};
    fixture_grant(&f, GRANT_WRITE, "/etc");
    fixture_refused(&f, REASON_GRANT_OUTSIDE_CEILING, "/etc");
    f.request.grants[0].path = "/root/x";
    fixture_admitted(&f);
    f.request.grants[0].covers_own = true;
    fixture_refused(&f, REASON_GRANT_COVERS_SAPHAND, "/root/x");
    f.request.grants[0].kind = GRANT_READ;
    fixture_admitted(&f);
    fixture_end(&f);
    /* Nor meant by accident. */
    fixture_start(&f, "[allow any]\nUser=*\n");
    f.peer.uid = 0;
    fixture_refused(&f, REASON_NOT_ALLOWED, "does not mean root");
    assert_false(may_connect(&f.peer, &f.policy));
    f.peer.uid = 7;
    fixture_admitted(&f);
    fixture_end(&f);
}

static void rules_name_users_and_groups(void **state)
{
    struct fixture f;

    fixture_start(&f, "[allow a]\nUser=7\n[allow b]\nGroup=saphan 50\n");
    fixture_refused(&f, REASON_NOT_ALLOWED, "uid 1000");
    assert_false(may_connect(&f.peer, &f.policy));
    f.peer.groups[1] = 990;
    fixture_admitted(&f);
    assert_true(may_connect(&f.peer, &f.policy));
    assert_string_equal(f.decision.rule->name, "b");
    f.peer.n_groups = 1; /* what stands behind the count does not count */
    fixture_refused(&f, REASON_NOT_ALLOWED, "uid 1000");
    f.peer.gid = 50;
    fixture_admitted(&f);
    f.peer = (struct peer){.uid = 7, .gid = 7};
    fixture_admitted(&f);
    assert_string_equal(f.decision.rule->name, "a");
    fixture_end(&f);
    fixture_start(&f, open_policy);
    policy_done(&f.policy);
    fixture_refused(&f, REASON_NOT_ALLOWED, "none of the policy's 0 rules");
    fixture_end(&f);
}

static void the_first_rule_that_lets_all(void **state)
{
    struct fixture f;

    fixture_start(&f, "[allow other]\nUser=5\nView=host\nWrite=/\n"
                      "[allow far]\nUser=1000\nWrite=/var\n"
                      "[allow near]\nUser=1000\nView=host\nWrite=/var\n"
                      "[allow fits]\nUser=1000\nView=host\nWrite=/srv\n"
                      "[allow late]\nUser=1000\nView=host\nWrite=/\n");
    f.request.view = VIEW_HOST;
    fixture_grant(&f, GRANT_WRITE, "/srv/x");
    fixture_admitted(&f);
    assert_string_equal(f.decision.rule->name, "fits");
    f.policy.n_rules -= 2; /* now none does: the nearest says why */
    fixture_refused(&f, REASON_GRANT_OUTSIDE_CEILING, "`near`");
    assert_int_equal(f.decision.n_refusals, 1);
    f.policy.n_rules += 2;
    fixture_end(&f);
}

static void no_rule_further_down_asks_less(void **state)
{
    struct fixture f;

    fixture_start(&f, "[allow hard]\nUser=1000\nRequire-Rung=landlock-net\nLegs-At-Once=2\n"
                      "[allow soft]\nUser=1000\n");
    f.machine.rungs[RUNG_LANDLOCK_NET] =
        (struct rung){.state = RUNG_ABSENT, .value = 2, .detail = "ABI 2"};
    fixture_refused(&f, REASON_RUNG_DEMANDED,
        "the rule `hard` of p.policy wants `landlock-net` to hold; found: absent: ABI 2");
    f.machine.rungs[RUNG_LANDLOCK_NET].state = RUNG_HOLDS;
    f.usage.legs_now = 1;
    fixture_admitted(&f);
    f.usage.legs_now = 2;
    fixture_refused(&f, REASON_LEGS_TOO_MANY, "2 run; the rule `hard` of p.policy lets 2");
    fixture_end(&f);
}

static void how_many_and_how_often(void **state)
{
    struct fixture f;

    fixture_start(&f, open_policy);
    f.usage = (struct usage){63, 5999};
    fixture_admitted(&f);
    f.usage = (struct usage){64, 0};
    fixture_refused(&f, REASON_LEGS_TOO_MANY, "lets 64");
    f.usage = (struct usage){0, 6000};
    fixture_refused(&f, REASON_LEGS_TOO_OFTEN, "lets 6000");
    fixture_end(&f);
}

static void identities_that_cannot_be_mapped(void **state)
{
    struct fixture f;

    fixture_start(&f, "[allow any]\nUser=*\n");
    f.peer.uid = 65536;
    fixture_refused(&f, REASON_IDENTITY_OUT_OF_RANGE, "uid 65536");
    f.peer.uid = 65535;
    f.peer.gid = 65536;
    fixture_refused(&f, REASON_IDENTITY_OUT_OF_RANGE, "gid 65536");
    f.peer.gid = 65535;
    fixture_admitted(&f);
    f.peer.groups[1] = 200000;
    fixture_refused(&f, REASON_IDENTITY_OUT_OF_RANGE, "group 200000");
    f.peer.n_groups = 1;
    fixture_admitted(&f);
    f.peer.n_groups = 0;
    f.peer.n_groups_unread = GROUPS_MAX + 1;
    fixture_refused(&f, REASON_IDENTITY_OUT_OF_RANGE, "65 groups");
    fixture_end(&f);
}

static void which_limit_holds(void **state)
{
    struct fixture f;
    const struct limits *limits = &f.decision.limits;

    fixture_start(&f, narrow_policy);
    fixture_admitted(&f);
    assert_true(limits->tasks == 100);         /* the rule's default */
    assert_true(limits->wall_ms == 60000);     /* the same, beneath its ceiling */
    assert_true(limits->memory == 1ULL << 30); /* no default: the ceiling */
    assert_true(limits->files == 0 && limits->cpu_percent == 0 && limits->output == 0);
    f.request.limits = (struct limits){7, 8U << 20, 9, 10, 11, 12};
    fixture_admitted(&f);
    assert_memory_equal(limits, &f.request.limits, sizeof(*limits));
    fixture_end(&f);
}

static void limits_that_nothing_enforces(void **state)
{
    struct fixture f;

    fixture_start(&f, narrow_policy);
    f.machine.rungs[RUNG_CGROUP_MEMORY] =
        (struct rung){.state = RUNG_ABSENT, .detail = "not in cgroup.controllers"};
    fixture_refused(&f, REASON_LIMIT_UNENFORCEABLE,
        "the policy's: limit memory=1G; needs `cgroup-memory`; found: absent: not in "
        "cgroup.controllers");
    f.request.limits.memory = 64U << 20;
    fixture_refused(&f, REASON_LIMIT_UNENFORCEABLE, "asked: limit memory=64M");
    fixture_end(&f);
    fixture_start(&f, open_policy);
    f.request.limits.cpu_percent = 150;
    f.machine.rungs[RUNG_CGROUP_CPU].state = RUNG_NEVER_ASKED;
    fixture_refused(&f, REASON_LIMIT_UNENFORCEABLE,
        "asked: limit cpu=150; needs `cgroup-cpu`; found: never-asked");
    f.request.limits = (struct limits){.tasks = 5};
    f.machine.rungs[RUNG_CGROUP_PIDS].state = RUNG_ABSENT;
    fixture_admitted(&f);
    f.machine.rungs[RUNG_RLIMIT_NPROC].state = RUNG_BROKEN;
    fixture_refused(&f, REASON_LIMIT_UNENFORCEABLE, "limit tasks=5");
    /* These need nothing of the machine. */
    f.request.limits = (struct limits){.wall_ms = 1, .output = 1, .files = 4};
    fixture_admitted(&f);
    fixture_end(&f);
}

static void limits_that_no_leg_could_start_with(void **state)
{
    struct fixture f;

    fixture_start(&f, open_policy);
    f.request.limits = (struct limits){.files = 3};
    fixture_refused(&f, REASON_LIMIT_BELOW_LEAST, "asked: limit files=3; a leg needs at least 4");
    f.request.limits = (struct limits){.memory = (8U << 20) - 1};
    fixture_refused(&f, REASON_LIMIT_BELOW_LEAST, "a leg needs at least 8M");
    f.request.limits = (struct limits){1, 8U << 20, 1, 1, 1, 4};
    fixture_admitted(&f);
    fixture_end(&f);
    /* What a policy gives whoever asks for nothing is judged too. */
    fixture_start(&f, "[allow all]\nUser=*\nLimit-Default=files=2\n");
    fixture_refused(&f, REASON_LIMIT_BELOW_LEAST, "the policy's: limit files=2");
    f.request.limits.files = 16;
    fixture_admitted(&f);
    fixture_end(&f);
}

static void a_claim_that_nothing_backs(void **state)
{
    struct fixture f;

    fixture_start(&f, open_policy);
    f.machine.rungs[RUNG_NETNS] = (struct rung){
        .state = RUNG_REFUSED, .error = EPERM, .detail = "clone3 CLONE_NEWNET: EPERM"};
    fixture_refused(&f, REASON_CLAIM_UNBACKED,
        "claim `egress-cut` wants `netns` to hold; found: refused: clone3 CLONE_NEWNET: EPERM");
    assert_int_equal(f.decision.n_refusals, 2);
    f.request.net = NET_HOST; /* then it is not promised */
    fixture_admitted(&f);
    f.machine = (struct machine_row){0};
    fixture_refused(&f, REASON_CLAIM_UNBACKED, "never-asked");
    fixture_end(&f);
}

static void who_sees_whose_legs(void **state)
{
    struct fixture f;
    struct peer ann = {.uid = 1000, .gid = 1000}, bob = {.uid = 1001, .gid = 1001};
    struct peer root = {.uid = 0};

    fixture_start(&f, "[allow a]\nUser=1000\n[allow op]\nUser=1001\nOperator=yes\n");
    assert_true(may_see(&ann, 1000, &f.policy));
    assert_false(may_see(&ann, 1001, &f.policy));
    assert_false(may_see(&ann, 0, &f.policy));
    assert_true(may_see(&bob, 1000, &f.policy));
    assert_true(may_see(&bob, 0, &f.policy));
    assert_true(may_see(&root, 1000, &f.policy));
    fixture_end(&f);
}

static void more_reasons_than_are_told(void **state)
{
    struct fixture f;

    fixture_start(&f, "[allow a]\nUser=1000\n");
    for (unsigned int i = 0; i < GRANTS_MAX; i++)
        fixture_grant(&f, GRANT_WRITE, "/etc");
    fixture_refused(&f, REASON_GRANT_OUTSIDE_CEILING, "/etc");
    assert_int_equal(f.decision.n_refusals, REFUSALS_MAX);
    fixture_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_asked_is_the_narrowest_leg),
        cmocka_unit_test(each_claim_of_a_leg_is_named_with_its_rungs),
        cmocka_unit_test(what_no_policy_can_let),
        cmocka_unit_test(what_the_protocol_does_not_hold),
        cmocka_unit_test(grants_of_a_bad_form),
        cmocka_unit_test(a_way_that_the_leg_could_write),
        cmocka_unit_test(ceilings_go_by_whole_components),
        cmocka_unit_test(a_refusal_says_what_was_asked_and_what_is_let),
        cmocka_unit_test(a_home_that_is_none),
        cmocka_unit_test(a_folder_of_the_home),
        cmocka_unit_test(root_is_not_exempt),
        cmocka_unit_test(rules_name_users_and_groups),
        cmocka_unit_test(the_first_rule_that_lets_all),
        cmocka_unit_test(no_rule_further_down_asks_less),
        cmocka_unit_test(how_many_and_how_often),
        cmocka_unit_test(identities_that_cannot_be_mapped),
        cmocka_unit_test(which_limit_holds),
        cmocka_unit_test(limits_that_nothing_enforces),
        cmocka_unit_test(limits_that_no_leg_could_start_with),
        cmocka_unit_test(a_claim_that_nothing_backs),
        cmocka_unit_test(who_sees_whose_legs),
        cmocka_unit_test(more_reasons_than_are_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
