#include "accounts.h"

#include "text.h"
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

DEFINE_AUTO(FILE *, fclose);

/* The first entry that is NAME's, or UID's when NAME is NULL; lives until the next call. */
static int find_user(const char *name, uint32_t uid, struct passwd **ret)
{
    auto_(fclose) FILE *file = fopen("/etc/passwd", "re");
    struct passwd *entry;

    if (!file)
        return -errno;
    while ((entry = fgetpwent(file))) {
        if (name ? text_equal(entry->pw_name, name) : entry->pw_uid == uid) {
            *ret = entry;
            return 0;
        }
    }
    return -ENOENT;
}

int account_uid(const char *name, uint32_t *ret_uid)
{
    struct passwd *entry;
    int r = find_user(name, 0, &entry);

    if (r == 0)
        *ret_uid = entry->pw_uid;
    return r;
}

int account_gid(const char *name, uint32_t *ret_gid)
{
    auto_(fclose) FILE *file = fopen("/etc/group", "re");
    struct group *entry;

    if (!file)
        return -errno;
    while ((entry = fgetgrent(file))) {
        if (text_equal(entry->gr_name, name)) {
            *ret_gid = entry->gr_gid;
            return 0;
        }
    }
    return -ENOENT;
}

static int copy_of(const char *text, char **ret)
{
    char *copy = strdup(text);

    if (!copy)
        return -ENOMEM;
    *ret = copy;
    return 0;
}

/* HOME with the links of the directory above it resolved, as the kernel would name it.  The last
 * component is not looked at: it may be an automount that takes its time. */
static int kernels_name(const char *home, char **ret_home)
{
    const char *slash = strrchr(home, '/');
    auto_free char *above = strndup(home, (size_t)(slash - home));
    auto_free char *real = NULL;
    char *name;

    if (!above)
        return -ENOMEM;
    real = realpath(*above ? above : "/", NULL);
    if (!real)
        return -errno;
    name = text_format("%s%s", text_equal(real, "/") ? "" : real, slash);
    if (!name)
        return -ENOMEM;
    *ret_home = name;
    return 0;
}

int account_name(uint32_t uid, char **ret_name)
{
    struct passwd *entry;
    int r = find_user(NULL, uid, &entry);

    return r < 0 ? r : copy_of(entry->pw_name, ret_name);
}

struct account account_of(uint32_t uid)
{
    struct account account = {0};
    struct passwd *entry;

    if (find_user(NULL, uid, &entry) < 0)
        return account;
    (void)copy_of(entry->pw_name, &account.name);
    if (text_path_is_normal(entry->pw_dir))
        (void)kernels_name(entry->pw_dir, &account.home);
    return account;
}

void account_done(struct account *account)
{
    free(account->name);
    free(account->home);
    *account = (struct account){0};
}
