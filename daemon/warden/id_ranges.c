#include "id_ranges.h"

#include "log.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ID_FIRST 0x70000000U
#define BLOCKS 16U
#define RANGES_A_BLOCK 256U /* 16 x 256 x 65536 ids: 0x70000000 to 0x7fffffff */

/* A byte of it is locked for each block that is held, and one for as long as somebody takes a block
 * or removes the file. */
#define GATE BLOCKS

/* Whose the file is: an id that nobody has and that no mount of a leg maps.  So only root can open
 * it, and root's leg not even to read: a lock for reading would hold a block too. */
#define LOCK_OWNER (ID_FIRST - 1)

static int lock_bytes(int fd, int how, short type, off_t from, off_t count)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = from, .l_len = count};
    int r;

    do
        r = fcntl(fd, how, &lock);
    while (r < 0 && errno == EINTR);
    return r < 0 ? -errno : 0;
}

/* Is FD what is called so now?  The last holder removes the file. */
static int is_current(int fd)
{
    struct stat mine, now;

    if (fstat(fd, &mine) < 0)
        return -errno;
    if (lstat(ID_LOCK_FILE, &now) < 0)
        return errno == ENOENT ? 0 : -errno;
    return mine.st_dev == now.st_dev && mine.st_ino == now.st_ino;
}

/* Opened, and the gate passed: it is not removed before the gate is let go. */
static int open_lock_file(int *ret_fd)
{
    for (;;) {
        auto_close int fd =
            open(ID_LOCK_FILE, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
        int r = fd < 0 || fchown(fd, LOCK_OWNER, LOCK_OWNER) < 0
                    ? -errno
                    : lock_bytes(fd, F_OFD_SETLKW, F_RDLCK, GATE, 1);

        if (r == 0)
            r = is_current(fd);
        if (r < 0)
            return r;
        if (r > 0) {
            *ret_fd = steal_fd(&fd);
            return 0;
        }
    }
}

int id_ranges_open(struct warden *warden)
{
    auto_close int fd = -EBADF;
    int r = open_lock_file(&fd);

    if (r < 0) {
        log_error("id ranges: %s: %s", ID_LOCK_FILE, strerror(-r));
        return r;
    }
    for (uint32_t block = BLOCKS; block-- > 0;) {
        r = lock_bytes(fd, F_OFD_SETLK, F_WRLCK, block, 1);
        if (r == -EAGAIN || r == -EACCES)
            continue;
        if (r == 0)
            r = lock_bytes(fd, F_OFD_SETLK, F_UNLCK, GATE, 1);
        if (r < 0)
            return r;
        warden->id_lock = steal_fd(&fd);
        warden->id_first = ID_FIRST + block * RANGES_A_BLOCK * ID_RANGE_SIZE;
        warden->id_count = RANGES_A_BLOCK;
        return 0;
    }
    log_error("id ranges: all %u blocks are held by other saphands: see %s in /proc/locks", BLOCKS,
        ID_LOCK_FILE);
    return -EADDRINUSE;
}

void id_ranges_close(struct warden *warden)
{
    /* Whoever can lock all of it is the last one. */
    if (warden->id_lock >= 0 &&
        lock_bytes(warden->id_lock, F_OFD_SETLK, F_WRLCK, 0, BLOCKS + 1) == 0)
        (void)unlink(ID_LOCK_FILE);
    close_fd(&warden->id_lock);
}

int id_range_take(struct warden *warden, uint32_t *ret_base)
{
    /* Round and round, so that a range rests as long as possible before it is used again. */
    for (uint32_t i = 0; i < warden->id_count; i++) {
        uint32_t number = (warden->id_next + i) % warden->id_count;

        if (warden->id_used[number])
            continue;
        warden->id_used[number] = 1;
        warden->id_next = number + 1;
        *ret_base = warden->id_first + number * ID_RANGE_SIZE;
        return 0;
    }
    return -EUSERS;
}

void id_range_return(struct warden *warden, uint32_t base)
{
    warden->id_used[(base - warden->id_first) / ID_RANGE_SIZE] = 0;
}
