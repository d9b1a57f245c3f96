/* test_rights.c - descriptors beside a message: all taken over, whatever came with them. */
#include "own.h"
#include "rights.h"
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cmocka.h>

#define SENT 3

struct ends {
    int pair[2];
    int files[SENT]; /* what is sent */
};

static int set_up(void **state)
{
    struct ends *ends = calloc(1, sizeof(*ends));

    assert_non_null(ends);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends->pair), 0);
    for (int i = 0; i < SENT; i++) {
        ends->files[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
        assert_true(ends->files[i] >= 0);
    }
    *state = ends;
    return 0;
}

static int tear_down(void **state)
{
    struct ends *ends = *state;

    for (int i = 0; i < SENT; i++)
        close(ends->files[i]);
    close(ends->pair[0]);
    close(ends->pair[1]);
    free(ends);
    return 0;
}

static void give(const struct ends *ends, size_t n)
{
    RIGHTS_SPACE(SENT) space;
    struct iovec part = {(void *)(uintptr_t) "x", 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

    rights_put(&message, &space, ends->files, n);
    assert_int_equal(sendmsg(ends->pair[0], &message, 0), 1);
}

/* Takes at most MAX of them with room for ROOM in the control message. */
static int take(const struct ends *ends, size_t room, size_t max, int *into, size_t *n)
{
    char byte, space[CMSG_SPACE(sizeof(int) * 16)] = {0};
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = space,
        .msg_controllen = CMSG_SPACE(sizeof(int) * room)};

    assert_int_equal(recvmsg(ends->pair[1], &message, MSG_CMSG_CLOEXEC), 1);
    return rights_take(&message, into, max, n);
}

/* The lowest number that is free: it tells whether one was left open. */
static int lowest_free(void)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    close(fd);
    return fd;
}

static void close_all(const int *descriptors, size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert_int_equal(close(descriptors[i]), 0);
}

static void what_is_put_is_taken(void **state)
{
    const struct ends *ends = *state;
    int into[SENT];
    size_t n = 0;
    struct stat sent, taken;

    give(ends, 0);
    assert_int_equal(take(ends, SENT, SENT, into, &n), 0);
    assert_int_equal(n, 0);
    give(ends, SENT);
    assert_int_equal(take(ends, SENT, SENT, into, &n), 0);
    assert_int_equal(n, SENT);
    assert_int_equal(fstat(ends->files[0], &sent), 0);
    assert_int_equal(fstat(into[2], &taken), 0);
    assert_int_equal(sent.st_ino, taken.st_ino);
    assert_int_equal(fcntl(into[0], F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    close_all(into, n);
}

static void those_without_room_are_closed(void **state)
{
    const struct ends *ends = *state;
    int into[SENT], before = lowest_free();
    size_t n = 1; /* one is there already */

    give(ends, SENT);
    assert_int_equal(take(ends, 8, 2, into, &n), RIGHTS_E_TOO_MANY);
    assert_int_equal(n, 2);
    close_all(into + 1, 1);
    assert_int_equal(lowest_free(), before);
    /* What the kernel had to cut off counts too. */
    give(ends, SENT);
    n = 0;
    assert_int_equal(take(ends, 1, 1, into, &n), RIGHTS_E_TOO_MANY);
    close_all(into, n);
    assert_int_equal(lowest_free(), before);
}

static void a_full_process_is_told_from_too_many(void **state)
{
    const struct ends *ends = *state;
    int into[SENT], before = lowest_free();
    struct rlimit limit;
    size_t n = 0;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    give(ends, SENT);
    give(ends, SENT);
    assert_int_equal(
        setrlimit(RLIMIT_NOFILE, &(struct rlimit){(rlim_t)before + 2, limit.rlim_max}), 0);
    assert_int_equal(take(ends, SENT, SENT, into, &n), -EMFILE);
    assert_int_equal(n, 2);
    close_all(into, n);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    n = 0;
    assert_int_equal(take(ends, SENT, SENT, into, &n), 0); /* control */
    close_all(into, n);
    assert_int_equal(lowest_free(), before);
}

static void what_is_no_descriptor_is_told(void **state)
{
    const struct ends *ends = *state;
    int into[SENT], on = 1;
    size_t n = 0;

    assert_int_equal(setsockopt(ends->pair[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)), 0);
    give(ends, SENT);
    assert_int_equal(take(ends, 16, SENT, into, &n), RIGHTS_E_FOREIGN);
    assert_int_equal(n, SENT); /* and yet taken over */
    close_all(into, n);
}

int main(void)
{
#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(what_is_put_is_taken),
        CASE(those_without_room_are_closed),
        CASE(a_full_process_is_told_from_too_many),
        CASE(what_is_no_descriptor_is_told),
    };

    return cmocka_run_group_tests_name("rights", tests, NULL, NULL);
}
