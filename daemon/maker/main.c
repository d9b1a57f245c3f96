/* saphan-maker - makes and opens the writable parts of a seat home, as the requester.
 *
 * Usage: saphan-maker UID GID [GROUP,...], descriptor 3 = its seam channel.
 *
 * What it should do: for each path that a vendor's profile says its program must write in the seat
 * home, make the directories that are not there yet (the requester's, 0700: as the program itself
 * would) and send back a descriptor (O_PATH).
 *
 * What it must not: leave the seat home, by a link or otherwise; make anything but a directory;
 * touch what is there.
 *
 * What an attacker who owns it gains: he would be the requester without any capability, able to
 * make empty directories where the requester may, and nothing else: no file, no process, no socket.
 */
#include "confine.h"
#include "filters.h"
#include "made_path.h"
#include "own.h"
#include "text.h"
#include <errno.h>

#define CPU_SECONDS 5

static int answer(uint64_t request, uint32_t path, int found)
{
    struct seam_made made = {.path = path, .error = found < 0 ? -found : 0};
    struct seam_writer writer;
    int r;

    seam_writer_init(&writer, SEAM_MADE, request);
    r = seam_send(CONFINE_CHANNEL, &writer, &made, &found, found < 0 ? 0 : 1);
    seam_writer_done(&writer);
    return r;
}

static int make_all(const struct seam_message *message)
{
    const struct seam_make *asked = message->fixed;
    const char *path = seam_list_first(message, asked->paths);

    if (message->n_descriptors != 1)
        return SEAM_E_MALFORMED;
    for (uint32_t i = 0; i < asked->paths.count; i++, path = seam_list_next(path)) {
        auto_close int found = made_path(message->descriptors[0], path);
        int r = answer(message->header.request, i, found);

        if (r != 0)
            return r;
    }
    return 0;
}

int main(int argc, char **argv)
{
    static const struct confine_program program = {
        .name = "saphan-maker",
        .filter = &filter_maker,
        .cpu_seconds = CPU_SECONDS,
        .takes = SEAM_MAKE,
        .makes_directories = true,
        .serve = make_all,
    };

    confine_main(&program, argc, argv);
}
