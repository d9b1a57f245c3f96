#include "id_ranges.h"

#include "log.h"
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

#define ID_FIRST 0x70000000U
#define BLOCKS 16U
#define RANGES_A_BLOCK 256U /* 16 x 256 x 65536 ids: 0x70000000 to 0x7fffffff */

static int hold_block(uint32_t block)
{
    auto_close int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int length;

    if (fd < 0)
        return -errno;
    length = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "saphan-ids-%u", block);
    if (bind(fd, (struct sockaddr *)&address,
            (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length)) < 0)
        return -errno;
    return steal_fd(&fd);
}

int id_ranges_open(struct warden *warden)
{
    for (uint32_t block = 0; block < BLOCKS; block++) {
        int fd = hold_block(block);

        if (fd == -EADDRINUSE)
            continue;
        if (fd < 0)
            return fd;
        warden->id_lock = fd;
        warden->id_first = ID_FIRST + block * RANGES_A_BLOCK * ID_RANGE_SIZE;
        warden->id_count = RANGES_A_BLOCK;
        return 0;
    }
    log_error("id ranges: all %u blocks are held: see abstract sockets saphan-ids-* in "
              "/proc/net/unix",
        BLOCKS);
    return -EADDRINUSE;
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
