/* accounts.h - names of users and groups, from /etc/passwd and /etc/group alone.
 *
 * No name service: the warden neither loads a module nor talks to a server for it.  A user whom
 * only a directory service knows has no "~" in policies and no name in output, and is named in
 * policies by number.  passwd(5), group(5).
 */
#pragma once

#include <stdint.h>

/* -ENOENT when there is no such entry. */
int account_uid(const char *name, uint32_t *ret_uid);
int account_gid(const char *name, uint32_t *ret_gid);
int account_name(uint32_t uid, char **ret_name);

/* Of one user; whoever has it calls account_done(). */
struct account {
    char *name; /* NULL: the user is not there */
    char *home; /* as the kernel names it; NULL: the user has none that can be named */
};

/* What cannot be had is NULL. */
struct account account_of(uint32_t uid);
void account_done(struct account *account);
