/* test_descriptor.c - reading and writing whole, names of descriptors, faults. */
#include "clock.h"
#include "descriptor.h"
#include "fault.h"
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cmocka.h>

/* A directory of its own, gone at the end. */
static int make_directory(void **state)
{
    char path[] = "/tmp/saphan-descriptor-XXXXXX";

    if (!mkdtemp(path))
        return -1;
    *state = strdup(path);
    return *state ? 0 : -1;
}

static int remove_directory(void **state)
{
    int fd = open(*state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    (void)unlinkat(fd, "file", 0);
    close(fd);
    (void)rmdir(*state);
    free(*state);
    return 0;
}

static int directory_of(void **state)
{
    int fd = open(*state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    assert_true(fd >= 0);
    return fd;
}

static void put(int directory, const void *bytes, size_t size)
{
    auto_close int fd = openat(directory, "file", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(descriptor_write_all(fd, bytes, size), 0);
}

static void a_file_as_a_string(void **state)
{
    auto_close int directory = directory_of(state);
    auto_free char *text = NULL, *again = NULL, *empty = NULL, *untouched = NULL;

    assert_int_equal(descriptor_read_file(directory, "file", 10, &text), -ENOENT);
    put(directory, "0123456789", 10);
    assert_int_equal(descriptor_read_file(directory, "file", 10, &text), 0);
    assert_string_equal(text, "0123456789");
    assert_int_equal(descriptor_read_file(directory, "file", 9, &untouched), -EFBIG);
    put(directory, "", 0);
    assert_int_equal(descriptor_read_file(directory, "file", 9, &empty), 0);
    assert_string_equal(empty, "");
    put(directory, "a\0b", 3);
    assert_int_equal(descriptor_read_file(directory, "file", 9, &untouched), -EILSEQ);
    put(directory, "\0", 1);
    assert_int_equal(descriptor_read_file(directory, "file", 9, &untouched), -EILSEQ);
    assert_int_equal(descriptor_read_file(directory, ".", 9, &untouched), -EISDIR);
    assert_null(untouched);
    put(directory, "x", 1);
    assert_int_equal(descriptor_read_file(-1, "file", 9, &again), -EBADF);
}

static void all_or_an_error(void **state)
{
    char bytes[8] = {0};
    int ends[2];

    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(descriptor_write_all(ends[1], "abc", 3), 0);
    assert_int_equal(descriptor_write_all(ends[1], "defgh", 5), 0);
    assert_int_equal(descriptor_read_all(ends[0], bytes, 6), 0);
    assert_memory_equal(bytes, "abcdef", 6);
    assert_int_equal(close_fd(&ends[1]), -EBADF);
    assert_int_equal(ends[1], -EBADF);
    assert_int_equal(descriptor_read_all(ends[0], bytes, 3), -ENODATA);
    assert_int_equal(descriptor_read_all(ends[0], bytes, 0), 0);
    close_fd(&ends[0]);
    assert_int_equal(descriptor_read_all(ends[0], bytes, 1), -EBADF);
    assert_int_equal(descriptor_write_all(ends[0], bytes, 1), -EBADF);
}

static void a_knob_is_never_made(void **state)
{
    auto_close int directory = directory_of(state);
    auto_free char *text = NULL;

    (void)unlinkat(directory, "file", 0);
    assert_int_equal(descriptor_write_knob(directory, "file", "1"), -ENOENT);
    put(directory, "old", 3);
    assert_int_equal(descriptor_write_knob(directory, "file", "new"), 0);
    assert_int_equal(descriptor_read_file(directory, "file", 9, &text), 0);
    assert_string_equal(text, "new");
}

static void the_kernels_name_of_a_descriptor(void **state)
{
    auto_close int directory = directory_of(state), memory = -EBADF, file = -EBADF;
    auto_free char *path = NULL, *untouched = NULL;

    assert_int_equal(descriptor_path(directory, &path), 0);
    assert_string_equal(path, *state);
    memory = memfd_create("x", MFD_CLOEXEC);
    assert_true(memory >= 0);
    assert_int_equal(descriptor_path(memory, &untouched), -ENOENT);
    put(directory, "x", 1);
    file = openat(directory, "file", O_RDONLY | O_CLOEXEC);
    assert_int_equal(unlinkat(directory, "file", 0), 0);
    assert_int_equal(descriptor_path(file, &untouched), -ENOENT);
    assert_true(descriptor_path(-1, &untouched) < 0);
    assert_null(untouched);
}

static void ownership_is_handed_over_once(void **state)
{
    char *text = strdup("x");
    char *taken = steal_ptr(text);
    int fd = 42;

    assert_null(text);
    assert_non_null(taken);
    free(taken);
    assert_int_equal(steal_fd(&fd), 42);
    assert_int_equal(fd, -EBADF);
    assert_int_equal(close_fd(&fd), -EBADF);
}

static void faults(void **state)
{
    struct fault fault = {0};
    char longest[2 * FAULT_SUBJECT_MAX];

    assert_int_equal(fault_set(&fault, 3, ENOENT, "%s/%d", "/srv", 7), -ENOENT);
    assert_int_equal(fault.step, 3);
    assert_int_equal(fault.error, ENOENT);
    assert_string_equal(fault.subject, "/srv/7");
    assert_int_equal(fault_set(NULL, 3, EPERM, "x"), -EPERM);
    memset(longest, 'x', sizeof(longest));
    longest[sizeof(longest) - 1] = '\0';
    assert_int_equal(fault_set(&fault, 1, EIO, "%s", longest), -EIO);
    assert_int_equal(strlen(fault.subject), FAULT_SUBJECT_MAX - 1);
    assert_string_equal(fault_errno_name(ENOENT), "ENOENT");
    assert_string_equal(fault_errno_name(4242), "errno 4242");
}

static void clocks_go_on(void **state)
{
    uint64_t before = clock_monotonic_us();

    assert_true(before > 0 && clock_monotonic_us() >= before);
    assert_true(clock_wall_ms() > INT64_C(1600000000000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_as_a_string),
        cmocka_unit_test(all_or_an_error),
        cmocka_unit_test(a_knob_is_never_made),
        cmocka_unit_test(the_kernels_name_of_a_descriptor),
        cmocka_unit_test(ownership_is_handed_over_once),
        cmocka_unit_test(faults),
        cmocka_unit_test(clocks_go_on),
    };

    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
