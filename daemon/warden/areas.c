#include "areas.h"

#include "ledger.h"
#include "leg_environment.h"
#include "leg_image.h"
#include "text.h"
#include "why.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *const own[] = {"/tmp", "/run", "/dev/shm"};

static enum why_kind kind_of_carve_out(enum carve_out_kind kind)
{
    switch (kind) {
    case CARVE_OUT_IF_PRESENT:
        return WHY_CARVE_OUT_IF_PRESENT;
    case CARVE_OUT_PIN:
        return WHY_PIN;
    default:
        return WHY_CARVE_OUT;
    }
}

static void add(FILE *out, enum why_kind kind, const char *path)
{
    (void)fprintf(out, "%s %s%c", why_slug(kind), path, '\0');
}

static void add_view(FILE *out, const struct leg *leg)
{
    const struct system_view *view = &leg->warden->view;

    if (leg->image) {
        add(out, leg->request.writable_root ? WHY_OWN : WHY_SYSTEM, "/");
        return;
    }
    if (leg->decision.view == VIEW_HOST)
        add(out, WHY_HOST, "/");
    for (uint32_t i = 0; leg->decision.view == VIEW_MINIMAL && i < view->n_directories; i++)
        add(out, WHY_SYSTEM, view->directories[i].path);
    for (uint32_t i = 0; i < view->n_symlinks; i++) {
        if (!strchr(view->symlinks[i].target, ' '))
            (void)fprintf(out, "%s:%s %s%c", why_slug(WHY_LINK), view->symlinks[i].target,
                view->symlinks[i].path, '\0');
    }
}

static void add_program_links(FILE *out, const struct leg *leg)
{
    const struct leg_program *program = &leg->vendor.program;

    for (uint32_t i = 0; i < program->n_links; i++) {
        if (!strchr(program->links[i].target, ' '))
            (void)fprintf(out, "%s:%s %s%c", why_slug(WHY_LINK), program->links[i].target,
                program->links[i].path, '\0');
    }
}

static void add_mask(void *context, const char *path)
{
    add(context, WHY_MASK, path);
}

/* HOME is scratch where nothing that is mounted holds it: so never in the host's view. */
static void add_home(FILE *out, const struct leg *leg)
{
    const char *home = LEG_HOME, *at = seam_list_first(&leg->ask, leg->run->env);

    for (uint32_t i = 0; i < leg->run->env.count; i++, at = seam_list_next(at)) {
        if (text_starts_with(at, "HOME="))
            home = at + strlen("HOME=");
    }
    for (uint32_t i = 0; i < leg->request.n_grants; i++) {
        if (leg_seat(leg) == (int)i ||
            text_path_beneath(home, grant_place(&leg->request.grants[i])))
            return;
    }
    if ((leg->image || leg->decision.view == VIEW_MINIMAL) && text_path_is_normal(home) &&
        home[1] != '\0')
        add(out, WHY_OWN, home);
}

static void add_granted(FILE *out, const struct leg *leg)
{
    for (uint32_t i = 0; i < leg->request.n_grants; i++)
        add(out, grant_writes(leg->request.grants[i].kind) ? WHY_WRITE : WHY_READ,
            grant_place(&leg->request.grants[i]));
    for (uint32_t i = 0; i < leg->decision.n_carve_outs; i++) {
        const struct carve_out *carve_out = &leg->decision.carve_outs[i];
        const char *grant = grant_place(&leg->request.grants[carve_out->grant]);

        (void)fprintf(out, "%s %s%s%s%c", why_slug(kind_of_carve_out(carve_out->kind)),
            text_equal(grant, "/") ? "" : grant, carve_out->path[0] ? "/" : "", carve_out->path,
            '\0');
    }
}

int areas_write(const struct leg *leg, char **ret_lines, size_t *ret_size)
{
    char *lines = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&lines, &size);
    int r;

    if (!out)
        return -ENOMEM;
    add_view(out, leg);
    add_program_links(out, leg);
    add(out, WHY_PROC, "/proc");
    add(out, WHY_DEVICES, "/dev");
    for (size_t i = 0; i < array_size(own); i++)
        add(out, WHY_OWN, own[i]);
    add_home(out, leg);
    add_granted(out, leg);
    r = leg->image ? 0 : leg_masks(leg, add_mask, out);
    if (fclose(out) != 0 && r == 0)
        r = -ENOMEM;
    if (r < 0) {
        free(lines);
        return r;
    }
    *ret_lines = lines;
    *ret_size = size;
    return 0;
}

void areas_add_led(const struct leg *leg, const struct seam_message *message)
{
    const struct seam_ready *ready = message->fixed;
    const char *at = seam_list_first(message, ready->led);
    auto_free char *lines = NULL;
    size_t size = 0;
    FILE *out;

    if (ready->led.count == 0)
        return;
    out = open_memstream(&lines, &size);
    if (!out)
        return;
    for (uint32_t i = 0; i < ready->led.count && i < CARVE_OUTS_MAX; i++, at = seam_list_next(at)) {
        if (text_path_is_normal(at))
            add(out, WHY_CARVE_OUT, at);
    }
    if (fclose(out) == 0)
        ledger_boundary_add(leg->warden->ledger, leg->id, lines, size);
}
