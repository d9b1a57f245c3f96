#include "passwd.h"

#include "descriptor.h"
#include "own.h"
#include "path.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

#define FILE_MAX (1U << 20)
#define ID_MAX 65535
#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"

static bool is_name(const char *text)
{
    size_t length = strlen(text);

    return length > 0 && length <= 32 && text[0] != '-' && !(text[0] >= '0' && text[0] <= '9') &&
           strspn(text, NAME_CHARACTERS) == length;
}

/* NAME:x:ID[:GID:...] */
static bool parse(char *line, bool group, struct passwd_entry *ret)
{
    char *fields[4] = {NULL}, *rest = line;
    uint64_t id, gid = 0;

    for (size_t i = 0; i < (group ? 3 : 4); i++) {
        fields[i] = strsep(&rest, ":");
        if (!fields[i])
            return false;
    }
    if (!is_name(fields[0]) || text_parse_uint(fields[2], ID_MAX, &id) < 0 ||
        (!group && text_parse_uint(fields[3], ID_MAX, &gid) < 0))
        return false;
    *ret = (struct passwd_entry){.group = group, .id = (uint32_t)id, .gid = (uint32_t)gid};
    (void)snprintf(ret->name, sizeof(ret->name), "%s", fields[0]);
    return true;
}

/* Opens etc/FILE of the topmost layer that has it.  -ENOENT: none, or it was taken away. */
static int open_topmost(const int *layers, uint32_t n_layers, const char *path)
{
    for (uint32_t i = n_layers; i-- > 0;) {
        auto_close int etc = -EBADF;
        struct stat st;
        char sign;
        int fd;

        if (fstatat(layers[i], "etc", &st, AT_SYMLINK_NOFOLLOW) < 0)
            continue;
        if (!S_ISDIR(st.st_mode))
            return -ENOENT;
        fd = path_open(
            layers[i], path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, PATH_BENEATH | PATH_NO_SYMLINKS);
        if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
            return fd;
        if (fd >= 0)
            close(fd);
        if (fd != -ENOENT)
            return -ENOENT; /* a link, a whiteout, no file */
        etc = path_open(layers[i], "etc", O_RDONLY | O_DIRECTORY, PATH_BENEATH | PATH_NO_SYMLINKS);
        if (etc >= 0 && fgetxattr(etc, "user.overlay.opaque", &sign, 1) == 1)
            return -ENOENT;
    }
    return -ENOENT;
}

int passwd_read(const int *layers, uint32_t n_layers, const char *file,
    int (*each)(void *context, const struct passwd_entry *entry), void *context)
{
    auto_free char *path = text_format("etc/%s", file), *text = NULL;
    auto_close int fd = -EBADF;
    char *rest, *line;
    int r;

    if (!path)
        return -ENOMEM;
    fd = open_topmost(layers, n_layers, path);
    if (fd < 0)
        return fd == -ENOENT ? 0 : fd;
    text = calloc(1, FILE_MAX + 1);
    if (!text)
        return -ENOMEM;
    r = descriptor_read_all(fd, text, FILE_MAX);
    if (r < 0 && r != -ENODATA)
        return r;
    r = 0;
    for (rest = text; r == 0 && (line = strsep(&rest, "\n"));) {
        struct passwd_entry entry;

        if (parse(line, text_equal(file, "group"), &entry))
            r = each(context, &entry);
    }
    return r;
}
