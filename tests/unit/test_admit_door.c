/* test_admit_door.c - hosts and forwards: the ceiling of a policy, and what a request may narrow.
 */
#include "admit_fixture.h"
#include "text.h"

static const char door_policy[] = "[allow door]\n"
                                  "User=1000\n"
                                  "Boundary=domain\n"
                                  "View=minimal\n"
                                  "Net=none door\n"
                                  "Host=*.example.org:* api.other.org 10.0.0.5:80\n"
                                  "Forward-Unix=/run/model\n"
                                  "Vendor=*\n";

static void ask_host(struct fixture *f, const char *text)
{
    assert_int_equal(host_pattern_parse(text, false, &f->request.hosts[f->request.n_hosts++]), 0);
}

static void ask_forward(struct fixture *f, uint16_t port, const char *target)
{
    struct forward *forward = &f->request.forwards[f->request.n_forwards++];

    *forward = (struct forward){.port = port};
    assert_int_equal(forward_parse_target(target, forward), 0);
}

static void start(struct fixture *f, const char *policy)
{
    fixture_start(f, policy);
    f->request.net = NET_DOOR;
}

static void a_door_claims_the_list_and_no_cut(void **state)
{
    uint64_t claims = 0;
    struct fixture f;

    start(&f, door_policy);
    ask_host(&f, "a.example.org:8443");
    fixture_admitted(&f);
    for (uint32_t i = 0; i < f.decision.n_claims; i++)
        claims |= UINT64_C(1) << f.decision.claims[i].claim;
    assert_true(claims & UINT64_C(1) << CLAIM_EGRESS_LISTED);
    assert_false(claims & UINT64_C(1) << CLAIM_EGRESS_CUT);
    f.machine.rungs[RUNG_NETNS].state = RUNG_ABSENT;
    fixture_refused(&f, REASON_CLAIM_UNBACKED, "egress-listed");
    fixture_end(&f);
}

/* The lesser walls: each by its own name, with its own claim, and none in another's place. */
static void lesser_walls_claim_what_they_cut(void **state)
{
    static const struct {
        enum net net;
        enum claim_id claim;
        enum rung_id rung;
    } walls[] = {{NET_LANDLOCK, CLAIM_TCP_CUT, RUNG_LANDLOCK_NET},
        {NET_CGROUP_BPF, CLAIM_INTERNET_CUT, RUNG_CGROUP_BPF}};
    struct fixture f;

    for (size_t i = 0; i < sizeof(walls) / sizeof(walls[0]); i++) {
        uint64_t claims = 0;

        fixture_start(&f, "[allow hard]\nUser=1000\nNet=none landlock-net cgroup-bpf\nVendor=*\n");
        f.machine.rungs[RUNG_NETNS].state = RUNG_REFUSED;
        fixture_refused(&f, REASON_CLAIM_UNBACKED, "egress-cut");
        f.request.net = walls[i].net;
        fixture_admitted(&f);
        for (uint32_t k = 0; k < f.decision.n_claims; k++)
            claims |= UINT64_C(1) << f.decision.claims[k].claim;
        assert_true(claims & UINT64_C(1) << walls[i].claim);
        assert_false(claims & (UINT64_C(1) << CLAIM_EGRESS_CUT | UINT64_C(1) << CLAIM_SOCKETS_SHUT |
                                  UINT64_C(1) << walls[1 - i].claim));
        f.machine.rungs[walls[i].rung].state = RUNG_ABSENT;
        fixture_refused(&f, REASON_CLAIM_UNBACKED, rung_slug(walls[i].rung));
        fixture_end(&f);
        fixture_start(&f, door_policy);
        f.request.net = walls[i].net;
        fixture_refused(&f, REASON_NET_NOT_ALLOWED, net_name(walls[i].net));
        fixture_end(&f);
    }
    fixture_start(&f, "[allow hard]\nUser=1000\nBoundary=container\nNet=landlock-net\nVendor=*\n");
    f.request.net = NET_LANDLOCK;
    f.request.boundary = BOUNDARY_CONTAINER;
    fixture_refused(&f, REASON_NET_UNAVAILABLE, "no Landlock domain");
    fixture_end(&f);
}

