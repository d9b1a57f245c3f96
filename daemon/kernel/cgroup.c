#include "cgroup.h"

#include "descriptor.h"
#include "own.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define CGROUP_FILE_MAX (256 * 1024)

/* Undoes the octal escapes of mountinfo, in place. */
static void unescape(char *text)
{
    char *out = text;

    for (; *text; text++) {
        if (text[0] == '\\' && text[1] >= '0' && text[1] <= '3' && text[2] && text[3]) {
            *out++ = (char)((text[1] - '0') * 64 + (text[2] - '0') * 8 + (text[3] - '0'));
            text += 3;
        } else {
            *out++ = *text;
        }
    }
    *out = '\0';
}

/* The mount point of the first cgroup2 file system in /proc/self/mountinfo (proc_pid_mountinfo(5)).
 */
static int find_mount(char **ret_mount_point)
{
    auto_free char *table = NULL;
    char *line, *rest;
    int r;

    r = descriptor_read_file(AT_FDCWD, "/proc/self/mountinfo", 4 * CGROUP_FILE_MAX, &table);
    if (r < 0)
        return r;
    for (line = strtok_r(table, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char mount_point[512];
        const char *dash = strstr(line, " - ");

        if (!dash || !text_starts_with(dash, " - cgroup2 "))
            continue;
        if (sscanf(line, "%*s %*s %*s %*s %511s", mount_point) != 1)
            continue;
        unescape(mount_point);
        *ret_mount_point = strdup(mount_point);
        return *ret_mount_point ? 0 : -ENOMEM;
    }
    return -ENOENT;
}

static int find_own(char **ret_path)
{
    auto_free char *table = NULL;
    char *line, *end;
    int r;

    r = descriptor_read_file(AT_FDCWD, "/proc/self/cgroup", CGROUP_FILE_MAX, &table);
    if (r < 0)
        return r;
    line = text_starts_with(table, "0::") ? table : strstr(table, "\n0::");
    if (!line)
        return -ENOENT;
    line = strstr(line, "0::") + 3;
    end = strchr(line, '\n');
    if (end)
        *end = '\0';
    *ret_path = strdup(line);
    return *ret_path ? 0 : -ENOMEM;
}

int cgroup_open_own(int *ret_fd, char **ret_path)
{
    auto_free char *mount_point = NULL, *own = NULL, *path = NULL;
    int fd, r;

    r = find_mount(&mount_point);
    if (r == 0)
        r = find_own(&own);
    if (r < 0)
        return r;
    path = text_format("%s%s", mount_point, own);
    if (!path)
        return -ENOMEM;
    fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    *ret_fd = fd;
    *ret_path = steal_ptr(own);
    return 0;
}

int cgroup_make(int parent, const char *name, int *ret_fd)
{
    int fd;

    if (mkdirat(parent, name, 0755) < 0)
        return -errno;
    fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) {
        int error = errno;

        (void)unlinkat(parent, name, AT_REMOVEDIR);
        return -error;
    }
    *ret_fd = fd;
    return 0;
}

int cgroup_remove(int parent, const char *name)
{
    return unlinkat(parent, name, AT_REMOVEDIR) < 0 ? -errno : 0;
}

int cgroup_enter(int cgroup, int pid)
{
    char text[16];

    (void)snprintf(text, sizeof(text), "%d", pid);
    return descriptor_write_knob(cgroup, "cgroup.procs", text);
}

int cgroup_kill(int cgroup)
{
    return descriptor_write_knob(cgroup, "cgroup.kill", "1");
}

int cgroup_populated(int cgroup, bool *ret_populated)
{
    uint64_t value;
    int r = cgroup_counter(cgroup, "cgroup.events", "populated", &value);

    if (r == 0)
        *ret_populated = value != 0;
    return r;
}

int cgroup_controllers(int cgroup, const char *file, uint32_t *ret_bits)
{
    auto_free char *text = NULL;
    char *word, *rest;
    uint32_t bits = 0;
    int r;

    r = descriptor_read_file(cgroup, file, CGROUP_FILE_MAX, &text);
    if (r < 0)
        return r;
    for (word = strtok_r(text, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest)) {
        if (text_equal(word, "pids"))
            bits |= CGROUP_CONTROLLER_PIDS;
        else if (text_equal(word, "memory"))
            bits |= CGROUP_CONTROLLER_MEMORY;
        else if (text_equal(word, "cpu"))
            bits |= CGROUP_CONTROLLER_CPU;
    }
    *ret_bits = bits;
    return 0;
}

int cgroup_delegate(int cgroup, uint32_t bits, bool on)
{
    static const char *const names[] = {"pids", "memory", "cpu"};

    for (size_t i = 0; i < array_size(names); i++) {
        char word[16];
        int r;

        if (!(bits & 1U << i))
            continue;
        (void)snprintf(word, sizeof(word), "%c%s", on ? '+' : '-', names[i]);
        r = descriptor_write_knob(cgroup, "cgroup.subtree_control", word);
        if (r < 0)
            return r;
    }
    return 0;
}

int cgroup_limit(int cgroup, const char *file, uint64_t value)
{
    char text[32];

    (void)snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
    return descriptor_write_knob(cgroup, file, text);
}

int cgroup_limit_cpu(int cgroup, uint64_t percent)
{
    char text[64];

    (void)snprintf(text, sizeof(text), "%llu 100000", (unsigned long long)percent * 1000);
    return descriptor_write_knob(cgroup, "cpu.max", text);
}

int cgroup_counter(int cgroup, const char *file, const char *key, uint64_t *ret_value)
{
    auto_free char *text = NULL;
    char *line, *rest;
    int r;

    r = descriptor_read_file(cgroup, file, CGROUP_FILE_MAX, &text);
    if (r < 0)
        return r;
    for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        size_t length = strlen(key);

        if (text_starts_with(line, key) && line[length] == ' ')
            return text_parse_uint(line + length + 1, UINT64_MAX, ret_value);
    }
    return -ENODATA;
}
