/* limit.h - what a leg may use up.  0 means: not limited by the request. */
#pragma once

#include <stdint.h>

struct limits {
    uint64_t tasks;       /* processes and threads */
    uint64_t memory;      /* bytes */
    uint64_t cpu_percent; /* of one cpu: 150 is one and a half */
    uint64_t wall_ms;     /* milliseconds from start to end */
    uint64_t output;      /* bytes of standard output and error together */
    uint64_t files;       /* open files a process (RLIMIT_NOFILE) */
};

/* The names are those of --limit and of policy files: tasks memory cpu wall output files. */
#define LIMIT_NAMES "tasks, memory, cpu, wall, output, files"
enum limit_id {
    LIMIT_TASKS,
    LIMIT_MEMORY,
    LIMIT_CPU,
    LIMIT_WALL,
    LIMIT_OUTPUT,
    LIMIT_FILES,
    LIMIT_COUNT
};

const char *limit_name(enum limit_id limit);

/* Parses NAME and its VALUE ("64M", "90s", "150") into LIMITS.  -ENOENT: no such limit; -EINVAL,
 * -ERANGE: the value; 0 as a value is -ERANGE: a limit of nothing is a mistake. */
int limits_set(struct limits *limits, const char *name, const char *value);

/* The least that a leg can be started with: its streams and one more file, the memory of what
 * builds it. */
uint64_t limit_least(enum limit_id limit);

uint64_t limits_get(const struct limits *limits, enum limit_id limit);
