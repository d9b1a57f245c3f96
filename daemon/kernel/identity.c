#include "identity.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CAPABILITY_MAX 63 /* the sets are 64 bits wide; the kernel says EINVAL where it ends */

/* All but those of LEFT, and locked. */
static int set_secure_bits(unsigned long left)
{
    const unsigned long bits = SECURE_ALL_BITS & ~issecure_mask(SECURE_KEEP_CAPS) & ~left;
    const unsigned long locks = (bits | issecure_mask(SECURE_KEEP_CAPS)) << 1;

    if (prctl(PR_GET_SECUREBITS, 0, 0, 0, 0) == (int)(bits | locks))
        return 0;
    return prctl(PR_SET_SECUREBITS, bits | locks, 0, 0, 0) < 0 ? -errno : 0;
}

int identity_bound(void)
{
    return identity_bound_to(0);
}

int identity_bound_to(uint64_t capabilities)
{
    /* NO_SETUID_FIXUP is among them: identity_drop() empties the sets, not a change of uid. */
    int r = set_secure_bits(capabilities ? issecure_mask(SECURE_NO_CAP_AMBIENT_RAISE) : 0);

    if (r < 0)
        return r;
    for (unsigned long capability = 0; capability <= CAPABILITY_MAX; capability++) {
        int bounded = prctl(PR_CAPBSET_READ, capability, 0, 0, 0);

        if (bounded < 0 && errno == EINVAL && capability > 0)
            return 0; /* past the kernel's last one */
        /* To look costs a fifth of a drop, which makes the kernel copy all credentials. */
        if (bounded == 0 || (bounded > 0 && capabilities & UINT64_C(1) << capability))
            continue;
        if (bounded < 0 || prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) < 0)
            return -errno;
    }
    return 0;
}

int identity_become(const struct identity *identity)
{
    uid_t uid = identity->uid;
    gid_t gid = identity->gid;

    if (syscall(SYS_setgroups, identity->n_groups, identity->groups) < 0)
        return -errno;
    if (syscall(SYS_setresgid, gid, gid, gid) < 0)
        return -errno;
    return syscall(SYS_setresuid, uid, uid, uid) < 0 ? -errno : 0;
}

static int set_sets(uint64_t held, uint64_t inherited)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];

    memset(sets, 0, sizeof(sets));
    for (size_t i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
        sets[i].effective = sets[i].permitted = (uint32_t)(held >> (32 * i));
        sets[i].inheritable = (uint32_t)(inherited >> (32 * i));
    }
    return syscall(SYS_capset, &header, sets) < 0 ? -errno : 0;
}

int identity_keep(uint64_t capabilities)
{
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
        return -errno;
    return set_sets(capabilities, 0);
}

int identity_hold(uint64_t capabilities)
{
    int r = identity_keep(capabilities | UINT64_C(1) << CAP_SETPCAP);

    if (r == 0)
        r = set_sets(capabilities | UINT64_C(1) << CAP_SETPCAP, capabilities);
    if (r < 0)
        return r;
    for (unsigned long capability = 0; capability <= CAPABILITY_MAX; capability++) {
        if (capabilities & UINT64_C(1) << capability &&
            prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0) < 0)
            return -errno;
    }
    r = set_secure_bits(0);
    return r < 0 ? r : set_sets(capabilities, capabilities);
}

int identity_drop(void)
{
    return identity_keep(0);
}

int identity_no_new_privs(void)
{
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? -errno : 0;
}

bool identity_is_powerless(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];

    memset(sets, 0xff, sizeof(sets));
    if (syscall(SYS_capget, &header, sets) < 0)
        return false;
    for (size_t i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
        if (sets[i].effective || sets[i].permitted || sets[i].inheritable)
            return false;
    }
    /* The ambient set needs no look: it is never more than the permitted and the inheritable have.
     */
    for (unsigned long capability = 0; capability <= CAPABILITY_MAX; capability++) {
        int bounded = prctl(PR_CAPBSET_READ, capability, 0, 0, 0);

        if (bounded < 0 && errno == EINVAL && capability > 0)
            break; /* past the kernel's last one */
        if (bounded != 0)
            return false;
    }
    return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
}

int identity_give_up(const struct identity *identity)
{
    int r = identity_bound();

    if (r == 0)
        r = identity_become(identity);
    if (r == 0)
        r = identity_drop();
    return r == 0 ? identity_no_new_privs() : r;
}
