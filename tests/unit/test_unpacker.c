/* test_unpacker.c - an image's parts one by one: names, what a layer may make, accounts, digests,
 * which of several images is meant. */
#include "json_part.h"
#include "manifest.h"
#include "passwd.h"
#include "tree.h"

#include "own.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <sha256.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static char top[] = "/tmp/saphan-unpacker-XXXXXX";
static struct trouble trouble;

/* ---- names ---- */

static void names_of_entries(void **state)
{
    static const struct {
        const char *given, *normal; /* NULL: refused */
    } names[] = {{"a", "a"}, {"./a", "a"}, {"a/./b", "a/b"}, {"a//b/", "a/b"}, {"./", ""},
        {".", ""}, {"..a", "..a"}, {"a/...", "a/..."}, {"/a", NULL}, {"..", NULL}, {"a/..", NULL},
        {"a/../b", NULL}, {"../a", NULL}, {"./../a", NULL}, {"", NULL}};
    char clean[PATH_MAX];

    for (size_t i = 0; i < array_size(names); i++) {
        int r = tree_name(names[i].given, clean, &trouble);

        if (names[i].normal ? r != 0 || strcmp(clean, names[i].normal) != 0
                            : r != UNPACK_E_REFUSED || trouble.reason != REASON_IMAGE_ENTRY)
            fail_msg("`%s`: %d, `%s`", names[i].given, r, clean);
    }
}

static void names_of_whiteouts(void **state)
{
    assert_true(tree_is_whiteout(".wh.a") && tree_is_whiteout("a/b/.wh..wh..opq"));
    assert_false(tree_is_whiteout("a") || tree_is_whiteout(".wh.a/b") || tree_is_whiteout("a.wh."));
}

/* ---- a layer ---- */

static int open_layer(struct tree *tree)
{
    int root;

    strcpy(top, "/tmp/saphan-unpacker-XXXXXX");
    assert_non_null(mkdtemp(top));
    root = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(root >= 0);
    assert_int_equal(tree_init(tree, root), 0);
    tree->max_bytes = 1000;
    tree->max_entries = 8;
    return root;
}

static void close_layer(struct tree *tree, int root)
{
    char line[128];

    tree_done(tree);
    close(root);
    (void)snprintf(line, sizeof(line), "rm -rf %s", top);
    assert_int_equal(system(line), 0);
}

static struct tree_entry entry_of(const char *path, mode_t mode)
{
    return (struct tree_entry){.path = path, .mode = mode, .uid = getuid(), .gid = getgid()};
}

static void a_link_leads_nowhere(void **state)
{
    const struct tree_entry directory = entry_of("d", S_IFDIR | 0755), file = entry_of("f", 0644),
                            link = entry_of("l", S_IFLNK | 0777);
    struct tree tree;
    int root = open_layer(&tree), fd;

    assert_int_equal(tree_link(&tree, "l", &link, "/tmp", &trouble), 0);
    assert_int_equal(tree_file(&tree, "l/f", &file, &fd, &trouble), UNPACK_E_REFUSED);
    assert_int_equal(trouble.reason, REASON_IMAGE_ENTRY);
    assert_int_equal(tree_directory(&tree, "l/d", &directory, &trouble), UNPACK_E_REFUSED);
    assert_int_equal(tree_whiteout(&tree, "l/.wh.x", &file, &trouble), UNPACK_E_REFUSED);
    assert_int_equal(tree_hard_link(&tree, "h", &file, "l/f", &trouble), UNPACK_E_REFUSED);
    assert_int_equal(tree_hard_link(&tree, "h", &file, "../f", &trouble), UNPACK_E_REFUSED);
    /* Control: what stands in its place is a directory, and can be written to. */
    assert_int_equal(tree_directory(&tree, "l", &directory, &trouble), 0);
    assert_int_equal(tree_file(&tree, "l/f", &file, &fd, &trouble), 0);
    assert_int_equal(tree_file_done_take(&tree, fd, &file, &trouble), 0);
    assert_int_equal(tree_hard_link(&tree, "h", &file, "l/f", &trouble), 0);
    close_layer(&tree, root);
}

