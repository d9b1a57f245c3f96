#include "manifest.h"

#include "json_part.h"
#include "own.h"
#include "text.h"
#include <errno.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STRINGS_MAX 256
#define REFERENCE "org.opencontainers.image.ref.name"

static void json_free(json_t *json)
{
    json_decref(json);
}
DEFINE_AUTO(json_t *, json_free);

#if defined(__x86_64__)
#define ARCHITECTURE "amd64"
#elif defined(__aarch64__)
#define ARCHITECTURE "arm64"
#elif defined(__riscv)
#define ARCHITECTURE "riscv64"
#else
#error "what does the OCI image specification call this architecture?"
#endif

static const struct media_type {
    const char *name;
    enum compression compression;
} layer_types[] = {
    {"application/vnd.oci.image.layer.v1.tar", COMPRESSION_NONE},
    {"application/vnd.oci.image.layer.v1.tar+gzip", COMPRESSION_GZIP},
    {"application/vnd.oci.image.layer.v1.tar+zstd", COMPRESSION_ZSTD},
    {"application/vnd.oci.image.layer.nondistributable.v1.tar", COMPRESSION_NONE},
    {"application/vnd.oci.image.layer.nondistributable.v1.tar+gzip", COMPRESSION_GZIP},
    {"application/vnd.oci.image.layer.nondistributable.v1.tar+zstd", COMPRESSION_ZSTD},
    {"application/vnd.docker.image.rootfs.diff.tar", COMPRESSION_NONE},
    {"application/vnd.docker.image.rootfs.diff.tar.gzip", COMPRESSION_GZIP},
};
static const char *const manifest_types[] = {"application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json"};
static const char *const index_types[] = {"application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json"};
static const char *const config_types[] = {
    "application/vnd.oci.image.config.v1+json", "application/vnd.docker.container.image.v1+json"};

static bool is_one(const char *const *types, size_t count, const char *type)
{
    for (size_t i = 0; type && i < count; i++) {
        if (text_equal(types[i], type))
            return true;
    }
    return false;
}

static int unknown_type(const char *what, const char *type, struct trouble *trouble)
{
    return trouble_set(
        trouble, REASON_IMAGE_MEDIA_TYPE, 0, "%s: %.100s", what, type ? type : "none");
}

static bool is_there(const struct source *source, const char *name)
{
    struct blob blob;

    if (source_find(source, name, &blob) < 0)
        return false;
    blob_done(&blob);
    return true;
}

bool manifest_is_there(const struct source *source)
{
    return is_there(source, "oci-layout") || is_there(source, "manifest.json");
}

/* ---- which of them ---- */

static bool is_for_us(const json_t *descriptor)
{
    const json_t *platform = json_object_get(descriptor, "platform");
    const char *architecture = json_part_string(platform, "architecture");
    const char *system = json_part_string(platform, "os");

    return (!architecture || text_equal(architecture, ARCHITECTURE)) &&
           (!system || text_equal(system, "linux"));
}

static bool is_called(const json_t *descriptor, const char *reference)
{
    const char *name = json_part_string(json_object_get(descriptor, "annotations"), REFERENCE);

    return !reference || (name && text_equal(name, reference));
}

/* The only descriptor of INDEX that can be meant. */
static int choose(
    const json_t *index, const char *reference, const json_t **ret, struct trouble *trouble)
{
    const json_t *manifests = json_object_get(index, "manifests"), *found = NULL;
    size_t called = 0;

    for (size_t i = 0; i < json_array_size(manifests); i++) {
        const json_t *one = json_array_get(manifests, i);

        if (!is_called(one, reference))
            continue;
        called++;
        if (!is_for_us(one))
            continue;
        if (found)
            return trouble_set(
                trouble, REASON_IMAGE_AMBIGUOUS, 0, "%zu images in it", json_array_size(manifests));
        found = one;
    }
    if (!found && called > 0)
        return trouble_set(
            trouble, REASON_IMAGE_FOREIGN, 0, "none of its images is for linux/" ARCHITECTURE);
    if (!found)
        return trouble_set(trouble, REASON_IMAGE_INCOMPLETE, 0, "index.json: no image%s%.100s",
            reference ? " called " : "", reference ? reference : "");
    *ret = found;
    return 0;
}

