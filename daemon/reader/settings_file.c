#include "settings_file.h"

#include "own.h"
#include "path.h"
#include <errno.h>
#include <fcntl.h>
#include <sha2.h>
#include <sys/stat.h>

#define FILE_MAX (4U * 1024U * 1024U)

static int read_all(int fd, char *text, size_t size, size_t *ret_length)
{
    size_t length = 0;

    while (length < size) {
        ssize_t n = read(fd, text + length, size - length);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            break;
        length += (size_t)n;
    }
    if (length == size)
        return -EBUSY; /* it grew while it was read */
    *ret_length = length;
    return 0;
}

int settings_file_read(int directory, const char *path, char **ret_text, size_t *ret_length)
{
    auto_close int fd = -EBADF;
    auto_free char *text = NULL;
    struct stat st;
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
    r = read_all(fd, text, (size_t)st.st_size + 1, ret_length);
    if (r == 0)
        *ret_text = steal_ptr(text);
    return r;
}

void settings_file_hash(const char *text, size_t length, uint8_t ret_sha256[32])
{
    SHA2_CTX context;

    SHA256Init(&context);
    SHA256Update(&context, (const uint8_t *)text, length);
    SHA256Final(ret_sha256, &context);
}
