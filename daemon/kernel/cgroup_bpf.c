#include "cgroup_bpf.h"

#include "own.h"
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* r0 = 0, exit: the kernel's Documentation/bpf/standardization. */
static const struct bpf_insn refuse_all[] = {
    {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0},
    {.code = BPF_JMP | BPF_EXIT},
};

static long call(int command, union bpf_attr *attr)
{
    long r = syscall(SYS_bpf, command, attr, sizeof(*attr));

    return r < 0 ? -errno : r;
}

int cgroup_bpf_refusal(uint32_t type, uint32_t where, uint32_t hook)
{
    union bpf_attr attr;

    memset(&attr, 0, sizeof(attr));
    attr.prog_type = type;
    attr.expected_attach_type = where;
    attr.attach_btf_id = hook;
    attr.insns = (uintptr_t)refuse_all;
    attr.insn_cnt = array_size(refuse_all);
    attr.license = (uintptr_t) "GPL";
    return (int)call(BPF_PROG_LOAD, &attr);
}

static int hang(int command, int program, int cgroup, uint32_t where)
{
    union bpf_attr attr;

    memset(&attr, 0, sizeof(attr));
    attr.target_fd = (uint32_t)cgroup;
    attr.attach_bpf_fd = (uint32_t)program;
    attr.attach_type = where;
    attr.attach_flags = command == BPF_PROG_ATTACH ? BPF_F_ALLOW_MULTI : 0;
    return (int)call(command, &attr);
}

int cgroup_bpf_attach(int program, int cgroup, uint32_t where)
{
    return hang(BPF_PROG_ATTACH, program, cgroup, where);
}

int cgroup_bpf_detach(int program, int cgroup, uint32_t where)
{
    return hang(BPF_PROG_DETACH, program, cgroup, where);
}

int cgroup_bpf_cut_internet(int cgroup)
{
    auto_close int program =
        cgroup_bpf_refusal(BPF_PROG_TYPE_CGROUP_SOCK, BPF_CGROUP_INET_SOCK_CREATE, 0);

    return program < 0 ? program : cgroup_bpf_attach(program, cgroup, BPF_CGROUP_INET_SOCK_CREATE);
}