/* From an index to a manifest; an index in an index is one more turn. */
static int find_manifest(
    const struct source *source, const char *reference, json_t **ret, struct trouble *trouble)
{
    auto_(json_free) json_t *index = NULL;
    int r = json_part_read(source, "index.json", NULL, &index, trouble);

    for (int depth = 0; r == 0 && depth < 4; depth++) {
        const json_t *descriptor = NULL;
        const char *type;
        json_t *next = NULL;

        r = choose(index, reference, &descriptor, trouble);
        if (r != 0)
            return r;
        type = json_part_string(descriptor, "mediaType");
        if (!is_one(manifest_types, array_size(manifest_types), type) &&
            !is_one(index_types, array_size(index_types), type))
            return unknown_type("index.json", type, trouble);
        r = json_part_blob(source, json_part_string(descriptor, "digest"), &next, trouble);
        if (r != 0)
            return r;
        if (is_one(manifest_types, array_size(manifest_types), type)) {
            *ret = next;
            return 0;
        }
        json_decref(index);
        index = next;
        reference = NULL;
    }
    return r != 0 ? r
                  : trouble_set(
                        trouble, REASON_IMAGE_INCOMPLETE, 0, "an index in an index in an index");
}

/* ---- configuration ---- */

static int take_string(const json_t *object, const char *name, char **ret, struct trouble *trouble)
{
    const json_t *value = json_object_get(object, name);

    if (!value || json_is_null(value))
        return 0;
    if (!json_is_string(value) || json_string_length(value) > 4095 ||
        strlen(json_string_value(value)) != json_string_length(value))
        return trouble_set(
            trouble, REASON_IMAGE_INCOMPLETE, 0, "configuration: %s is no short string", name);
    *ret = strdup(json_string_value(value));
    return *ret ? 0 : trouble_set(trouble, REASON_IMAGE_FAILED, ENOMEM, "memory");
}

static int take_list(const json_t *object, const char *name, char ***ret, struct trouble *trouble)
{
    const json_t *list = json_object_get(object, name);
    size_t count = json_array_size(list), bytes = 0;

    if (!list || json_is_null(list))
        return 0;
    if (!json_is_array(list) || count > STRINGS_MAX)
        return trouble_set(trouble, REASON_IMAGE_INCOMPLETE, 0,
            "configuration: %s is no list of at most %d strings", name, STRINGS_MAX);
    *ret = calloc(count + 1, sizeof(**ret));
    if (!*ret)
        return trouble_set(trouble, REASON_IMAGE_FAILED, ENOMEM, "memory");
    for (size_t i = 0; i < count; i++) {
        const json_t *one = json_array_get(list, i);

        bytes += json_string_length(one) + 1;
        if (!json_is_string(one) || bytes > 32768 ||
            strlen(json_string_value(one)) != json_string_length(one))
            return trouble_set(trouble, REASON_IMAGE_INCOMPLETE, 0,
                "configuration: %s[%zu] is no string, or the list is longer than 32768 bytes", name,
                i);
        (*ret)[i] = strdup(json_string_value(one));
        if (!(*ret)[i])
            return trouble_set(trouble, REASON_IMAGE_FAILED, ENOMEM, "memory");
    }
    return 0;
}

static int check_platform(const json_t *config, struct trouble *trouble)
{
    const char *architecture = json_part_string(config, "architecture");
    const char *system = json_part_string(config, "os");

    if (architecture && text_equal(architecture, ARCHITECTURE) && system &&
        text_equal(system, "linux"))
        return 0;
    return trouble_set(trouble, REASON_IMAGE_FOREIGN, 0, "it is for %.40s/%.40s; this is linux/%s",
        system ? system : "?", architecture ? architecture : "?", ARCHITECTURE);
}

