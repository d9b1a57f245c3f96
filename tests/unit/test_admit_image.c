/* test_admit_image.c - containers: whose images run, where grants stand, which capabilities are
 * held, and what is claimed then. */
#include "admit_fixture.h"
#include "capability.h"
#include "own.h"
#include <linux/capability.h>

static const char box_policy[] = "[allow box]\n"
                                 "User=1000 0\n"
                                 "Boundary=domain container\n"
                                 "View=minimal host\n"
                                 "Vendor=*\n"
                                 "Read=/\n"
                                 "Write=/\n"
                                 "Image=own debian-* tools\n"
                                 "Capabilities=CAP_CHOWN CAP_FOWNER\n";

#define BIT(name) (UINT64_C(1) << (name))

/* A container in a known image that the requester added. */
static void start(struct fixture *f, const char *policy)
{
    fixture_start(f, policy);
    f->request.boundary = BOUNDARY_CONTAINER;
    f->request.image = (struct asked_image){.name = "mine", .known = true, .owner = 1000};
}

static bool claims(const struct fixture *f, enum claim_id claim)
{
    for (uint32_t i = 0; i < f->decision.n_claims; i++) {
        if (f->decision.claims[i].claim == claim)
            return true;
    }
    return false;
}

static void whose_images_run(void **state)
{
    struct fixture f;
    struct asked_image *image = &f.request.image;

    start(&f, box_policy);
    fixture_admitted(&f);
    image->owner = 0; /* root's are everybody's */
    fixture_admitted(&f);
    image->owner = 1001;
    fixture_refused(&f, REASON_IMAGE_NOT_ALLOWED, "uid 1001");
    image->name = "tools"; /* by its name, whoever added it */
    fixture_admitted(&f);
    image->name = "debian-12";
    fixture_admitted(&f);
    image->name = "debian";
    fixture_refused(&f, REASON_IMAGE_NOT_ALLOWED, "debian");
    image->name = "tools2";
    fixture_refused(&f, REASON_IMAGE_NOT_ALLOWED, "tools2");
    image->known = false;
    fixture_refused(&f, REASON_IMAGE_UNKNOWN, "tools2");
    image->known = true;
    image->name = "tools";
    image->trouble = REASON_USER_UNKNOWN;
    strcpy(image->trouble_detail, "asked: user 01");
    fixture_refused(&f, REASON_USER_UNKNOWN, "user 01");
    fixture_end(&f);
}

static void what_goes_with_a_container_alone(void **state)
{
    struct fixture f;

    start(&f, box_policy);
    f.request.view = VIEW_HOST;
    fixture_refused(&f, REASON_VIEW_UNAVAILABLE, "root of its own");
    f.request.view = VIEW_UNSET;
    f.request.boundary = BOUNDARY_DOMAIN;
    fixture_refused(&f, REASON_IMAGE_NEEDED, "image mine");
    f.request.image.name = NULL;
    f.request.wants_container = true;
    fixture_refused(&f, REASON_IMAGE_NEEDED, "boundary domain");
    f.request.wants_container = false;
    f.request.writable_root = true;
    fixture_refused(&f, REASON_IMAGE_NEEDED, "boundary domain");
    f.request.boundary = BOUNDARY_CONTAINER;
    f.request.writable_root = false;
    fixture_refused(&f, REASON_IMAGE_NEEDED, "no image");
    fixture_end(&f);
}

static void where_grants_stand(void **state)
{
    static const char *const no[] = {"/", "/proc", "/proc/1", "/sys/x", "/dev", "/dev/shm", "x",
        "/a/../b", "/a/", "//a", "/a//b", "/./a", ""};
    static const char *const yes[] = {"/work", "/procs", "/system", "/device/x", "/tmp/x", "/etc"};
    struct fixture f;

    start(&f, box_policy);
    fixture_grant(&f, GRANT_WRITE, "/srv/x");
    for (size_t i = 0; i < array_size(yes); i++) {
        f.request.grants[0].target = yes[i];
        fixture_admitted(&f);
    }
    for (size_t i = 0; i < array_size(no); i++) {
        f.request.grants[0].target = no[i];
        fixture_refused(&f, REASON_GRANT_TARGET, "/srv/x");
    }
    f.request.grants[0].target = NULL; /* at its own path, which may be such a place, too */
    fixture_admitted(&f);
    f.request.grants[0].path = "/sys/fs";
    fixture_refused(&f, REASON_GRANT_TARGET, "/sys/fs");
    f.request.grants[0].path = "/srv/x";
    f.request.grants[0].target = "/work";
    f.request.boundary = BOUNDARY_DOMAIN;
    f.request.image.name = NULL;
    fixture_refused(&f, REASON_GRANT_TARGET, "in a domain");
    fixture_end(&f);
}

