/* measures.h - the measurements, a file for each family; each is one of struct rung_measure's. */
#pragma once

#include "attempt.h"

/* namespaces.c */
void measure_userns(const struct bench *bench, struct rung *ret);
void measure_mountns(const struct bench *bench, struct rung *ret);
void measure_pidns(const struct bench *bench, struct rung *ret);
void measure_netns(const struct bench *bench, struct rung *ret);
void measure_ipcns(const struct bench *bench, struct rung *ret);
void measure_utsns(const struct bench *bench, struct rung *ret);
void measure_cgroupns(const struct bench *bench, struct rung *ret);

/* mounts.c */
void measure_overlay(const struct bench *bench, struct rung *ret);
void measure_idmap(const struct bench *bench, struct rung *ret);
void measure_proc_mount(const struct bench *bench, struct rung *ret);

/* domains.c */
void measure_landlock(const struct bench *bench, struct rung *ret);
void measure_landlock_refer(const struct bench *bench, struct rung *ret);
void measure_landlock_truncate(const struct bench *bench, struct rung *ret);
void measure_landlock_net(const struct bench *bench, struct rung *ret);
void measure_landlock_ioctl(const struct bench *bench, struct rung *ret);
void measure_landlock_scope(const struct bench *bench, struct rung *ret);
void measure_landlock_audit(const struct bench *bench, struct rung *ret);

/* filters.c */
void measure_seccomp(const struct bench *bench, struct rung *ret);
void measure_seccomp_notify(const struct bench *bench, struct rung *ret);
void measure_tiocsti(const struct bench *bench, struct rung *ret);

/* privileges.c */
void measure_no_new_privs(const struct bench *bench, struct rung *ret);
void measure_capabilities(const struct bench *bench, struct rung *ret);

/* cgroups.c */
void measure_cgroup2(const struct bench *bench, struct rung *ret);
void measure_cgroup_kill(const struct bench *bench, struct rung *ret);
void measure_cgroup_pids(const struct bench *bench, struct rung *ret);
void measure_cgroup_memory(const struct bench *bench, struct rung *ret);
void measure_cgroup_cpu(const struct bench *bench, struct rung *ret);

/* filters_bpf.c */
void measure_cgroup_bpf(const struct bench *bench, struct rung *ret);
void measure_bpf_lsm(const struct bench *bench, struct rung *ret);

/* strangers.c */
void measure_separate_uid(const struct bench *bench, struct rung *ret);
void measure_unenclosed(const struct bench *bench, struct rung *ret);

/* facets.c: tells each, until TELL says otherwise than 0. */
typedef int tell_facet(const struct rung_facet *facet);
int measure_facets(const struct bench *bench, tell_facet *tell);

/* rights.c: bench->subject is one of these names. */
extern const char *const landlock_right_names[]; /* ends with NULL */
void measure_landlock_right(const struct bench *bench, struct rung *ret);
void measure_landlock_errata(const struct bench *bench, struct rung *ret);

/* mounts.c: bench->subject is a path. */
void measure_idmap_at(const struct bench *bench, struct rung *ret);

/* cgroups.c: bench->subject is a controller. */
void measure_controller(const struct bench *bench, struct rung *ret);

/* processes.c */
void measure_rlimit_nproc(const struct bench *bench, struct rung *ret);
void measure_pidfd(const struct bench *bench, struct rung *ret);
void measure_openat2(const struct bench *bench, struct rung *ret);
