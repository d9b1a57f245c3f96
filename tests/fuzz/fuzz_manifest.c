/* fuzz_manifest - an image's bytes into what reads its JSON and lists its tar file.
 *
 * First byte 'T': the rest is a tar file as it was handed over.  'L': index, manifest and
 * configuration, with a NUL between each, are put into an OCI layout whose digests are right, so
 * that what lies behind a digest is reached.  `$M`, `$C` and `$L` in them become the digests of
 * manifest, configuration and the one layer.  'D': manifest.json and the configuration of a
 * docker-archive.
 */
#include "manifest.h"

#include "own.h"

#include <sha256.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BLOCK 512
#define PART_MAX 65536

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

struct part {
    char text[PART_MAX];
    size_t size;
    char digest[SHA256_DIGEST_STRING_LENGTH];
};

static const char layer[] = "a layer that nobody unpacks";

static void write_all(int fd, const void *bytes, size_t size)
{
    if (write(fd, bytes, size) != (ssize_t)size)
        abort();
}

static void add_file(int tar, const char *name, const void *bytes, size_t size)
{
    static const char zeros[BLOCK];
    char header[BLOCK] = {0};
    unsigned int sum = 0;

    (void)snprintf(header, 100, "%s", name);
    (void)snprintf(header + 100, 8, "%07o", 0644);
    (void)snprintf(header + 124, 12, "%011zo", size);
    memcpy(header + 148, "        ", 8);
    header[156] = '0';
    memcpy(header + 257,
        "ustar\0"
        "00",
        8);
    for (size_t i = 0; i < sizeof(header); i++)
        sum += (unsigned char)header[i];
    (void)snprintf(header + 148, 8, "%06o", sum);
    write_all(tar, header, sizeof(header));
    write_all(tar, bytes, size);
    write_all(tar, zeros, (BLOCK - size % BLOCK) % BLOCK);
}

static void add_blob(int tar, const struct part *part)
{
    char name[128];

    (void)snprintf(name, sizeof(name), "blobs/sha256/%s", part->digest);
    add_file(tar, name, part->text, part->size);
}

static void finish_part(struct part *part)
{
    (void)SHA256Data((const uint8_t *)part->text, part->size, part->digest);
}

/* The next part of what is left, with the digests of others in it. */
static void take_part(struct part *ret, const char **at, size_t *left, const struct part *manifest,
    const struct part *config, const struct part *content)
{
    ret->size = 0;
    while (*left > 0 && **at != '\0' && ret->size + sizeof(ret->digest) < PART_MAX) {
        const struct part *named = NULL;

        if (**at == '$' && *left > 1)
            named = (*at)[1] == 'M'   ? manifest
                    : (*at)[1] == 'C' ? config
                    : (*at)[1] == 'L' ? content
                                      : NULL;
        if (named) {
            memcpy(ret->text + ret->size, named->digest, strlen(named->digest));
            ret->size += strlen(named->digest);
        } else {
            ret->text[ret->size++] = **at;
        }
        *at += named ? 2 : 1;
        *left -= named ? 2 : 1;
    }
    if (*left > 0) {
        ++*at;
        --*left;
    }
    finish_part(ret);
}

static void make_layout(int tar, const char *at, size_t left)
{
    static struct part index, manifest, config, content;

    memcpy(content.text, layer, sizeof(layer));
    content.size = sizeof(layer);
    finish_part(&content);
    take_part(&config, &at, &left, NULL, NULL, &content);
    take_part(&manifest, &at, &left, NULL, &config, &content);
    take_part(&index, &at, &left, &manifest, &config, &content);
    add_file(tar, "oci-layout", "{}", 2);
    add_file(tar, "index.json", index.text, index.size);
    add_blob(tar, &manifest);
    add_blob(tar, &config);
    add_blob(tar, &content);
}

static void make_archive(int tar, const char *at, size_t left)
{
    static struct part manifest, config;

    take_part(&config, &at, &left, NULL, NULL, NULL);
    take_part(&manifest, &at, &left, NULL, &config, NULL);
    add_file(tar, "manifest.json", manifest.text, manifest.size);
    add_file(tar, "config.json", config.text, config.size);
    add_file(tar, "layer.tar", layer, sizeof(layer));
}

/* What is said to be good must be whole. */
static void look(const struct description *about)
{
    if (!about->architecture || about->n_layers == 0 || about->n_layers > IMAGE_LAYERS_MAX)
        abort();
    for (char **at = about->env; at && *at; at++) {
        if (strlen(*at) > PART_MAX)
            abort();
    }
}

static void read_image(int tar, const char *reference)
{
    static struct description about;
    struct trouble trouble = {0};
    struct source source;
    int r;

    if (source_open(&source, tar, &trouble) == 0 && manifest_is_there(&source)) {
        r = manifest_read(&source, reference, &about, &trouble);
        if (r == 0)
            look(&about);
        else if (trouble.reason == REASON_NONE || !trouble.detail[0])
            abort(); /* refused, and nobody would hear why */
        description_done(&about);
    }
    source_done(&source);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    auto_close int tar = memfd_create("image", MFD_CLOEXEC);
    const char *rest = (const char *)bytes + 1;

    if (tar < 0)
        abort();
    if (size < 2)
        return 0;
    if (bytes[0] == 'T')
        write_all(tar, rest, size - 1);
    else if (bytes[0] == 'L')
        make_layout(tar, rest, size - 1);
    else if (bytes[0] == 'D')
        make_archive(tar, rest, size - 1);
    else
        return 0;
    read_image(tar, NULL);
    read_image(tar, "a");
    return 0;
}
