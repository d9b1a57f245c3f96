/* leg_program.c - where a vendor's program really lies: found by the opener, as the requester.
 *
 * The way there is judged by admit() (custody); what the program needs to see and the leg would not
 * see is added to its grants as read grants, which the policy's ceiling judges like any other and
 * which are told.  Links on the way that nothing shows stand in the leg's root as on the host. */
#include "leg.h"
#include "leg_image.h"
#include "legs.h"

#include "environment.h"
#include "fault.h"
#include "steps.h"
#include "text.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define FIND_TIMEOUT_MS 5000

void leg_program_done(struct leg_program *program)
{
    for (uint32_t i = 0; i < program->n_steps; i++)
        free((char *)(uintptr_t)program->steps[i].path);
    for (uint32_t i = 0; i < program->n_links; i++) {
        free(program->links[i].path);
        free(program->links[i].target);
    }
    close_fd(&program->file);
    free(program->path);
    free(program->name);
    free(program->interpreter);
    *program = (struct leg_program){.file = -EBADF};
}

/* ---- what the leg sees anyway ---- */

static bool is_shown(const struct leg *leg, const char *path)
{
    const struct system_view *view = &leg->warden->view;

    if (leg->request.view == VIEW_HOST)
        return true;
    for (uint32_t i = 0; i < view->n_directories; i++) {
        if (text_path_beneath(path, view->directories[i].path))
            return true;
    }
    for (uint32_t i = 0; i < view->n_symlinks; i++) {
        if (text_equal(path, view->symlinks[i].path))
            return true;
    }
    for (uint32_t i = 0; i < leg->request.n_grants; i++) {
        const char *grant = leg->grant_paths[i];

        if (grant && (leg->request.grants[i].directory ? text_path_beneath(path, grant)
                                                       : text_equal(path, grant)))
            return true;
    }
    return false;
}

/* ---- the opener's answers ---- */

static void took_step(struct leg_program *program, const char *path, bool writable)
{
    char *copy;

    for (uint32_t i = 0; i < program->n_steps; i++) {
        if (text_equal(program->steps[i].path, path)) {
            program->steps[i].writable |= writable;
            return;
        }
    }
    copy = program->n_steps < CUSTODY_STEPS_MAX ? strdup(path) : NULL;
    if (!copy) {
        program->too_many = true;
        return;
    }
    program->steps[program->n_steps++] = (struct custody_step){.path = copy, .writable = writable};
}

static void took_link(struct leg *leg, const char *path, const char *target)
{
    struct leg_program *program = &leg->vendor.program;
    uint32_t n = program->n_links;

    if (!leg->request.profile->package)
        return;
    for (uint32_t i = 0; i < n; i++) {
        if (text_equal(program->links[i].path, path))
            return;
    }
    if (n == LEG_LINKS_MAX) {
        program->too_many = true;
        return;
    }
    program->links[n].path = strdup(path);
    program->links[n].target = strdup(target);
    program->n_links++;
    program->too_many |= !program->links[n].path || !program->links[n].target;
}

static void took_file(
    struct leg_program *program, const struct seam_message *message, const char *path, int *file)
{
    const struct seam_trail *step = message->fixed;
    const char *name = seam_text(message, step->target);

    if (step->interpreter && !program->interpreter)
        program->interpreter = strdup(path);
    if (step->interpreter || program->path)
        return;
    program->name = strdup(name ? name : path);
    program->file = steal_fd(file);
    program->path = strdup(path);
    program->dev = step->dev;
    program->ino = step->ino;
    program->size = step->size;
    program->mtime_ns = step->mtime_ns;
    program->ctime_ns = step->ctime_ns;
}

static void took_part(struct leg *leg, const char *path, bool runtime, int *part)
{
    struct request *request = &leg->request;

    if (!request->profile->package || is_shown(leg, path))
        return;
    if (request->n_grants == GRANTS_MAX) {
        leg->vendor.program.too_many = true;
        return;
    }
    leg->grant_fds[request->n_grants] = steal_fd(part);
    request->grants[request->n_grants++] = (struct grant){.kind = GRANT_READ,
        .added = runtime ? "the interpreter of the vendor's program"
                         : "the package of the vendor's program"};
}

static bool took_trail(void *context, struct seam_message *message)
{
    struct leg *leg = context;
    const struct seam_trail *step = message->fixed;
    const char *path = seam_text(message, step->path), *target = seam_text(message, step->target);
    int none = -EBADF, *descriptor = message->n_descriptors ? &message->descriptors[0] : &none;

    if (step->kind == TRAIL_END) {
        leg->vendor.program.error = step->error;
        return true;
    }
    if (!path || !text_path_is_normal(path))
        return false;
    if (step->kind <= TRAIL_FILE)
        took_step(&leg->vendor.program, path, step->writable != 0);
    if (step->kind == TRAIL_LINK && target)
        took_link(leg, path, target);
    if (step->kind == TRAIL_FILE)
        took_file(&leg->vendor.program, message, path, descriptor);
    if ((step->kind == TRAIL_PACKAGE || step->kind == TRAIL_RUNTIME) && *descriptor >= 0)
        took_part(leg, path, step->kind == TRAIL_RUNTIME, descriptor);
    return false;
}

