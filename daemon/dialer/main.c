/* saphan-dialer - connects to a socket with a path, as the requester.
 *
 * Usage: saphan-dialer UID GID [GROUP,...], descriptor 3 = its seam channel.
 *
 * What it should do: for a forward `PORT=unix:PATH`, connect to PATH with the rights of the one who
 * asked for the leg and no others, and send back the connected descriptor or the errno.
 *
 * What it must not: follow a link, for the policy's ceiling was held to the path as it is written;
 * connect to anything but the socket that it found there; speak to it.
 *
 * What an attacker who owns it gains: its input is one path that the front checked and admit() held
 * to the ceiling.  He would be the requester without any capability, unable to write or to make a
 * process, and could connect to a socket that the requester could connect to himself.
 */
#include "confine.h"
#include "filters.h"
#include "own.h"
#include "path.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

#define CPU_SECONDS 5

/* The very socket that was found: its name is not looked at a second time. */
static int connect_to(int found)
{
    auto_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    if (fd < 0)
        return -errno;
    (void)snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d", found);
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
        return -errno;
    return steal_fd(&fd);
}

/* A descriptor or -errno. */
static int dial(const char *path)
{
    auto_close int found = path_open(AT_FDCWD, path, O_PATH, PATH_NO_SYMLINKS);
    struct stat st;

    if (found < 0)
        return found;
    if (fstat(found, &st) < 0)
        return -errno;
    return S_ISSOCK(st.st_mode) ? connect_to(found) : -ENOTSOCK;
}

static int answer(const struct seam_message *message)
{
    const struct seam_dial *asked = message->fixed;
    const char *path = seam_text(message, asked->path);
    auto_close int fd = path && path[0] == '/' ? dial(path) : -EINVAL;
    struct seam_door_socket dialed = {.error = fd < 0 ? -fd : 0};
    struct seam_writer writer;
    int r;

    seam_writer_init(&writer, SEAM_DIALED, message->header.request);
    r = seam_send(CONFINE_CHANNEL, &writer, &dialed, &fd, fd < 0 ? 0 : 1);
    seam_writer_done(&writer);
    return r;
}

int main(int argc, char **argv)
{
    static const struct confine_program program = {
        .name = "saphan-dialer",
        .filter = &filter_dialer,
        .cpu_seconds = CPU_SECONDS,
        .takes = SEAM_DIAL,
        .dials = true,
        .serve = answer,
    };

    confine_main(&program, argc, argv);
}
