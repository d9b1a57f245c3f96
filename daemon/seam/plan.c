#include "plan.h"

#include "capability.h"
#include "descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define PLAN_MAGIC 0x73617031U /* "sap1" */
#define PLAN_SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

void plan_writer_init(struct plan_writer *writer)
{
    memset(writer, 0, sizeof(*writer));
    seam_writer_init(&writer->strings, 0, 0);
    writer->plan.magic = PLAN_MAGIC;
    writer->plan.version = PLAN_VERSION;
    writer->plan.directory = SEAM_TEXT_ABSENT;
    writer->plan.host_name = SEAM_TEXT_ABSENT;
}

void plan_writer_done(struct plan_writer *writer)
{
    seam_writer_done(&writer->strings);
}

int plan_seal(struct plan_writer *writer, int *ret_memfd)
{
    auto_close int memfd = -EBADF;
    int r;

    if (writer->strings.error)
        return writer->strings.error;
    writer->plan.strings_size = writer->strings.header.strings_size;
    writer->plan.size = (uint32_t)sizeof(writer->plan) + writer->plan.strings_size;
    memfd = memfd_create("saphan-plan", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (memfd < 0)
        return -errno;
    r = descriptor_write_all(memfd, &writer->plan, sizeof(writer->plan));
    if (r == 0)
        r = descriptor_write_all(memfd, writer->strings.strings, writer->plan.strings_size);
    if (r < 0)
        return r;
    if (fcntl(memfd, F_ADD_SEALS, PLAN_SEALS) < 0)
        return -errno;
    *ret_memfd = steal_fd(&memfd);
    return 0;
}

/* ---- reading ---- */

static bool text_fits(const struct plan_view *view, struct seam_text text)
{
    size_t size = view->plan->strings_size;

    if (text.offset == UINT32_MAX)
        return text.length == 0;
    return text.offset < size && text.length < size - text.offset &&
           strlen(view->strings + text.offset) == text.length;
}

static bool list_fits(const struct plan_view *view, struct seam_list list)
{
    uint32_t ends = 0;

    if (list.count == 0)
        return true;
    if (list.offset >= view->plan->strings_size ||
        list.bytes > view->plan->strings_size - list.offset || list.bytes == 0)
        return false;
    for (uint32_t i = 0; i < list.bytes; i++)
        ends += view->strings[list.offset + i] == '\0';
    return ends == list.count && view->strings[list.offset + list.bytes - 1] == '\0';
}

static bool counts_fit(const struct plan *plan)
{
    return plan->n_groups <= GROUPS_MAX && plan->n_mounts <= PLAN_MOUNTS_MAX &&
           plan->n_carve_outs <= CARVE_OUTS_MAX && plan->n_masks <= PLAN_MASKS_MAX &&
           plan->n_symlinks <= array_size(plan->symlinks) &&
           plan->n_ports <= array_size(plan->ports) && plan->n_layers <= PLAN_LAYERS_MAX &&
           plan->argv.count > 0;
}

static bool mounts_fit(const struct plan_view *view, size_t n_descriptors)
{
    const struct plan *plan = view->plan;

    for (uint32_t i = 0; i < plan->n_mounts; i++) {
        if (plan->mounts[i].descriptor >= n_descriptors ||
            plan->mounts[i].target.offset == UINT32_MAX || !text_fits(view, plan->mounts[i].target))
            return false;
    }
    for (uint32_t i = 0; i < plan->n_carve_outs; i++) {
        if (plan->carve_outs[i].mount >= plan->n_mounts ||
            plan->carve_outs[i].path.offset == UINT32_MAX ||
            !text_fits(view, plan->carve_outs[i].path))
            return false;
    }
    return true;
}

/* A domain has no layers and no capability, and a container has layers. */
static bool layers_fit(const struct plan *plan, size_t n_descriptors)
{
    if ((plan->n_layers > 0) != (plan->boundary == BOUNDARY_CONTAINER))
        return false;
    if (plan->capabilities & ~(plan->n_layers > 0 ? capabilities_known() : 0))
        return false;
    for (uint32_t i = 0; i < plan->n_layers; i++) {
        if (plan->layers[i] >= n_descriptors)
            return false;
    }
    return true;
}

static bool texts_fit(const struct plan_view *view, size_t n_descriptors)
{
    const struct plan *plan = view->plan;

    for (uint32_t i = 0; i < plan->n_masks; i++) {
        if (plan->masks[i].offset == UINT32_MAX || !text_fits(view, plan->masks[i]))
            return false;
    }
    for (uint32_t i = 0; i < plan->n_symlinks; i++) {
        if (!text_fits(view, plan->symlinks[i].path) || !text_fits(view, plan->symlinks[i].target))
            return false;
    }
    for (size_t i = 0; i < array_size(plan->streams); i++) {
        if (plan->streams[i].mode != STREAM_NULL &&
            (plan->streams[i].descriptor < 0 ||
                (size_t)plan->streams[i].descriptor >= n_descriptors))
            return false;
    }
    return list_fits(view, plan->argv) && list_fits(view, plan->env) &&
           plan->directory.offset != UINT32_MAX && text_fits(view, plan->directory) &&
           text_fits(view, plan->host_name);
}

static bool plan_fits(const struct plan_view *view, size_t n_descriptors)
{
    const struct plan *plan = view->plan;

    return plan->magic == PLAN_MAGIC && plan->version == PLAN_VERSION &&
           plan->size == view->mapped && plan->size - sizeof(*plan) == plan->strings_size &&
           plan->strings_size > 0 && view->strings[plan->strings_size - 1] == '\0' &&
           counts_fit(plan) && layers_fit(plan, n_descriptors) && mounts_fit(view, n_descriptors) &&
           texts_fit(view, n_descriptors);
}

int plan_open(int memfd, size_t n_descriptors, struct plan_view *ret)
{
    struct plan_view view = {0};
    struct stat st;
    void *mapped;

    if (fcntl(memfd, F_GET_SEALS) < 0 || (fcntl(memfd, F_GET_SEALS) & PLAN_SEALS) != PLAN_SEALS ||
        fstat(memfd, &st) < 0 || st.st_size < (off_t)sizeof(struct plan) ||
        st.st_size > (off_t)(sizeof(struct plan) + SEAM_STRINGS_MAX))
        return -EINVAL;
    mapped = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, memfd, 0);
    if (mapped == MAP_FAILED)
        return -errno;
    view.plan = mapped;
    view.mapped = (size_t)st.st_size;
    view.strings = (const char *)mapped + sizeof(struct plan);
    if (!plan_fits(&view, n_descriptors)) {
        plan_close(&view);
        return -EINVAL;
    }
    *ret = view;
    return 0;
}

void plan_close(struct plan_view *view)
{
    if (view->plan)
        (void)munmap((void *)(uintptr_t)view->plan, view->mapped);
    view->plan = NULL;
}

const char *plan_text(const struct plan_view *view, struct seam_text text)
{
    return text.offset == UINT32_MAX ? NULL : view->strings + text.offset;
}

int plan_strv(const struct plan_view *view, struct seam_list list, char ***ret)
{
    char **strv = calloc((size_t)list.count + 1, sizeof(*strv));
    const char *at = view->strings + list.offset;

    if (!strv)
        return -ENOMEM;
    for (uint32_t i = 0; i < list.count; i++, at += strlen(at) + 1)
        strv[i] = (char *)(uintptr_t)at;
    *ret = strv;
    return 0;
}