static void capabilities_are_refused_by_name(void **state)
{
    struct fixture f;

    start(&f, box_policy);
    f.request.wants_container = true;
    f.request.capabilities = BIT(CAP_CHOWN);
    fixture_admitted(&f);
    assert_true(f.decision.capabilities == BIT(CAP_CHOWN));
    f.request.capabilities = BIT(CAP_CHOWN) | BIT(CAP_FSETID);
    fixture_refused(&f, REASON_CAPABILITY_NOT_ALLOWED, "asked: CAP_CHOWN CAP_FSETID");
    fixture_refused(&f, REASON_CAPABILITY_NOT_ALLOWED, "lets: CAP_CHOWN CAP_FOWNER");
    f.request.capabilities = BIT(CAP_SYS_ADMIN); /* what no policy can list */
    fixture_refused(&f, REASON_CAPABILITY_NOT_ALLOWED, "lets: CAP_CHOWN CAP_FOWNER");
    f.request.capabilities = BIT(CAP_CHOWN);
    f.request.boundary = BOUNDARY_DOMAIN;
    f.request.image.name = NULL;
    fixture_refused(&f, REASON_IMAGE_NEEDED, "boundary domain");
    fixture_end(&f);

    start(&f, "[allow x]\nUser=1000\nBoundary=container\nImage=own\n");
    fixture_admitted(&f);
    f.request.capabilities = BIT(CAP_CHOWN);
    fixture_refused(&f, REASON_CAPABILITY_NOT_ALLOWED, "lets: none");
    fixture_end(&f);
}

static void what_is_claimed_of_them(void **state)
{
    struct fixture f;

    start(&f, box_policy);
    fixture_admitted(&f);
    assert_true(f.decision.capabilities == 0);
    assert_true(claims(&f, CLAIM_NO_PRIVILEGE) && !claims(&f, CLAIM_PRIVILEGE_LISTED));
    f.request.capabilities = BIT(CAP_FOWNER);
    fixture_admitted(&f);
    assert_true(!claims(&f, CLAIM_NO_PRIVILEGE) && claims(&f, CLAIM_PRIVILEGE_LISTED));
    f.machine.rungs[RUNG_CAPABILITIES].state = RUNG_REFUSED;
    fixture_refused(&f, REASON_CLAIM_UNBACKED, "privilege-listed");
    fixture_end(&f);

    start(&f, "[allow x]\nUser=1000\nBoundary=container\nImage=own\nNested=allow\n"
              "Capabilities=CAP_CHOWN\n");
    f.request.capabilities = BIT(CAP_CHOWN);
    fixture_admitted(&f);
    assert_true(!claims(&f, CLAIM_NO_PRIVILEGE) && !claims(&f, CLAIM_PRIVILEGE_LISTED));
    fixture_end(&f);
}

static void what_a_container_rests_on(void **state)
{
    struct fixture f;

    start(&f, box_policy);
    f.machine.rungs[RUNG_LANDLOCK].state = RUNG_ABSENT; /* left to the vendor */
    fixture_admitted(&f);
    f.machine.rungs[RUNG_OVERLAY].state = RUNG_REFUSED;
    fixture_refused(&f, REASON_CLAIM_UNBACKED, "`overlay`");
    fixture_end(&f);
}

static void names_of_capabilities(void **state)
{
    static const char *const no[] = {"", "CHOWN", "cap_chown", "CAP_SYS_ADMIN", "CAP_SETUID",
        "CAP_KILL", "CAP_CHOWN ", "CAP_CHOWNX", "0", "*"};
    char text[CAPABILITIES_TEXT_MAX];
    uint64_t bit = 7;

    for (size_t i = 0; i < array_size(no); i++)
        assert_int_equal(capability_parse(no[i], &bit), -EINVAL);
    assert_true(bit == 7);
    assert_int_equal(capability_parse("CAP_NET_BIND_SERVICE", &bit), 0);
    assert_true(bit == BIT(CAP_NET_BIND_SERVICE));
    capabilities_format(capabilities_known(), text);
    assert_string_equal(text, CAPABILITY_NAMES);
    capabilities_format(0, text);
    assert_string_equal(text, "none");
}

static void who_adds_sees_and_removes(void **state)
{
    static const char policy[] = "[allow a]\nUser=1000\nImage=own\nImage-Add=yes\n"
                                 "[allow b]\nUser=1001\nImage=tools\n"
                                 "[allow c]\nUser=1002\nOperator=yes\n";
    struct fixture f;
    struct peer other = {.uid = 1001, .gid = 1001}, operator= {.uid = 1002, .gid = 1002};

    fixture_start(&f, policy);
    assert_non_null(may_add_images(&f.peer, &f.policy));
    assert_null(may_add_images(&other, &f.policy));
    assert_true(may_change_image(&f.peer, 1000, &f.policy));
    assert_false(may_change_image(&f.peer, 1001, &f.policy));
    assert_false(may_change_image(&other, 1001, &f.policy)); /* its own, and may not add */
    assert_true(may_see_image(&f.peer, "x", 1000, &f.policy));
    assert_false(may_see_image(&f.peer, "tools", 1001, &f.policy));
    assert_true(may_see_image(&other, "tools", 1000, &f.policy));
    assert_false(may_see_image(&other, "x", 1000, &f.policy));
    assert_true(may_see_image(&operator, "x", 1000, &f.policy));
    fixture_end(&f);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(whose_images_run),
        cmocka_unit_test(what_goes_with_a_container_alone),
        cmocka_unit_test(where_grants_stand),
        cmocka_unit_test(capabilities_are_refused_by_name),
        cmocka_unit_test(what_is_claimed_of_them),
        cmocka_unit_test(what_a_container_rests_on),
        cmocka_unit_test(names_of_capabilities),
        cmocka_unit_test(who_adds_sees_and_removes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
