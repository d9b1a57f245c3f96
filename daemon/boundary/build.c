#include "boundary.h"

#include "own.h"
#include "stages.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void boundary_init(struct site *site)
{
    *site = (struct site){.root = -EBADF,
        .tmp = -EBADF,
        .run = -EBADF,
        .shm = -EBADF,
        .home = -EBADF,
        .proc = -EBADF,
        .devices = -EBADF,
        .sys = -EBADF,
        .ruleset = -EBADF,
        .null = -EBADF,
        .streams = {-EBADF, -EBADF, -EBADF},
        .kept = {-EBADF, -EBADF, -EBADF}};
}

void boundary_done(struct site *site)
{
    int *const all[] = {&site->root, &site->tmp, &site->run, &site->shm, &site->home, &site->proc,
        &site->devices, &site->sys, &site->ruleset, &site->null};

    for (size_t i = 0; i < array_size(all); i++)
        close_fd(all[i]);
    for (size_t i = 0; i < array_size(site->streams); i++) {
        close_fd(&site->streams[i]);
        close_fd(&site->kept[i]);
    }
    for (size_t i = 0; i < array_size(site->places); i++)
        free(site->places[i]);
    for (uint32_t i = 0; i < site->n_led; i++)
        free(site->led[i]);
}

static int run_stages(int (*const *stages)(struct site *, struct fault *), size_t count,
    struct site *site, struct fault *ret_fault)
{
    for (size_t i = 0; i < count; i++) {
        int r = stages[i](site, ret_fault);

        if (r < 0)
            return r;
    }
    return 0;
}

int boundary_prepare(struct site *site, struct fault *ret_fault)
{
    static int (*const stages[])(struct site *, struct fault *) = {
        stage_loopback,
        stage_root,
        stage_proc,
        stage_pivot,
    };

    /* The folders on the way to a grant must be passable, whatever umask the slot was born with. */
    (void)umask(022);
    return run_stages(stages, array_size(stages), site, ret_fault);
}

int boundary_build(struct site *site, const struct plan_view *view, const int *descriptors,
    struct fault *ret_fault)
{
    static int (*const stages[])(struct site *, struct fault *) = {
        stage_scratch,
        stage_mounts,
        stage_carve_outs,
        stage_devices,
        stage_masks,
        stage_seal_root,
        stage_streams,
        stage_domain,
    };
    static int (*const in_container[])(struct site *, struct fault *) = {
        stage_host_name,
        stage_image,
        stage_image_places,
        stage_mounts,
        stage_carve_outs,
        stage_devices,
        stage_image_directory,
        stage_seal_image,
        stage_pivot,
        stage_streams,
    };

    site->view = view;
    site->plan = view->plan;
    site->descriptors = descriptors;
    if (site->plan->boundary == BOUNDARY_CONTAINER)
        return run_stages(in_container, array_size(in_container), site, ret_fault);
    return run_stages(stages, array_size(stages), site, ret_fault);
}