static int take_config(const json_t *config, struct description *ret, struct trouble *trouble)
{
    const json_t *run = json_object_get(config, "config");
    const json_t *content = json_object_get(json_object_get(config, "rootfs"), "diff_ids");
    char name[BLOB_NAME_MAX];
    int r = check_platform(config, trouble);

    if (r == 0)
        r = take_string(config, "architecture", &ret->architecture, trouble);
    if (r == 0)
        r = take_string(run, "User", &ret->user, trouble);
    if (r == 0)
        r = take_string(run, "WorkingDir", &ret->directory, trouble);
    if (r == 0)
        r = take_list(run, "Env", &ret->env, trouble);
    if (r == 0)
        r = take_list(run, "Entrypoint", &ret->entrypoint, trouble);
    if (r == 0)
        r = take_list(run, "Cmd", &ret->command, trouble);
    if (r == 0 && json_array_size(content) != ret->n_layers)
        r = trouble_set(trouble, REASON_IMAGE_INCOMPLETE, 0,
            "%u layers, and the configuration names %zu", ret->n_layers, json_array_size(content));
    for (size_t i = 0; r == 0 && i < ret->n_layers; i++)
        r = json_part_digest(
            json_string_value(json_array_get(content, i)), ret->layers[i].content, name, trouble);
    return r;
}

/* ---- layers ---- */

static int layer_compression(const char *type, enum compression *ret, struct trouble *trouble)
{
    for (size_t i = 0; type && i < array_size(layer_types); i++) {
        if (text_equal(layer_types[i].name, type)) {
            *ret = layer_types[i].compression;
            return 0;
        }
    }
    return unknown_type("a layer", type, trouble);
}

static int check_count(size_t count, struct trouble *trouble)
{
    if (count == 0)
        return trouble_set(trouble, REASON_IMAGE_INCOMPLETE, 0, "no layer in it");
    if (count > IMAGE_LAYERS_MAX)
        return trouble_set(trouble, REASON_IMAGE_TOO_BIG, 0, "%zu layers; at most %d fit", count,
            IMAGE_LAYERS_MAX);
    return 0;
}

static int find_layer(const struct source *source, struct layer_source *layer, const char *name,
    struct trouble *trouble)
{
    int r = source_find(source, name, &layer->blob);

    (void)snprintf(layer->name, sizeof(layer->name), "layer %.70s", name);
    return r < 0 ? trouble_set(trouble, REASON_IMAGE_INCOMPLETE, -r, "layer %.100s", name) : 0;
}

static int take_layer(const struct source *source, const json_t *descriptor,
    struct layer_source *layer, struct trouble *trouble)
{
    const json_t *size = json_object_get(descriptor, "size");
    char name[BLOB_NAME_MAX];
    int r =
        layer_compression(json_part_string(descriptor, "mediaType"), &layer->compression, trouble);

    if (r == 0)
        r = json_part_digest(json_part_string(descriptor, "digest"), layer->digest, name, trouble);
    if (r == 0)
        r = find_layer(source, layer, name, trouble);
    if (r != 0)
        return r;
    layer->has_digest = true;
    if (!json_is_integer(size) || (uint64_t)json_integer_value(size) != layer->blob.size)
        return trouble_set(trouble, REASON_IMAGE_INCOMPLETE, 0,
            "%s: %llu bytes, and its manifest says %lld", layer->name,
            (unsigned long long)layer->blob.size, (long long)json_integer_value(size));
    return 0;
}

static int read_layout(const struct source *source, const char *reference, struct description *ret,
    struct trouble *trouble)
{
    auto_(json_free) json_t *manifest = NULL, *config = NULL;
    const json_t *layers, *about;
    char name[BLOB_NAME_MAX];
    int r = find_manifest(source, reference, &manifest, trouble);

    if (r != 0)
        return r;
    layers = json_object_get(manifest, "layers");
    about = json_object_get(manifest, "config");
    r = check_count(json_array_size(layers), trouble);
    if (r == 0 &&
        !is_one(config_types, array_size(config_types), json_part_string(about, "mediaType")))
        r = unknown_type("the configuration", json_part_string(about, "mediaType"), trouble);
    for (size_t i = 0; r == 0 && i < json_array_size(layers); i++)
        r = take_layer(source, json_array_get(layers, i), &ret->layers[ret->n_layers++], trouble);
    if (r == 0)
        r = json_part_digest(json_part_string(about, "digest"), ret->digest, name, trouble);
    if (r == 0)
        r = json_part_blob(source, json_part_string(about, "digest"), &config, trouble);
    return r == 0 ? take_config(config, ret, trouble) : r;
}

