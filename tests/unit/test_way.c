/* test_way.c - a path walked as text: never above the root, bounded, and cut short by nothing. */
#include "way.h"

#include "own.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void components(void **state)
{
    static struct way way;

    strcpy(way.rest, "//a/./b//");
    assert_true(way_next(&way));
    assert_string_equal(way.name, "a");
    assert_int_equal(way_push(&way), 0);
    assert_true(way_next(&way));
    assert_string_equal(way.name, ".");
    assert_true(way_next(&way));
    assert_string_equal(way.name, "b");
    assert_int_equal(way_push(&way), 0);
    assert_string_equal(way.done, "/a/b");
    assert_false(way_next(&way));
    for (unsigned int i = 0; i < 3; i++) /* the root is above nothing */
        way_pop(&way);
    assert_string_equal(way.done, "");
}

static void what_is_too_long(void **state)
{
    static struct way way;

    memset(way.rest, 'a', NAME_MAX + 1);
    assert_false(way_next(&way));
    assert_true(way.rest[0] != '\0'); /* the caller sees that it is not at the end */
    way.rest[NAME_MAX] = '\0';
    assert_true(way_next(&way));
    while (strlen(way.done) + strlen(way.name) + 1 < sizeof(way.done))
        assert_int_equal(way_push(&way), 0);
    assert_int_equal(way_push(&way), -ENAMETOOLONG);
}

static void links(void **state)
{
    static struct way way;
    char top[] = "/tmp/saphan-way-XXXXXX";
    auto_close int root = -EBADF;
    int link;

    assert_non_null(mkdtemp(top));
    root = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(
        root >= 0 && symlinkat("../x", root, "up") == 0 && symlinkat("/etc", root, "abs") == 0);
    strcpy(way.rest, "up/y");
    assert_true(way_next(&way));
    link = way_open_name(&way, root);
    assert_true(link >= 0);
    assert_int_equal(way_follow(&way, link), 0);
    close(link);
    assert_string_equal(way.rest, "../x/y");
    way = (struct way){.done = "/a/b", .rest = "y"};
    link = openat(root, "abs", O_PATH | O_NOFOLLOW | O_CLOEXEC);
    assert_int_equal(way_follow(&way, link), 0);
    assert_string_equal(way.done, "");
    assert_string_equal(way.rest, "/etc/y");
    for (unsigned int i = 1; i < WAY_LINKS_MAX; i++) {
        way.rest[0] = '\0';
        assert_int_equal(way_follow(&way, link), 0);
    }
    assert_int_equal(way_follow(&way, link), -ELOOP);
    close(link);
    way = (struct way){.done = "/abs"}; /* no link is followed on the way, nor ".." */
    assert_int_equal(way_open_here(&way, root), -ELOOP);
    way = (struct way){.done = "/.."};
    assert_int_equal(way_open_here(&way, root), -EXDEV);
    (void)unlinkat(root, "up", 0);
    (void)unlinkat(root, "abs", 0);
    assert_int_equal(rmdir(top), 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(components),
        cmocka_unit_test(what_is_too_long),
        cmocka_unit_test(links),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
