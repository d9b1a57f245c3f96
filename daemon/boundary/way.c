#include "way.h"

#include "path.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BENEATH (PATH_BENEATH | PATH_NO_SYMLINKS)

bool way_next(struct way *way)
{
    const char *at = way->rest + strspn(way->rest, "/");
    size_t length = strcspn(at, "/");

    if (length == 0 || length > NAME_MAX)
        return false;
    memcpy(way->name, at, length);
    way->name[length] = '\0';
    at += length;
    at += strspn(at, "/");
    memmove(way->rest, at, strlen(at) + 1);
    return true;
}

int way_push(struct way *way)
{
    size_t length = strlen(way->done);

    if (length + 1 + strlen(way->name) >= sizeof(way->done))
        return -ENAMETOOLONG;
    way->done[length] = '/';
    strcpy(way->done + length + 1, way->name);
    return 0;
}

void way_pop(struct way *way)
{
    char *slash = strrchr(way->done, '/');

    if (slash)
        *slash = '\0';
}

bool way_back(struct way *way)
{
    char *slash = strrchr(way->done, '/');

    if (!slash || strlen(slash + 1) > NAME_MAX)
        return false;
    strcpy(way->name, slash + 1);
    *slash = '\0';
    return true;
}

int way_follow(struct way *way, int link)
{
    char text[PATH_MAX], rest[PATH_MAX];
    ssize_t length;

    if (++way->links > WAY_LINKS_MAX)
        return -ELOOP;
    length = readlinkat(link, "", text, sizeof(text) - 1);
    if (length < 0)
        return -errno;
    text[length] = '\0';
    if (snprintf(rest, sizeof(rest), "%s/%s", text, way->rest) >= (int)sizeof(rest))
        return -ENAMETOOLONG;
    if (text[0] == '/')
        way->done[0] = '\0';
    strcpy(way->rest, rest);
    return 0;
}

int way_open_here(const struct way *way, int root)
{
    return path_open(root, way->done[0] ? way->done + 1 : ".", O_PATH | O_DIRECTORY, BENEATH);
}

int way_open_name(const struct way *way, int root)
{
    char path[sizeof(way->done) + sizeof(way->name)];

    (void)snprintf(path, sizeof(path), "%s/%s", way->done, way->name);
    return path_open(root, path + 1, O_PATH | O_NOFOLLOW, BENEATH);
}