/* ---- docker-archive ---- */

static bool is_tagged(const json_t *image, const char *reference)
{
    const json_t *tags = json_object_get(image, "RepoTags");

    for (size_t i = 0; reference && i < json_array_size(tags); i++) {
        const char *tag = json_string_value(json_array_get(tags, i));

        if (tag && text_equal(tag, reference))
            return true;
    }
    return !reference;
}

static int choose_tagged(
    const json_t *all, const char *reference, const json_t **ret, struct trouble *trouble)
{
    const json_t *found = NULL;

    for (size_t i = 0; i < json_array_size(all); i++) {
        if (!is_tagged(json_array_get(all, i), reference))
            continue;
        if (found)
            return trouble_set(
                trouble, REASON_IMAGE_AMBIGUOUS, 0, "%zu images in it", json_array_size(all));
        found = json_array_get(all, i);
    }
    if (!found)
        return trouble_set(trouble, REASON_IMAGE_INCOMPLETE, 0, "manifest.json: no image%s%.100s",
            reference ? " called " : "", reference ? reference : "");
    *ret = found;
    return 0;
}

/* Nothing says what the digest of the configuration should be: it is taken, and names the image. */
static int take_archive_config(
    const struct source *source, const char *name, struct description *ret, struct trouble *trouble)
{
    auto_(json_free) json_t *config = NULL;
    char *text;
    int r = json_part_read(source, name, NULL, &config, trouble);

    if (r != 0)
        return r;
    text = json_dumps(config, JSON_SORT_KEYS | JSON_COMPACT);
    if (text) {
        struct sha256_ctx context;

        sha256_init(&context);
        sha256_update(&context, strlen(text), (const uint8_t *)text);
        sha256_digest(&context, SHA256_DIGEST_SIZE, ret->digest);
        free(text);
    }
    return take_config(config, ret, trouble);
}

static int read_archive(const struct source *source, const char *reference, struct description *ret,
    struct trouble *trouble)
{
    auto_(json_free) json_t *all = NULL;
    const json_t *image = NULL, *layers;
    const char *config;
    int r = json_part_read(source, "manifest.json", NULL, &all, trouble);

    if (r == 0)
        r = choose_tagged(all, reference, &image, trouble);
    if (r != 0)
        return r;
    layers = json_object_get(image, "Layers");
    config = json_part_string(image, "Config");
    if (!config)
        return trouble_set(trouble, REASON_IMAGE_INCOMPLETE, 0, "manifest.json: no Config");
    r = check_count(json_array_size(layers), trouble);
    for (size_t i = 0; r == 0 && i < json_array_size(layers); i++) {
        const char *name = json_string_value(json_array_get(layers, i));

        ret->layers[ret->n_layers].compression = COMPRESSION_FOUND;
        r = find_layer(source, &ret->layers[ret->n_layers++], name ? name : "?", trouble);
    }
    return r == 0 ? take_archive_config(source, config, ret, trouble) : r;
}

int manifest_read(const struct source *source, const char *reference, struct description *ret,
    struct trouble *trouble)
{
    return is_there(source, "oci-layout") ? read_layout(source, reference, ret, trouble)
                                          : read_archive(source, reference, ret, trouble);
}

static void free_list(char **list)
{
    for (char **at = list; list && *at; at++)
        free(*at);
    free(list);
}

void description_done(struct description *description)
{
    for (uint32_t i = 0; i < description->n_layers; i++)
        blob_done(&description->layers[i].blob);
    free(description->architecture);
    free(description->user);
    free(description->directory);
    free_list(description->env);
    free_list(description->entrypoint);
    free_list(description->command);
    *description = (struct description){0};
}
