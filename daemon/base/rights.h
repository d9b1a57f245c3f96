/* rights.h - descriptors that travel beside a message on a unix socket (SCM_RIGHTS, unix(7)). */
#pragma once

#include <stddef.h>
#include <sys/socket.h>

/* Room for a control message of COUNT descriptors. */
#define RIGHTS_SPACE(COUNT)                                                                        \
    union {                                                                                        \
        char bytes[CMSG_SPACE(sizeof(int) * (COUNT))];                                             \
        struct cmsghdr align;                                                                      \
    }

/* What rights_take() says besides 0. */
enum {
    RIGHTS_E_TOO_MANY = 1, /* more than INTO or the SPACE has room for */
    RIGHTS_E_FOREIGN,      /* a control message that is no descriptors */
};

/* Puts the N descriptors, if any, beside MESSAGE; SPACE is a RIGHTS_SPACE of N or more and lives as
 * long as MESSAGE.  They stay the caller's. */
void rights_put(struct msghdr *message, void *space, const int *descriptors, size_t n);

/* Takes over every descriptor that came beside a received MESSAGE, whatever else is wrong with it:
 * adds them to the *N of INTO, which has room for MAX; those beyond are closed.  The SPACE that was
 * received into has room for MAX too.  -EMFILE: this process has no room for them all. */
int rights_take(struct msghdr *message, int *into, size_t max, size_t *n);
