/* corpus - runs a fuzz target over the files of its corpus, without libFuzzer.
 *
 * Usage: TARGET FOLDER.  Each file is tried whole, then cut and spoilt in a fixed way, so that the
 * plain suite sees more than the files alone.
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INPUT_MAX (192U * 1024U)
#define SPOILT_MAX 2048U /* a longer input is spoilt at this many places, evenly spread */

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* A heap copy of exactly SIZE bytes, so that a sanitizer sees a read beyond it. */
static void try_input(const uint8_t *bytes, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);

    if (!copy)
        abort();
    memcpy(copy, bytes, size);
    (void)LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static void try_spoilt(uint8_t *bytes, size_t size)
{
    static const uint8_t flips[] = {0x01, 0x80, 0xff};
    size_t step = size / SPOILT_MAX + 1;

    try_input(bytes, size);
    for (size_t at = 0; at < size; at += step) {
        try_input(bytes, at);
        for (size_t i = 0; i < sizeof(flips); i++) {
            bytes[at] ^= flips[i];
            try_input(bytes, size);
            bytes[at] ^= flips[i];
        }
    }
}

static int try_file(const char *folder, const char *name)
{
    static uint8_t bytes[INPUT_MAX];
    char path[4096];
    FILE *file;
    size_t size;

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, "re");
    if (!file)
        return -errno;
    size = fread(bytes, 1, sizeof(bytes), file);
    (void)fclose(file);
    try_spoilt(bytes, size);
    return 0;
}

int main(int argc, char **argv)
{
    DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;
    struct dirent *entry;
    unsigned int count = 0;

    if (!folder) {
        (void)fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
        return 2;
    }
    while ((entry = readdir(folder))) {
        if (entry->d_name[0] == '.')
            continue;
        if (try_file(argv[1], entry->d_name) < 0)
            return 1;
        count++;
    }
    (void)closedir(folder);
    (void)printf("%u files\n", count);
    return count == 0; /* an empty corpus tests nothing */
}
