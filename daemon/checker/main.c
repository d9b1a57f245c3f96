/* saphan-checker - judges the artefacts of a leg, on the host's side.
 *
 * Usage: saphan-checker UID GID [GROUP,...], descriptor 3 = its seam channel.
 *
 * What it should do: take the descriptors of granted directories and files, say for each artefact
 * beneath them whether it is there, what it is, how big, how old, and what its sha256 is.  The
 * warden starts it when the last process of the leg is gone (and once before, for the old state);
 * it ends when the warden closes the channel.
 *
 * What it must not: follow a symlink or leave the granted directory; open anything but a regular
 * file for reading (a FIFO would hang it, a device may do things when opened); read a file that the
 * requester may not read.  The whole tree it looks at is hostile, and so are its times and sizes: a
 * sparse file of a petabyte is ended by RLIMIT_CPU and by the warden's own time limit.
 *
 * What an attacker who owns it gains: the bytes of a file reach no parser, only a hash, so there is
 * little to own.  He would be the requester without any capability, unable to write, to make a
 * process or a socket, or to see another's files; he could lie about this one leg's artefacts,
 * which its own requester could do as well.
 */
#include "confine.h"
#include "filters.h"
#include "stamp.h"

#define CPU_SECONDS 60
#define OFFERED_MAX (16ULL << 20) /* what is hashed without being asked: a moment's work */

static int answer(uint64_t request, const struct seam_checked *checked)
{
    struct seam_writer writer;
    int r;

    seam_writer_init(&writer, SEAM_CHECKED, request);
    r = seam_send(CONFINE_CHANNEL, &writer, checked, NULL, 0);
    seam_writer_done(&writer);
    return r;
}

/* A hash that nobody asked for must not make a good artefact doubtful. */
static void look(int grant, const char *path, uint32_t hash, struct artefact_stamp *ret)
{
    struct artefact_stamp hashed;

    stamp_take(grant, path, hash == CHECK_HASH_WANTED, ret);
    if (hash != CHECK_HASH_OFFERED || ret->error || !ret->regular || ret->size > OFFERED_MAX)
        return;
    stamp_take(grant, path, true, &hashed);
    if (hashed.error == 0)
        *ret = hashed;
}

static int check(const struct seam_message *message)
{
    const struct seam_check *asked = message->fixed;
    int r;

    if (asked->n_artefacts > ARTEFACTS_MAX)
        return SEAM_E_MALFORMED;
    for (uint32_t i = 0; i < asked->n_artefacts; i++) {
        uint32_t descriptor = asked->artefacts[i].descriptor;
        const char *path = seam_text(message, asked->artefacts[i].path);
        struct seam_checked checked = {.artefact = i};

        if (descriptor >= message->n_descriptors || !path)
            return SEAM_E_MALFORMED;
        look(message->descriptors[descriptor], path, asked->artefacts[i].hash, &checked.stamp);
        r = answer(message->header.request, &checked);
        if (r != 0)
            return r;
    }
    return 0;
}

int main(int argc, char **argv)
{
    static const struct confine_program program = {
        .name = "saphan-checker",
        .filter = &filter_checker,
        .cpu_seconds = CPU_SECONDS,
        .takes = SEAM_CHECK,
        .serve = check,
    };

    confine_main(&program, argc, argv);
}
