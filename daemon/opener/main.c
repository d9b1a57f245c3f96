/* saphan-opener - opens the paths of a request as the requester.
 *
 * Usage: saphan-opener UID GID [GROUP,...], descriptor 3 = its seam channel.
 *
 * What it should do: open each path it is sent with the rights of the one who asks and no others,
 * and send back the descriptor (O_PATH) or the errno.  Asked to follow git, it also finds the
 * directories of a linked worktree, which lie outside of it.  Asked where a program lies, it says
 * every name on the way, whether its requester could change it, and what the program needs to see.
 *
 * What it must not: open with more rights than the requester has (root's would turn a path into a
 * right); follow a magic link of /proc, which would name another process's descriptor; believe a
 * .git file that its repository does not confirm; open anything but a regular file for reading.
 *
 * What an attacker who owns it gains: paths and .git files are hostile text, read by a few lines of
 * code.  He would be the requester without any capability, unable to write, to make a process or a
 * socket.  The descriptors he can send are ones the requester could have passed himself, and the
 * warden checks them the same way.
 */
#include "confine.h"
#include "filters.h"
#include "open.h"
#include "program_search.h"
#include "text.h"
#include <errno.h>

#define CPU_SECONDS 10

/* FOUND is a descriptor or -errno; it stays the caller's. */
static int answer(uint64_t request, uint32_t path, uint32_t kind, int found, const char *name)
{
    struct seam_opened opened = {.path = path, .kind = kind, .error = found < 0 ? -found : 0};
    struct seam_writer writer;
    int r;

    seam_writer_init(&writer, SEAM_OPENED, request);
    opened.name = seam_put_text(&writer, name);
    r = seam_send(CONFINE_CHANNEL, &writer, &opened, &found, found < 0 ? 0 : 1);
    seam_writer_done(&writer);
    return r;
}

/* What git leads to goes first: the path's own answer is its last. */
static int answer_all(
    uint64_t request, uint32_t path, const char *name, const struct open_result *result)
{
    int r = 0;

    if (result->git < 0)
        r = answer(request, path, GRANT_GIT_DIR, result->git, name);
    if (result->git > 0)
        r = answer(request, path, GRANT_GIT_DIR, result->git_dir, result->git_dir_path);
    if (result->git > 0 && r == 0)
        r = answer(request, path, GRANT_GIT_COMMON, result->git_common, result->git_common_path);
    return r == 0 ? answer(request, path, 0, result->descriptor, name) : r;
}

static int open_all(const struct seam_message *message)
{
    const struct seam_open *asked = message->fixed;
    int r;

    if (asked->n_paths > GRANTS_MAX)
        return SEAM_E_MALFORMED;
    for (uint32_t i = 0; i < asked->n_paths; i++) {
        const char *path = seam_text(message, asked->paths[i].path);
        struct open_result result;

        if (!path)
            return SEAM_E_MALFORMED;
        open_path(path, asked->paths[i].follow_git != 0, &result);
        r = answer_all(message->header.request, i, path, &result);
        open_result_done(&result);
        if (r != 0)
            return r;
    }
    return 0;
}

/* ---- where a program lies ---- */

static int send_step(void *context, const struct program_step *step)
{
    const uint64_t *request = context;
    struct seam_trail trail = {.kind = step->kind,
        .interpreter = step->interpreter,
        .writable = step->writable,
        .dev = step->st.st_dev,
        .ino = step->st.st_ino,
        .size = (uint64_t)step->st.st_size,
        .mtime_ns = (int64_t)step->st.st_mtim.tv_sec * 1000000000 + step->st.st_mtim.tv_nsec,
        .ctime_ns = (int64_t)step->st.st_ctim.tv_sec * 1000000000 + step->st.st_ctim.tv_nsec};
    struct seam_writer writer;
    int r;

    seam_writer_init(&writer, SEAM_TRAIL, *request);
    trail.path = seam_put_text(&writer, step->path);
    trail.target = seam_put_text(&writer, step->target);
    r = seam_send(
        CONFINE_CHANNEL, &writer, &trail, &step->descriptor, step->descriptor < 0 ? 0 : 1);
    seam_writer_done(&writer);
    return r > 0 ? -EPIPE : r;
}

static int send_end(uint64_t request, int error)
{
    struct seam_trail trail = {.kind = TRAIL_END, .error = error};
    struct seam_writer writer;
    int r;

    seam_writer_init(&writer, SEAM_TRAIL, request);
    trail.path = seam_put_text(&writer, NULL);
    trail.target = seam_put_text(&writer, NULL);
    r = seam_send(CONFINE_CHANNEL, &writer, &trail, NULL, 0);
    seam_writer_done(&writer);
    return r;
}

static int find_program(const struct seam_message *message)
{
    const struct seam_find *asked = message->fixed;
    const char *at = seam_list_first(message, asked->before);
    auto_free const char **before = calloc((size_t)asked->before.count + 1, sizeof(*before));
    uint64_t request = message->header.request;
    struct program_search search = {.program = seam_text(message, asked->program),
        .directory = seam_text(message, asked->directory),
        .path = seam_text(message, asked->search),
        .home = seam_text(message, asked->home),
        .before = before,
        .take = send_step,
        .context = &request};

    if (!before)
        return -ENOMEM;
    if (!search.program || !search.directory || !search.path ||
        !text_path_is_normal(search.directory))
        return SEAM_E_MALFORMED;
    for (uint32_t i = 0; i < asked->before.count; i++, at = seam_list_next(at))
        before[i] = at;
    return send_end(request, -program_search(&search));
}

static int serve(const struct seam_message *message)
{
    return message->header.type == SEAM_FIND ? find_program(message) : open_all(message);
}

int main(int argc, char **argv)
{
    static const struct confine_program program = {
        .name = "saphan-opener",
        .filter = &filter_opener,
        .cpu_seconds = CPU_SECONDS,
        .takes = SEAM_OPEN,
        .takes_also = SEAM_FIND,
        .serve = serve,
    };

    confine_main(&program, argc, argv);
}