static void bounds(void **state)
{
    const struct tree_entry directory = entry_of("d", S_IFDIR | 0755);
    char name[8];
    struct tree tree;
    int root = open_layer(&tree);

    assert_int_equal(tree_count(&tree, "f", 900, &trouble), 0);
    assert_int_equal(tree_count(&tree, "f", 101, &trouble), UNPACK_E_REFUSED);
    assert_int_equal(trouble.reason, REASON_IMAGE_TOO_BIG);
    assert_int_equal(tree_count(&tree, "f", UINT64_MAX, &trouble), UNPACK_E_REFUSED);
    for (unsigned int i = 0; i < 8; i++) {
        (void)snprintf(name, sizeof(name), "%u", i);
        assert_int_equal(tree_directory(&tree, name, &directory, &trouble), 0);
    }
    assert_int_equal(tree_directory(&tree, "8", &directory, &trouble), UNPACK_E_REFUSED);
    assert_int_equal(trouble.reason, REASON_IMAGE_TOO_BIG);
    close_layer(&tree, root);
}

/* ---- accounts ---- */

static int collect(void *context, const struct passwd_entry *entry)
{
    char *said = context;
    size_t at = strlen(said);

    (void)snprintf(said + at, 256 - at, "%s=%u:%u ", entry->name, entry->id, entry->gid);
    return 0;
}

