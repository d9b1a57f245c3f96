#include "settings_file.h"

#include "descriptor.h"
#include "own.h"
#include "path.h"
#include <errno.h>
#include <fcntl.h>
#include <sha2.h>
#include <sys/stat.h>

#define FILE_MAX (4U * 1024U * 1024U)

int settings_file_read(int directory, const char *path, char **ret_text, size_t *ret_length)
{
    auto_close int fd = -EBADF;
    auto_free char *text = NULL;
    struct stat st;
    size_t length;
    int r;

    fd = path_open(directory, path, O_RDONLY | O_NONBLOCK | O_NOCTTY,
        directory == AT_FDCWD ? 0 : PATH_BENEATH);
    if (fd < 0)
        return fd == -ENOTDIR ? -ENOENT : fd;
    if (fstat(fd, &st) < 0)
        return -errno;
    if (!S_ISREG(st.st_mode))
        return -EINVAL;
    if (st.st_size > (off_t)FILE_MAX)
        return -EFBIG;
    text = malloc((size_t)st.st_size + 1);
    if (!text)
        return -ENOMEM;
    r = descriptor_read_up_to(fd, text, (size_t)st.st_size + 1, &length);
    if (r < 0)
        return r;
    if (length > (size_t)st.st_size)
        return -EBUSY; /* it grew while it was read */
    *ret_text = steal_ptr(text);
    *ret_length = length;
    return 0;
}

void settings_file_hash(const char *text, size_t length, uint8_t ret_sha256[32])
{
    SHA2_CTX context;

    SHA256Init(&context);
    SHA256Update(&context, (const uint8_t *)text, length);
    SHA256Final(ret_sha256, &context);
}
