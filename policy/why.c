#include "why.h"

#include "text.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *slug, *meaning;
    bool read, write, execute;
} kinds[WHY_KIND_COUNT] = {
    [WHY_NONE] = {"none", "no grant and no part of the view holds it: it is not there", false,
        false, false},
    [WHY_WAY] = {"way",
        "a directory of the leg's own root that leads to what is granted: it can "
        "be listed",
        true, false, false},
    [WHY_HOST] = {"host-view", "the host view shows it, read-only", true, false, true},
    [WHY_SYSTEM] = {"system", "a system directory of the view, read-only", true, false, true},
    [WHY_OWN] = {"own", "the leg's own scratch, gone with it: never the host's", true, true, true},
    [WHY_DEVICES] = {"devices", "the leg's own /dev: its devices can be used, none can be made",
        true, true, false},
    [WHY_PROC] = {"proc", "the leg's own /proc: a process may write what is its own", true, true,
        false},
    [WHY_READ] = {"read-grant", "a read grant", true, false, true},
    [WHY_WRITE] = {"write-grant", "a write grant", true, true, true},
    [WHY_PIN] = {"pin", "in a write grant, writable, but it can be neither moved nor removed", true,
        true, true},
    [WHY_CARVE_OUT_IF_PRESENT] = {"carve-out-if-present",
        "carved out of a write grant: read-only if it was there when the leg began", true, false,
        true},
    [WHY_CARVE_OUT] = {"carve-out",
        "carved out of a write grant: read-only, and it cannot come to exist", true, false, true},
    [WHY_MASK] = {"mask", "a secret of the host, covered with nothing", false, false, false},
    [WHY_LINK] = {"link", "a link of the root", false, false, false},
};

const char *why_slug(enum why_kind kind)
{
    return (unsigned int)kind < WHY_KIND_COUNT ? kinds[kind].slug : "?";
}

const char *why_meaning(enum why_kind kind)
{
    return (unsigned int)kind < WHY_KIND_COUNT ? kinds[kind].meaning : "?";
}

int why_parse(char *line, struct why_area *ret)
{
    struct why_area area = {0};
    char *path = strchr(line, ' '), *target;

    if (!path)
        return -EINVAL;
    *path++ = '\0';
    target = strchr(line, ':');
    if (target)
        *target++ = '\0';
    for (unsigned int i = 1; i < WHY_KIND_COUNT; i++) {
        if (text_equal(kinds[i].slug, line))
            area.kind = (enum why_kind)i;
    }
    if (area.kind == WHY_NONE || (area.kind == WHY_LINK) != (target != NULL) ||
        !text_path_is_normal(path))
        return -EINVAL;
    area.path = path;
    area.target = target;
    *ret = area;
    return 0;
}

/* "/bin/ls" as the root's own links lead: "/usr/bin/ls". */
static const char *follow(
    const struct why_area *areas, size_t n_areas, const char *path, char out[PATH_MAX])
{
    for (size_t i = 0; i < n_areas; i++) {
        const struct why_area *area = &areas[i];
        int n;

        if (area->kind != WHY_LINK || !text_path_beneath(path, area->path))
            continue;
        n = snprintf(out, PATH_MAX, "%s%s%s", area->target[0] == '/' ? "" : "/", area->target,
            path + strlen(area->path));
        return n > 0 && n < PATH_MAX && text_path_is_normal(out) ? out : path;
    }
    return path;
}

/* A pin speaks for itself alone; all else for what lies beneath it too. */
static bool covers(const struct why_area *area, const char *path)
{
    if (area->kind == WHY_LINK)
        return false;
    return area->kind == WHY_PIN ? text_equal(path, area->path)
                                 : text_path_beneath(path, area->path);
}

static bool wins(const struct why_area *area, const struct why_area *best)
{
    size_t length = strlen(area->path), longest = best ? strlen(best->path) : 0;

    return !best || length > longest || (length == longest && area->kind > best->kind);
}

static bool is_way(const struct why_area *areas, size_t n_areas, const char *path)
{
    for (size_t i = 0; i < n_areas; i++) {
        if (areas[i].kind != WHY_LINK && text_path_beneath(areas[i].path, path))
            return true;
    }
    return false;
}

void why_decide(
    const struct why_area *areas, size_t n_areas, const char *path, struct why_answer *ret)
{
    const struct why_area *best = NULL;
    char followed[PATH_MAX];
    enum why_kind kind;

    path = follow(areas, n_areas, path, followed);
    for (size_t i = 0; i < n_areas; i++) {
        if (covers(&areas[i], path) && wins(&areas[i], best))
            best = &areas[i];
    }
    kind = best ? best->kind : is_way(areas, n_areas, path) ? WHY_WAY : WHY_NONE;
    *ret = (struct why_answer){.kind = kind,
        .area = best ? best->path : NULL,
        .read = kinds[kind].read,
        .write = kinds[kind].write,
        .execute = kinds[kind].execute,
        .depends = kind == WHY_CARVE_OUT_IF_PRESENT || kind == WHY_PROC || kind == WHY_DEVICES};
}
