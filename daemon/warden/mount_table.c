#include "mount_table.h"

#include "descriptor.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MOUNTINFO_MAX (4 * 1024 * 1024)

/* "\040" is how the kernel writes a space; in place. */
static void unescape(char *text)
{
    char *out = text;

    for (; *text; text++) {
        unsigned int byte;

        if (text[0] == '\\' && sscanf(text + 1, "%3o", &byte) == 1 && byte < 256) {
            *out++ = (char)byte;
            text += 3;
        } else {
            *out++ = *text;
        }
    }
    *out = '\0';
}

/* ID PARENT MAJOR:MINOR ROOT POINT ... - TYPE ... */
static bool parse(char *line, struct mount_entry *entry)
{
    unsigned int major, minor;
    char *rest = NULL, *root, *point, *type = strstr(line, " - ");
    int at = 0;

    if (sscanf(line, "%" SCNu64 " %*u %u:%u %n", &entry->id, &major, &minor, &at) != 3 || at == 0 ||
        !type)
        return false;
    type += strlen(" - ");
    root = strtok_r(line + at, " ", &rest);
    point = strtok_r(NULL, " ", &rest);
    if (!root || !point)
        return false;
    unescape(root);
    unescape(point);
    entry->device = (uint64_t)major << 32 | minor;
    entry->root = strdup(root);
    entry->point = strdup(point);
    entry->type = strndup(type, strcspn(type, " "));
    return true;
}

static uint32_t lines_of(const char *text)
{
    uint32_t count = 0;

    for (; *text; text++)
        count += *text == '\n';
    return count;
}

int mount_table_read(struct mount_table *ret)
{
    struct mount_table table = {0};
    auto_free char *text = NULL;
    char *rest = NULL;
    int r;

    r = descriptor_read_file(AT_FDCWD, "/proc/self/mountinfo", MOUNTINFO_MAX, &text);
    if (r < 0)
        return r;
    table.entries = calloc((size_t)lines_of(text) + 1, sizeof(*table.entries));
    if (!table.entries)
        return -ENOMEM;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        struct mount_entry *entry = &table.entries[table.count++];

        if (!parse(line, entry))
            r = -EBADMSG;
        else if (!entry->root || !entry->point || !entry->type)
            r = -ENOMEM;
        if (r < 0) {
            mount_table_done(&table);
            return r;
        }
    }
    *ret = table;
    return 0;
}

void mount_table_done(struct mount_table *table)
{
    for (uint32_t i = 0; i < table->count; i++) {
        free(table->entries[i].root);
        free(table->entries[i].point);
        free(table->entries[i].type);
    }
    free(table->entries);
    *table = (struct mount_table){0};
}

const struct mount_entry *mount_table_find(const struct mount_table *table, uint64_t id)
{
    for (uint32_t i = 0; i < table->count; i++) {
        if (table->entries[i].id == id)
            return &table->entries[i];
    }
    return NULL;
}

char *mount_entry_place(const struct mount_entry *mount, const char *path)
{
    const char *behind;

    if (!text_path_beneath(path, mount->point))
        return NULL;
    behind = path + (mount->point[1] ? strlen(mount->point) : 0);
    if (text_equal(behind, "/"))
        behind = "";
    if (text_equal(mount->root, "/"))
        return strdup(*behind ? behind : "/");
    return text_format("%s%s", mount->root, behind);
}

bool mount_entry_is_users_own(const struct mount_entry *mount)
{
    return text_equal(mount->type, "fuse") || text_starts_with(mount->type, "fuse.") ||
           text_equal(mount->type, "fuseblk");
}
