/* fuzz_layer - a layer's bytes into what unpacks it, in a folder of its own; then its accounts.
 *
 * The first byte is the compression that the manifest names.  Whatever the bytes are, nothing
 * beside that folder may come to be or change, the bounds hold, and a refusal says why.
 */
#include "clear.h"
#include "layer.h"
#include "passwd.h"

#include "own.h"
#include "text.h"

#include <fcntl.h>
#include <sha256.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define BYTES_MAX (1U << 20)
#define ENTRIES_MAX 200

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static char above[] = "/tmp/saphan-fuzz-XXXXXX";
static int folder = -1, beside = -1;

static void leave(void)
{
    (void)clear_directory(folder);
    (void)unlinkat(beside, "beside", 0);
    (void)unlinkat(beside, "in", AT_REMOVEDIR);
    (void)rmdir(above);
}

static void enter(void)
{
    int file;

    if (!mkdtemp(above))
        abort();
    beside = open(above, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (beside < 0 || mkdirat(beside, "in", 0755) < 0)
        abort();
    folder = openat(beside, "in", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    file = openat(beside, "beside", O_WRONLY | O_CREAT | O_CLOEXEC, 0640);
    if (folder < 0 || file < 0 || write(file, "whole", 5) != 5)
        abort();
    (void)close(file);
    (void)atexit(leave);
}

/* Beside it there is what was, as it was. */
static void look_beside(const struct stat *before)
{
    struct stat file, top;

    if (fstatat(beside, "beside", &file, AT_SYMLINK_NOFOLLOW) < 0 || file.st_size != 5 ||
        file.st_mode != (S_IFREG | 0640) || file.st_nlink != 1 || file.st_uid != geteuid())
        abort();
    if (fstat(beside, &top) < 0 || top.st_mtim.tv_sec != before->st_mtim.tv_sec ||
        top.st_mtim.tv_nsec != before->st_mtim.tv_nsec || top.st_mode != before->st_mode)
        abort();
}

static int count(void *context, const struct passwd_entry *entry)
{
    if (entry->id > 65535 || entry->gid > 65535 || !entry->name[0] || strchr(entry->name, ':'))
        abort();
    return ++*(unsigned int *)context > 1000;
}

static void unpack(const struct layer_source *layer)
{
    struct trouble trouble = {0};
    unsigned int accounts = 0;
    struct tree tree;
    int r;

    if (tree_init(&tree, folder) < 0)
        abort();
    tree.max_bytes = BYTES_MAX;
    tree.max_entries = ENTRIES_MAX;
    r = layer_unpack(layer, &tree, &trouble);
    if (r == 0 ? tree.bytes > BYTES_MAX || tree.entries > ENTRIES_MAX
               : trouble.reason == REASON_NONE || !trouble.detail[0])
        abort();
    tree_done(&tree);
    if (passwd_read(&folder, 1, "passwd", count, &accounts) < 0 ||
        passwd_read(&folder, 1, "group", count, &accounts) < 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    auto_close int blob = -EBADF;
    struct layer_source layer = {.name = "layer"};
    char digest[SHA256_DIGEST_STRING_LENGTH];
    struct stat before;

    if (size < 2)
        return 0;
    if (folder < 0)
        enter();
    blob = memfd_create("layer", MFD_CLOEXEC);
    if (blob < 0 || write(blob, bytes + 1, size - 1) != (ssize_t)(size - 1) ||
        fstat(beside, &before) < 0)
        abort();
    layer.compression = (enum compression)(bytes[0] % (COMPRESSION_FOUND + 1));
    (void)SHA256Data(bytes + 1, size - 1, digest); /* right where nothing is compressed */
    if (text_parse_sha256(digest, layer.content) < 0)
        abort();
    layer.blob = (struct blob){.fd = blob, .size = size - 1};
    unpack(&layer);
    look_beside(&before);
    if (clear_directory(folder) < 0)
        abort();
    return 0;
}
