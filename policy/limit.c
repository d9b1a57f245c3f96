#include "limit.h"

#include "text.h"
#include <errno.h>
#include <stddef.h>

/* Above these a number can only be a slip: the kernel's own PID_MAX_LIMIT, ten thousand cpus, the
 * default of fs.nr_open. */
#define TASKS_MAX (UINT64_C(4) << 20)
#define CPU_PERCENT_MAX UINT64_C(1000000)
#define FILES_MAX (UINT64_C(1) << 20)

/* Beneath these no leg starts: a program's loader opens one file beside the three streams; the
 * stub, the namespaces and the loader are counted in the leg's memory. */
#define FILES_LEAST 4
#define MEMORY_LEAST (UINT64_C(8) << 20)

static int parse_tasks(const char *text, uint64_t *ret)
{
    return text_parse_uint(text, TASKS_MAX, ret);
}

static int parse_cpu(const char *text, uint64_t *ret)
{
    return text_parse_uint(text, CPU_PERCENT_MAX, ret);
}

static int parse_files(const char *text, uint64_t *ret)
{
    return text_parse_uint(text, FILES_MAX, ret);
}

static const struct limit_row {
    const char *name;
    size_t offset;
    int (*parse)(const char *text, uint64_t *ret);
    uint64_t least;
} rows[LIMIT_COUNT] = {
    [LIMIT_TASKS] = {"tasks", offsetof(struct limits, tasks), parse_tasks, 1},
    [LIMIT_MEMORY] = {"memory", offsetof(struct limits, memory), text_parse_size, MEMORY_LEAST},
    [LIMIT_CPU] = {"cpu", offsetof(struct limits, cpu_percent), parse_cpu, 1},
    [LIMIT_WALL] = {"wall", offsetof(struct limits, wall_ms), text_parse_duration, 1},
    [LIMIT_OUTPUT] = {"output", offsetof(struct limits, output), text_parse_size, 1},
    [LIMIT_FILES] = {"files", offsetof(struct limits, files), parse_files, FILES_LEAST},
};

const char *limit_name(enum limit_id limit)
{
    return (size_t)limit < LIMIT_COUNT ? rows[limit].name : "?";
}

uint64_t limit_least(enum limit_id limit)
{
    return (size_t)limit < LIMIT_COUNT ? rows[limit].least : 0;
}

int limits_set(struct limits *limits, const char *name, const char *value)
{
    uint64_t number;

    for (size_t i = 0; i < LIMIT_COUNT; i++) {
        int r;

        if (!text_equal(rows[i].name, name))
            continue;
        r = rows[i].parse(value, &number);
        if (r < 0)
            return r;
        if (number == 0)
            return -ERANGE;
        *(uint64_t *)((char *)limits + rows[i].offset) = number;
        return 0;
    }
    return -ENOENT;
}

uint64_t limits_get(const struct limits *limits, enum limit_id limit)
{
    if ((size_t)limit >= LIMIT_COUNT)
        return 0;
    return *(const uint64_t *)((const char *)limits + rows[limit].offset);
}