static void put(const char *name, const char *text)
{
    char path[128];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/%s", top, name);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void accounts(void **state)
{
    const struct tree_entry directory = entry_of("etc", S_IFDIR | 0755);
    char said[256] = "";
    struct tree tree;
    int root = open_layer(&tree);

    assert_int_equal(passwd_read(&root, 1, "passwd", collect, said), 0);
    assert_string_equal(said, "");
    assert_int_equal(tree_directory(&tree, "etc", &directory, &trouble), 0);
    put("etc/passwd", "root:x:0:0:root:/root:/bin/sh\nbob:x:12:34:::\n-x:x:1:1:::\n1:x:1:1:::\n"
                      "neg:x:-1:0:::\nhex:x:0x1:0:::\nbig:x:65536:0:::\nzero:x:01:0:::\nhalf:x:1\n"
                      "sp ace:x:1:1:::\n+:x:1:1:::\nlast:x:7:8:::");
    put("etc/group", "crew:x:9:bob\nwheel:x:\n");
    assert_int_equal(passwd_read(&root, 1, "passwd", collect, said), 0);
    assert_string_equal(said, "root=0:0 bob=12:34 last=7:8 ");
    said[0] = '\0';
    assert_int_equal(passwd_read(&root, 1, "group", collect, said), 0);
    assert_string_equal(said, "crew=9:0 ");
    /* A link to one of the host's is no file of the image. */
    said[0] = '\0';
    assert_int_equal(unlinkat(root, "etc/passwd", 0), 0);
    assert_int_equal(symlinkat("/etc/passwd", root, "etc/passwd"), 0);
    assert_int_equal(passwd_read(&root, 1, "passwd", collect, said), 0);
    assert_string_equal(said, "");
    close_layer(&tree, root);
}

/* ---- digests ---- */

static void digests(void **state)
{
    static const char *const no[] = {"", "sha256:", "sha256:xyz", "md5:00", "sha512:00",
        "sha256:../../../../etc/passwd",
        "sha256:0000000000000000000000000000000000000000000000000000000000000000/..",
        "SHA256:0000000000000000000000000000000000000000000000000000000000000000",
        "sha256:000000000000000000000000000000000000000000000000000000000000000"};
    char name[BLOB_NAME_MAX];
    uint8_t digest[32];

    for (size_t i = 0; i < array_size(no); i++) {
        if (json_part_digest(no[i], digest, name, &trouble) != UNPACK_E_REFUSED)
            fail_msg("`%s` is a digest", no[i]);
    }
    assert_int_equal(json_part_digest(NULL, digest, name, &trouble), UNPACK_E_REFUSED);
    assert_int_equal(
        json_part_digest("sha256:00000000000000000000000000000000000000000000000000000000000000ff",
            digest, name, &trouble),
        0);
    assert_int_equal(digest[31], 0xff);
    assert_string_equal(
        name, "blobs/sha256/00000000000000000000000000000000000000000000000000000000000000ff");
}

/* ---- which image ---- */

/* An index.json alone, in a folder; what reading it comes to. */
static enum reason read_index(const char *index, const char *reference)
{
    static struct description about;
    struct source source;
    struct tree tree;
    int root = open_layer(&tree), r;

    put("oci-layout", "{}");
    put("index.json", index);
    memset(&trouble, 0, sizeof(trouble));
    assert_int_equal(source_open(&source, root, &trouble), 0);
    assert_true(manifest_is_there(&source));
    r = manifest_read(&source, reference, &about, &trouble);
    assert_int_equal(r, UNPACK_E_REFUSED); /* there is never a blob */
    description_done(&about);
    source_done(&source);
    close_layer(&tree, root);
    return trouble.reason;
}

#define ONE(name, arch)                                                                            \
    "{\"mediaType\":\"application/vnd.oci.image.manifest.v1+json\",\"digest\":\"sha256:"           \
    "0000000000000000000000000000000000000000000000000000000000000000\",\"annotations\":{"         \
    "\"org.opencontainers.image.ref.name\":\"" name "\"},\"platform\":{\"architecture\":\"" arch   \
    "\",\"os\":\"linux\"}}"
#define ALL(...) "{\"manifests\":[" __VA_ARGS__ "]}"
#if defined(__x86_64__)
#define HERE "amd64"
#elif defined(__aarch64__)
#define HERE "arm64"
#else
#define HERE "riscv64"
#endif

static void which_of_several(void **state)
{
    assert_int_equal(read_index("", NULL), REASON_IMAGE_INCOMPLETE);
    assert_int_equal(read_index("[]", NULL), REASON_IMAGE_INCOMPLETE);
    assert_int_equal(read_index("{\"manifests\":7}", NULL), REASON_IMAGE_INCOMPLETE);
    assert_int_equal(read_index(ALL("7"), NULL), REASON_IMAGE_MEDIA_TYPE);
    assert_int_equal(read_index("{\"a\":1,\"a\":2}", NULL), REASON_IMAGE_INCOMPLETE);
    assert_int_equal(read_index(ALL(ONE("a", "s390x")), NULL), REASON_IMAGE_FOREIGN);
    assert_int_equal(
        read_index(ALL(ONE("a", HERE) "," ONE("b", HERE)), NULL), REASON_IMAGE_AMBIGUOUS);
    assert_int_equal(read_index(ALL(ONE("a", HERE)), "b"), REASON_IMAGE_INCOMPLETE);
    assert_non_null(strstr(trouble.detail, "called b"));
    /* These are found, and their blob is not there. */
    assert_int_equal(
        read_index(ALL(ONE("a", HERE) "," ONE("b", HERE)), "b"), REASON_IMAGE_INCOMPLETE);
    assert_non_null(strstr(trouble.detail, "blobs/sha256/"));
    assert_int_equal(
        read_index(ALL(ONE("a", "s390x") "," ONE("a", HERE)), NULL), REASON_IMAGE_INCOMPLETE);
    assert_non_null(strstr(trouble.detail, "blobs/sha256/"));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_entries),
        cmocka_unit_test(names_of_whiteouts),
        cmocka_unit_test(a_link_leads_nowhere),
        cmocka_unit_test(bounds),
        cmocka_unit_test(accounts),
        cmocka_unit_test(digests),
        cmocka_unit_test(which_of_several),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
