/* No message type of the wire contains itself, at any depth: protobuf-c recurses for each nested
 * message, and 34 KB of a type that does overflow its stack. */
#include "saphan.pb-c.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define DEPTH_MAX 8

static const ProtobufCMessageDescriptor *path[DEPTH_MAX + 1];

/* The depth below TYPE, or -1 when TYPE stands in the path to itself. */
static int depth_of(const ProtobufCMessageDescriptor *type, int above)
{
    int deepest = 0;

    if (above >= DEPTH_MAX)
        return -1;
    for (int i = 0; i < above; i++) {
        if (path[i] == type)
            return -1;
    }
    path[above] = type;
    for (unsigned int i = 0; i < type->n_fields; i++) {
        int depth;

        if (type->fields[i].type != PROTOBUF_C_TYPE_MESSAGE)
            continue;
        depth = depth_of(type->fields[i].descriptor, above + 1);
        if (depth < 0)
            return -1;
        if (depth + 1 > deepest)
            deepest = depth + 1;
    }
    return deepest;
}

static void test_no_type_contains_itself(void **state)
{
    (void)state;
    assert_int_equal(depth_of(&saphan__v1__client_frame__descriptor, 0), 2);
    assert_int_equal(depth_of(&saphan__v1__server_frame__descriptor, 0), 2);
}

/* The control: the walk does find a type that contains itself. */
static void test_the_walk_finds_one_that_does(void **state)
{
    ProtobufCFieldDescriptor field = {.name = "again", .type = PROTOBUF_C_TYPE_MESSAGE};
    ProtobufCMessageDescriptor type = {.name = "Loop", .n_fields = 1, .fields = &field};

    (void)state;
    field.descriptor = &type;
    assert_int_equal(depth_of(&type, 0), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_type_contains_itself),
        cmocka_unit_test(test_the_walk_finds_one_that_does),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