/* ---- asking ---- */

static const char *search_path(const struct leg *leg, uint32_t program)
{
    const char *path = nesting_variable(&leg->vendor.command, program, "PATH");

    return path ? path : environment_path(leg->peer.uid);
}

/* In a container it is the image's own, which the leg cannot write to: its digest says which file
 * it is.  One beneath a grant could be any: it is not known. */
static int take_from_image(struct leg *leg)
{
    struct leg_program *program = &leg->vendor.program;
    const struct request *request = &leg->request;
    uint32_t at;
    const char *name;

    if (!leg->image || nesting_program(request->profile, &leg->vendor.command, &at) < 0)
        return 0;
    name = leg->vendor.command.argv[at];
    for (uint32_t i = 0; i < request->n_grants; i++) {
        const char *place = grant_place(&request->grants[i]);

        if (!text_path_is_normal(name) || (place && text_path_beneath(name, place)))
            return 0;
    }
    program->path = strdup(name);
    program->name = strdup(name);
    text_format_sha256(leg->image->record.digest, program->sha256);
    return program->path && program->name ? 0 : -ENOMEM;
}

int leg_find_program(struct leg *leg, errand_done *done)
{
    struct nesting_command *command = &leg->vendor.command;
    struct seam_find find = {0};
    struct seam_writer writer;
    uint32_t program;
    int r;

    leg->vendor.program.first_added = leg->request.n_grants;
    if (leg->request.image.name)
        return take_from_image(leg);
    if (nesting_program(leg->request.profile, command, &program) < 0)
        return 0;
    seam_writer_init(&writer, SEAM_FIND, 0);
    find.program = seam_put_text(&writer, command->argv[program]);
    find.directory = seam_put_text(&writer, leg->vendor.directory);
    find.search = seam_put_text(&writer, search_path(leg, program));
    find.home = seam_put_text(&writer, leg->home);
    find.before = seam_put_list(&writer, command->argv, program);
    r = errand_run(leg->warden,
        &(struct errand_question){.program = PROGRAM_OPENER,
            .as = &leg->peer,
            .type = SEAM_FIND,
            .fixed = &find,
            .writer = &writer,
            .answer_type = SEAM_TRAIL,
            .n_answers = 1,
            .timeout_ms = FIND_TIMEOUT_MS,
            .answer = took_trail,
            .done = done,
            .context = leg},
        &leg->errand);
    seam_writer_done(&writer);
    return r < 0 ? r : 1;
}

/* Links that a grant shows, be it one of those just added, stand in it already. */
static void drop_shown_links(struct leg *leg)
{
    struct leg_program *program = &leg->vendor.program;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < program->n_links; i++) {
        if (is_shown(leg, program->links[i].path)) {
            free(program->links[i].path);
            free(program->links[i].target);
        } else {
            program->links[kept++] = program->links[i];
        }
    }
    program->n_links = kept;
}

/* A way that could not be followed whole is not judged by half. */
bool leg_program_found(struct leg *leg)
{
    struct leg_program *program = &leg->vendor.program;
    char detail[200];

    if (fault_is_shortage(program->error)) {
        leg_fail(leg, STEP_OPEN, program->error, "the way to the vendor's program");
        return false;
    }
    if (program->too_many || (program->error && program->error != ENOENT)) {
        (void)snprintf(detail, sizeof(detail), "the way to the program of %.32s: %s",
            leg->request.profile->name,
            fault_errno_name(program->too_many ? E2BIG : program->error));
        leg_refuse(leg, REASON_GRANT_ABSENT, detail);
        return false;
    }
    leg->request.custody = program->steps;
    leg->request.n_custody = program->n_steps;
    if (leg_name_added_grants(leg, program->first_added) < 0)
        return false;
    drop_shown_links(leg);
    return true;
}

void leg_program_started(struct leg *leg)
{
    const struct leg_program *program = &leg->vendor.program;
    char detail[200];

    if (program->error)
        leg_tell(leg, EVENT_NOTE, REASON_NONE, NULL, NULL,
            "the vendor's program was not found by its requester: who could change it is not "
            "known");
    for (uint32_t i = program->first_added; leg->vendor.set && i < leg->request.n_grants; i++) {
        const struct grant *grant = &leg->request.grants[i];

        if (!grant->added)
            continue;
        (void)snprintf(detail, sizeof(detail), "granted by itself: %s, %s",
            grant_kind_name(grant->kind), grant->added);
        leg_tell(leg, EVENT_NOTE, REASON_NONE, NULL, grant->path, detail);
    }
}
