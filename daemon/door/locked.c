#include "locked.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int locked_take(size_t size, char **ret)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int error;

    if (memory == MAP_FAILED)
        return -errno;
    if (mlock(memory, size) == 0 && madvise(memory, size, MADV_DONTDUMP) == 0) {
        *ret = memory;
        return 0;
    }
    error = errno;
    (void)munmap(memory, size);
    return -error;
}

static int check(struct locked_key *key)
{
    if (key->length > 0 && key->value[key->length - 1] == '\n')
        key->length--;
    if (key->length > 0 && key->value[key->length - 1] == '\r')
        key->length--;
    if (key->length == 0)
        return -EINVAL;
    for (size_t i = 0; i < key->length; i++) {
        unsigned char c = (unsigned char)key->value[i];

        if (c < 0x20 || c > 0x7e)
            return -EINVAL;
    }
    key->value[key->length] = '\0';
    return 0;
}

/* "Bearer sk-..." is told apart from "sk-...": a server may send back the latter alone. */
static void find_secret(struct locked_key *key)
{
    const char *at = key->value, *end = key->value + key->length;

    while (at < end) {
        const char *space = memchr(at, ' ', (size_t)(end - at)), *stop = space ? space : end;

        if ((size_t)(stop - at) > key->secret_length) {
            key->secret = at;
            key->secret_length = (size_t)(stop - at);
        }
        at = stop + 1;
    }
}

int locked_read(int file, struct locked_key *ret)
{
    struct locked_key key = {0};
    struct stat st;
    ssize_t n;
    int r;

    if (fstat(file, &st) < 0)
        return -errno;
    if (!S_ISREG(st.st_mode))
        return -EINVAL;
    r = locked_take(LOCKED_KEY_MAX, &key.value);
    if (r < 0)
        return r;
    while ((n = pread(
                file, key.value + key.length, LOCKED_KEY_MAX - key.length, (off_t)key.length)) > 0)
        key.length += (size_t)n;
    if (n < 0)
        r = -errno;
    else
        r = key.length == LOCKED_KEY_MAX ? -EFBIG : check(&key);
    if (r < 0) {
        explicit_bzero(key.value, LOCKED_KEY_MAX);
        (void)munmap(key.value, LOCKED_KEY_MAX);
        return r;
    }
    find_secret(&key);
    *ret = key;
    return 0;
}
