/* cgroup_bpf.h - programs of ours that decide what processes of a cgroup may do with sockets.
 *
 * bpf(2); the kernel's Documentation/bpf/prog_cgroup_sockopt.rst and its neighbours.  A program
 * that is attached goes with its cgroup; its descriptor need not stay open.
 */
#pragma once

#include <stdint.h>

/* A program that answers "no" to whatever it is asked: its descriptor (close-on-exec), or -errno.
 * TYPE: BPF_PROG_TYPE_*; WHERE: BPF_CGROUP_*, as it will be attached; HOOK: of a program at a
 * security hook that hook's number, else 0. */
int cgroup_bpf_refusal(uint32_t type, uint32_t where, uint32_t hook);

/* Beside what others have attached there, none of whom can let what it refuses.  0 or -errno. */
int cgroup_bpf_attach(int program, int cgroup, uint32_t where);
int cgroup_bpf_detach(int program, int cgroup, uint32_t where);

/* From now on no process of CGROUP (a directory) and of those below it can make a socket of IPv4 or
 * IPv6, of whatever type: socket(2) says EPERM.  0 or -errno. */
int cgroup_bpf_cut_internet(int cgroup);