static void a_request_only_narrows(void **state)
{
    static const char *const good[] = {
        "*.example.org", "*.a.example.org:80", "b.example.org", "api.other.org", "10.0.0.5:80"};
    static const char *const bad[] = {"example.org", "*.org", "api.other.org:80", "other.org",
        "10.0.0.5", "10.0.0.6:80", "127.0.0.1:80", "8.8.8.8", "api.other.org.evil"};
    struct fixture f;

    start(&f, door_policy);
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        f.request.n_hosts = 0;
        ask_host(&f, good[i]);
        fixture_admitted(&f);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        f.request.n_hosts = 0;
        ask_host(&f, bad[i]);
        fixture_refused(&f, REASON_HOST_OUTSIDE_CEILING, bad[i]);
    }
    fixture_end(&f);
}

static void an_empty_list_is_nothing(void **state)
{
    struct fixture f;

    start(&f, "[allow a]\nUser=1000\nBoundary=domain\nView=minimal\nNet=door\nVendor=*\n");
    fixture_admitted(&f); /* a door that leads nowhere */
    ask_host(&f, "example.org");
    fixture_refused(&f, REASON_HOST_OUTSIDE_CEILING, "lets: nothing");
    f.request.n_hosts = 0;
    ask_forward(&f, 8080, "example.org:80");
    fixture_refused(&f, REASON_FORWARD_OUTSIDE_CEILING, "lets: nothing");
    f.request.n_forwards = 0;
    ask_forward(&f, 8080, "unix:/run/model/x.sock");
    fixture_refused(&f, REASON_FORWARD_OUTSIDE_CEILING, "lets: nothing");
    fixture_end(&f);
}

static void forwards_are_held_to_the_ceiling(void **state)
{
    struct fixture f;

    start(&f, door_policy);
    ask_forward(&f, 8080, "https://api.other.org");
    ask_forward(&f, 8081, "unix:/run/model/x.sock");
    ask_forward(&f, 8082, "a.example.org:25");
    fixture_admitted(&f);
    ask_forward(&f, 8083, "unix:/run/docker.sock");
    fixture_refused(&f, REASON_FORWARD_OUTSIDE_CEILING, "docker.sock");
    f.request.n_forwards = 3;
    ask_forward(&f, 8081, "a.example.org:26");
    fixture_refused(&f, REASON_REQUEST_MALFORMED, "two forwards");
    f.request.n_forwards = 3;
    ask_forward(&f, DOOR_PORT_HTTP, "a.example.org:26");
    fixture_refused(&f, REASON_REQUEST_MALFORMED, "3128");
    fixture_end(&f);
}

static void hosts_need_a_door(void **state)
{
    struct fixture f;

    start(&f, door_policy);
    f.request.net = NET_NONE;
    ask_host(&f, "a.example.org");
    fixture_refused(&f, REASON_REQUEST_MALFORMED, "net door");
    f.request.n_hosts = 0;
    f.request.net = NET_HOST;
    fixture_refused(&f, REASON_NET_NOT_ALLOWED, "host");
    fixture_end(&f);
}

static void who_may_widen_a_list(void **state)
{
    struct peer ann = {.uid = 1000}, bob = {.uid = 1001};
    struct host_pattern inside, outside;
    struct fixture f;

    start(&f, door_policy);
    assert_int_equal(host_pattern_parse("x.example.org", false, &inside), 0);
    assert_int_equal(host_pattern_parse("x.evil.org", false, &outside), 0);
    assert_true(may_allow(&ann, &inside, &f.policy));
    assert_false(may_allow(&ann, &outside, &f.policy));
    assert_false(may_allow(&bob, &inside, &f.policy));
    fixture_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_door_claims_the_list_and_no_cut),
        cmocka_unit_test(lesser_walls_claim_what_they_cut),
        cmocka_unit_test(a_request_only_narrows),
        cmocka_unit_test(an_empty_list_is_nothing),
        cmocka_unit_test(forwards_are_held_to_the_ceiling),
        cmocka_unit_test(hosts_need_a_door),
        cmocka_unit_test(who_may_widen_a_list),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
