#include "terms.h"

#include <errno.h>
#include <string.h>

static const char *const boundary_names[] = {"", "domain", "container", "none"};
static const char *const view_names[] = {"", "minimal", "host"};
static const char *const net_names[] = {"", "none", "host", "door", "landlock-net", "cgroup-bpf"};
static const char *const grant_kind_names[] = {
    "", "read", "write", "workspace", "seat", "git-dir", "git-common", "seat (read)"};
static const char *const colour_names[] = {"", "GREEN", "RED", "REFUSED", "INDETERMINATE", "NOTE"};

#define NAME_COUNT(names) (sizeof(names) / sizeof((names)[0]))

static const char *name_of(const char *const *names, size_t count, size_t number)
{
    return number > 0 && number < count ? names[number] : "?";
}

static int number_of(const char *const *names, size_t count, const char *name, size_t *ret)
{
    for (size_t i = 1; i < count; i++) {
        if (strcmp(names[i], name) == 0) {
            *ret = i;
            return 0;
        }
    }
    return -EINVAL;
}

const char *boundary_name(enum boundary boundary)
{
    return name_of(boundary_names, NAME_COUNT(boundary_names), (size_t)boundary);
}

const char *view_name(enum view view)
{
    return name_of(view_names, NAME_COUNT(view_names), (size_t)view);
}

const char *net_name(enum net net)
{
    return name_of(net_names, NAME_COUNT(net_names), (size_t)net);
}

bool net_is_hosts(enum net net)
{
    return net == NET_HOST || net == NET_LANDLOCK || net == NET_CGROUP_BPF;
}

const char *grant_kind_name(enum grant_kind kind)
{
    return name_of(grant_kind_names, NAME_COUNT(grant_kind_names), (size_t)kind);
}

const char *colour_name(enum colour colour)
{
    return name_of(colour_names, NAME_COUNT(colour_names), (size_t)colour);
}

int boundary_parse(const char *name, enum boundary *ret)
{
    size_t number;
    int r = number_of(boundary_names, NAME_COUNT(boundary_names), name, &number);

    if (r == 0)
        *ret = (enum boundary)number;
    return r;
}

int view_parse(const char *name, enum view *ret)
{
    size_t number;
    int r = number_of(view_names, NAME_COUNT(view_names), name, &number);

    if (r == 0)
        *ret = (enum view)number;
    return r;
}

int net_parse(const char *name, enum net *ret)
{
    size_t number;
    int r = number_of(net_names, NAME_COUNT(net_names), name, &number);

    if (r == 0)
        *ret = (enum net)number;
    return r;
}
