/* test_door.c - what the door gives up: each act that fails behind its walls beside the same act
 * without them; what it needs, beside; and the program itself, with a leg's sockets in its hands.
 */
#include "acts.h"
#include "started.h"

#include "door_walls.h"
#include "hosts.h"
#include "messages.h"
#include "outlets.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#define UID 0x6ffe0fffU /* the last of the doors' */
#define WAIT_MS 10000

static char empty_path[] = "/tmp/saphan-door-XXXXXX";

static int open_empty(void)
{
    return open(empty_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(empty_path) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    return rmdir(empty_path); /* it must be as empty as before */
}

/* ---- acts: true when the act was done ---- */

static int held[2], other[2]; /* pipes from before */

static bool act_open_proc(void)
{
    return open("/proc/self/status", O_RDONLY | O_CLOEXEC) >= 0;
}

static bool act_memfd(void)
{
    return memfd_create("x", MFD_CLOEXEC) >= 0;
}

static bool act_pipe(void)
{
    int ends[2];

    return pipe2(ends, O_CLOEXEC) == 0;
}

static bool act_netlink(void)
{
    return socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0) >= 0;
}

static bool act_packet(void)
{
    return socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0) >= 0;
}

static bool act_raw(void)
{
    return socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP) >= 0;
}

static bool act_listen(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    return fd >= 0 && listen(fd, 1) == 0;
}

static bool act_raise_limit(void)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_NOFILE, &limit) == 0 && setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

static bool act_many_descriptors(void)
{
    return act_have_descriptors(2300);
}

/* -- not behind the walls of a build with sanitizers, which need it themselves -- */
#ifndef SAPHAN_SANITIZED
static bool act_trace(void)
{
    return ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0;
}

static bool act_much_memory(void)
{
    return mmap(NULL, 512UL << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
           MAP_FAILED;
}
#endif

/* -- what it needs -- */

static bool need_internet(void)
{
    return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP) >= 0 &&
           socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP) >= 0;
}

static bool need_names(void)
{
    return socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0) >= 0;
}

static bool need_loop(void)
{
    return epoll_create1(EPOLL_CLOEXEC) >= 0;
}

static bool need_yield(void)
{
    return sched_yield() == 0;
}

static bool need_splice(void)
{
    char byte;

    return write(held[1], "x", 1) == 1 &&
           splice(held[0], NULL, other[1], NULL, 1, SPLICE_F_NONBLOCK) == 1 &&
           read(other[0], &byte, 1) == 1;
}

static bool need_memory(void)
{
    return mmap(NULL, 32UL << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
           MAP_FAILED;
}

/* Without the walls it has root's rights, and as many descriptors as it may have. */
static bool stage(bool walls)
{
    struct rlimit files = {.rlim_cur = 4096, .rlim_max = 4096};
    struct fault fault = {0};

    if (pipe2(held, O_CLOEXEC) < 0 || pipe2(other, O_CLOEXEC) < 0 ||
        setrlimit(RLIMIT_NOFILE, &files) < 0)
        return false;
    if (walls && door_enclose(UID, open_empty(), &fault) < 0) {
        fprintf(stderr, "%u %s %d\n", fault.step, fault.subject, fault.error);
        return false;
    }
    return true;
}

static void each_act_is_done_without_and_not_with_the_walls(void **state)
{
    static const struct named_act acts[] = {
        {"open", act_open},
        {"open /proc", act_open_proc},
        {"see", act_see},
        {"create", act_create},
        {"memfd", act_memfd},
        {"pipe", act_pipe},
        {"unix socket", act_unix_socket},
        {"netlink", act_netlink},
        {"packet socket", act_packet},
        {"raw socket", act_raw},
        {"listen", act_listen},
        {"fork", act_fork},
        {"exec", act_exec},
        {"signal", act_signal_others},
        {"become root", act_become_root},
        {"leave its root", act_leave_root},
        {"set a limit", act_raise_limit},
        {"many descriptors", act_many_descriptors},
#ifndef SAPHAN_SANITIZED
        {"trace", act_trace},
        {"much memory", act_much_memory},
#endif
    };

    (void)state;
    assert_walls_refuse(acts, array_size(acts), stage);
}

static void what_it_needs_is_done_with_the_walls(void **state)
{
    static const struct named_act needs[] = {{"internet", need_internet}, {"names", need_names},
        {"loop", need_loop}, {"yield", need_yield}, {"splice", need_splice},
        {"memory", need_memory}};

    (void)state;
    for (size_t i = 0; i < array_size(needs); i++) {
        int with = act_verdict(needs[i].act, stage, true);

        if (with != ACT_DONE)
            fail_msg("%s: with walls %d", needs[i].name, with);
    }
}

/* ---- the program ---- */

static int listener(uint16_t *ret_port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(fd, 16), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    *ret_port = ntohs(address.sin_port);
    return fd;
}

struct scene {
    struct started door;
    uint16_t http, socks;
    int server; /* what is on the list */
    uint16_t port;
};

static void serve(struct scene *scene)
{
    static struct seam_door serve;
    struct seam_writer writer;
    struct seam_message message;
    struct host_pattern pattern;
    char text[32];
    int sockets[] = {listener(&scene->http), listener(&scene->socks)};

    (void)snprintf(text, sizeof(text), "127.0.0.1:%u", scene->port);
    assert_int_equal(host_pattern_parse(text, false, &pattern), 0);
    seam_writer_init(&writer, SEAM_DOOR_SERVE, 0);
    memset(&serve, 0, sizeof(serve));
    serve.leg = 1;
    serve.resolv_conf = serve.authorities = -1;
    serve.n_hosts = 1;
    serve.hosts[0] = seam_put_host(&writer, &pattern);
    assert_int_equal(seam_send(scene->door.channel, &writer, &serve, sockets, 2), 0);
    seam_writer_done(&writer);
    close(sockets[0]);
    close(sockets[1]);
    message = started_hear(&scene->door, SEAM_DOOR_READY);
    assert_int_equal(((const struct seam_failed *)message.fixed)->error, 0);
    seam_message_done(&message);
}

static void begin(struct scene *scene)
{
    char *const argv[] = {(char[]){"saphan-door"}, (char[]){"1878921215"}, NULL};
    int root = open_empty();

    assert_int_equal(UID, 1878921215);
    scene->server = listener(&scene->port);
    scene->door = start_with("saphan-door", argv, root);
    close(root);
    serve(scene);
}

static void end(struct scene *scene)
{
    close(scene->server);
    assert_int_equal(started_end(&scene->door), 0); /* with its channel */
}

static int ask(const struct scene *scene, uint16_t port, char *answer, size_t size)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
        .sin_port = htons(scene->http),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct pollfd waiting = {.events = POLLIN};
    char request[64];
    ssize_t n;

    waiting.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(waiting.fd, (struct sockaddr *)&address, sizeof(address)), 0);
    (void)snprintf(request, sizeof(request), "CONNECT 127.0.0.1:%u HTTP/1.1\r\n\r\n", port);
    assert_true(send(waiting.fd, request, strlen(request), MSG_NOSIGNAL) > 0);
    assert_int_equal(poll(&waiting, 1, WAIT_MS), 1);
    n = recv(waiting.fd, answer, size - 1, 0);
    assert_true(n > 0);
    answer[n] = '\0';
    return waiting.fd;
}

