/* filters_bpf.c - programs of ours in the kernel: at a cgroup's connect, at a security hook. */
#include "measures.h"

#include "cgroup_bpf.h"
#include "descriptor.h"
#include "own.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define BTF_MAGIC_NUMBER 0xEB9F
#define BTF_MAX (64U << 20)

/* To a port of loopback where nobody listens: ECONNREFUSED is the network's own answer. */
static int connect_nowhere(int family)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    auto_close int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -errno;
    if (family != AF_INET)
        return 0;
    return connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ? -errno : 0;
}

struct hook {
    uint32_t type, where;
    int family; /* of the try */
    const char *name;
};

/* True: with a program there the try is refused, and is not without it. */
static bool hook_decides(int cgroup, const struct hook *hook, struct rung *ret)
{
    auto_close int program = cgroup_bpf_refusal(hook->type, hook->where, 0);
    char what[64];
    int r;

    (void)snprintf(what, sizeof(what), "bpf(2), %s", hook->name);
    if (program < 0) {
        rung_refused_or_absent(ret, program, EINVAL, what);
        return false;
    }
    r = connect_nowhere(hook->family);
    if (r == -EPERM) {
        rung_broken(ret, r, "a socket without the program");
        return false;
    }
    r = cgroup_bpf_attach(program, cgroup, hook->where);
    if (r < 0) {
        rung_refused(ret, r, what);
        return false;
    }
    r = connect_nowhere(hook->family);
    (void)cgroup_bpf_detach(program, cgroup, hook->where);
    if (r != -EPERM) {
        rung_breached(ret, hook->name);
        return false;
    }
    return true;
}

void measure_cgroup_bpf(const struct bench *bench, struct rung *ret)
{
    static const struct hook hooks[] = {
        {BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_INET4_CONNECT, AF_INET, "a connect"},
        {BPF_PROG_TYPE_CGROUP_SOCK, BPF_CGROUP_INET_SOCK_CREATE, AF_INET, "a socket of IPv4"},
        {BPF_PROG_TYPE_CGROUP_SOCK, BPF_CGROUP_INET_SOCK_CREATE, AF_INET6, "a socket of IPv6"},
    };
    int r;

    if (bench->cgroup < 0) {
        *ret =
            (struct rung){.state = RUNG_NEVER_ASKED, .detail = "no cgroup was passed to work in"};
        return;
    }
    r = descriptor_write_knob(bench->cgroup, "cgroup.procs", "0");
    if (r < 0) {
        rung_broken(ret, r, "entering the cgroup");
        return;
    }
    for (size_t i = 0; i < array_size(hooks); i++) {
        if (!hook_decides(bench->cgroup, &hooks[i], ret))
            return;
    }
    rung_holds(
        ret, 0, "connects and sockets in the cgroup got EPERM; without a program they did not");
}

/* ---- at a security hook ---- */

struct btf_head {
    uint16_t magic;
    uint8_t version, flags;
    uint32_t header, types, types_size, strings, strings_size;
};

struct btf_entry {
    uint32_t name, info, size;
};

/* How many bytes follow the entry: the kernel's Documentation/bpf/btf.rst. */
static int64_t extra_of(uint32_t info)
{
    uint32_t kind = info >> 24 & 0x1f, count = info & 0xffff;

    switch (kind) {
    case 1:  /* int */
    case 14: /* var */
    case 17: /* decl tag */
        return 4;
    case 3: /* array */
        return 12;
    case 4:  /* struct */
    case 5:  /* union */
    case 15: /* datasec */
    case 19: /* enum64 */
        return 12 * (int64_t)count;
    case 6:  /* enum */
    case 13: /* function prototype */
        return 8 * (int64_t)count;
    default:
        return kind <= 19 ? 0 : -1;
    }
}

/* The number of the function NAME, or 0. */
static uint32_t find_function(const uint8_t *btf, size_t size, const char *name)
{
    const struct btf_head *head = (const void *)btf;
    const uint8_t *at, *end;
    const char *strings;
    uint32_t id = 1;

    if (size < sizeof(*head) || head->magic != BTF_MAGIC_NUMBER ||
        (uint64_t)head->header + head->strings + head->strings_size > size ||
        (uint64_t)head->header + head->types + head->types_size > size)
        return 0;
    strings = (const char *)btf + head->header + head->strings;
    at = btf + head->header + head->types;
    end = at + head->types_size;
    for (; at + sizeof(struct btf_entry) <= end; id++) {
        const struct btf_entry *entry = (const void *)at;
        int64_t extra = extra_of(entry->info);

        if (extra < 0)
            return 0;
        if ((entry->info >> 24 & 0x1f) == 12 && entry->name + strlen(name) < head->strings_size &&
            strcmp(strings + entry->name, name) == 0)
            return id;
        at += sizeof(*entry) + (size_t)extra;
    }
    return 0;
}

static int hook_number(uint32_t *ret)
{
    auto_close int fd = open("/sys/kernel/btf/vmlinux", O_RDONLY | O_CLOEXEC);
    auto_free uint8_t *btf = NULL;
    struct stat st;
    size_t length;
    int r;

    if (fd < 0 || fstat(fd, &st) < 0)
        return -errno;
    if (st.st_size <= 0 || st.st_size > BTF_MAX)
        return -EFBIG;
    btf = malloc((size_t)st.st_size);
    if (!btf)
        return -ENOMEM;
    r = descriptor_read_up_to(fd, btf, (size_t)st.st_size, &length);
    if (r < 0)
        return r;
    *ret = find_function(btf, length, "bpf_lsm_inode_mkdir");
    return *ret ? 0 : -ENOENT;
}

/* Only whether it may be loaded: to attach it would be to decide for the whole machine. */
void measure_bpf_lsm(const struct bench *bench, struct rung *ret)
{
    auto_close int control = -EBADF, program = -EBADF;
    uint32_t hook = 0;
    int r;

    (void)bench;
    control = cgroup_bpf_refusal(BPF_PROG_TYPE_CGROUP_SKB, BPF_CGROUP_INET_INGRESS, 0);
    if (control < 0) {
        rung_refused_or_absent(ret, control, EINVAL, "bpf(PROG_LOAD), of any kind");
        return;
    }
    r = hook_number(&hook);
    if (r < 0) {
        rung_refused_or_absent(ret, r, ENOENT, "the hook's number in /sys/kernel/btf/vmlinux");
        return;
    }
    program = cgroup_bpf_refusal(BPF_PROG_TYPE_LSM, BPF_LSM_MAC, hook);
    if (program < 0)
        rung_refused_or_absent(ret, program, EINVAL, "bpf(PROG_LOAD, lsm/inode_mkdir)");
    else
        rung_holds(ret, 0, "a program for inode_mkdir may be loaded; it was not attached");
}