static void it_serves_its_list_behind_its_walls(void **state)
{
    struct scene scene;
    char answer[2048], byte;
    struct pollfd waiting = {.events = POLLIN};
    uint16_t elsewhere;
    int client, server, unlisted = listener(&elsewhere);

    (void)state;
    begin(&scene);
    client = ask(&scene, scene.port, answer, sizeof(answer));
    assert_ptr_equal(strstr(answer, "HTTP/1.1 200"), answer);
    server = accept4(scene.server, NULL, NULL, SOCK_CLOEXEC);
    assert_true(server >= 0);
    assert_int_equal(send(server, "x", 1, MSG_NOSIGNAL), 1);
    waiting.fd = client;
    assert_int_equal(poll(&waiting, 1, WAIT_MS), 1);
    assert_int_equal(recv(client, &byte, 1, 0), 1);
    close(client);
    close(server);
    close(ask(&scene, elsewhere, answer, sizeof(answer))); /* another port of the same address */
    assert_ptr_equal(strstr(answer, "HTTP/1.1 403"), answer);
    waiting.fd = unlisted;
    assert_int_equal(poll(&waiting, 1, 0), 0);
    close(unlisted);
    end(&scene);
}

static void it_is_nobody_and_has_nothing(void **state)
{
    static const struct {
        const char *name, *wanted;
    } lines[] = {{"Uid", "1878921215\t1878921215\t1878921215\t1878921215"},
        {"Gid", "1878921215\t1878921215\t1878921215\t1878921215"}, {"Groups", ""},
        {"CapInh", "0000000000000000"}, {"CapPrm", "0000000000000000"},
        {"CapEff", "0000000000000000"}, {"CapBnd", "0000000000000000"},
        {"CapAmb", "0000000000000000"}, {"NoNewPrivs", "1"}, {"Seccomp", "2"}};
    char path[64], root[256] = "", own[256];
    struct scene scene;

    (void)state;
    begin(&scene);
    for (size_t i = 0; i < array_size(lines); i++)
        assert_status(scene.door.pid, lines[i].name, lines[i].wanted);
    status_line(getpid(), "CapEff", own, sizeof(own)); /* the control */
    assert_string_not_equal(own, "0000000000000000");
    (void)snprintf(path, sizeof(path), "/proc/%d/root", scene.door.pid);
    assert_true(readlink(path, root, sizeof(root) - 1) > 0);
    assert_string_equal(root, empty_path);
    assert_limit(scene.door.pid, "Max core file size", "0");
    assert_limit(scene.door.pid, "Max open files", "2200");
#ifndef SAPHAN_SANITIZED
    assert_limit(scene.door.pid, "Max address space", "268435456");
#endif
    end(&scene);
}

static void what_is_no_order_ends_it(void **state)
{
    struct seam_writer writer;
    struct scene scene;

    (void)state;
    begin(&scene);
    assert_int_equal(waitpid(scene.door.pid, NULL, WNOHANG), 0); /* the control: it lives */
    seam_writer_init(&writer, SEAM_GO, 0);
    assert_int_equal(seam_send(scene.door.channel, &writer, &(struct seam_end){0}, NULL, 0), 0);
    seam_writer_done(&writer);
    assert_int_equal(started_wait(&scene.door), 0);
    close(scene.door.channel);
    close(scene.server);
}

static void it_is_never_root(void **state)
{
    char *const argv[] = {(char[]){"saphan-door"}, (char[]){"0"}, NULL};
    int root = open_empty();
    struct started door = start_with("saphan-door", argv, root);

    (void)state;
    close(root);
    assert_int_equal(started_wait(&door), 2 << 8);
    close(door.channel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_act_is_done_without_and_not_with_the_walls),
        cmocka_unit_test(what_it_needs_is_done_with_the_walls),
        cmocka_unit_test(it_serves_its_list_behind_its_walls),
        cmocka_unit_test(it_is_nobody_and_has_nothing),
        cmocka_unit_test(what_is_no_order_ends_it),
        cmocka_unit_test(it_is_never_root),
    };
    int skip = without_root_skip("door");

    return skip ? skip : cmocka_run_group_tests_name("door", tests, set_up, tear_down);
}
