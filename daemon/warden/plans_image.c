/* plans_image.c - a container's part of a plan: its layers, each a detached mount of the store's,
 * read only, and mapped from the store's ids to the leg's.  The stub stacks them: what overlayfs
 * does it does with the rights of the leg's own root. */
#include "planning.h"

#include "image_store.h"
#include "leg_image.h"
#include "mount.h"
#include "steps.h"
#include "text.h"
#include <errno.h>
#include <linux/mount.h>
#include <stdio.h>

static int add_layer(struct planning *planning, int user_namespace, const char *layer)
{
    struct plan *plan = &planning->writer.plan;
    int mount = image_store_layer(planning->leg->warden, layer), r;

    if (mount < 0)
        return fault_set(planning->fault, STEP_LAYERS, -mount, "%s", layer);
    r = mount_set(mount,
        MOUNT_ATTR_IDMAP | MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, user_namespace,
        false);
    if (r < 0) {
        close(mount);
        return fault_set(planning->fault, STEP_LAYERS, -r, "%s", layer);
    }
    r = planning_give(planning, mount, &plan->layers[plan->n_layers]);
    if (r == 0)
        plan->n_layers++;
    return r;
}

/* The topmost first; one that an image names twice stands where it is topmost. */
static int add_layers(struct planning *planning)
{
    const struct image_record *image = &planning->leg->image->record;
    int user_namespace, r;

    r = image_store_map(planning->leg->warden, planning->leg->slot->id_base, &user_namespace);
    if (r < 0)
        return fault_set(planning->fault, STEP_LAYERS, -r, "id map");
    for (uint32_t i = image->n_layers; r == 0 && i-- > 0;) {
        bool again = false;

        for (uint32_t j = i + 1; j < image->n_layers; j++)
            again = again || text_equal(image->layers[j], image->layers[i]);
        if (!again)
            r = add_layer(planning, user_namespace, image->layers[i]);
    }
    return r;
}

int plan_image(struct planning *planning)
{
    struct leg *leg = planning->leg;
    struct plan *plan = &planning->writer.plan;
    const char *asked = seam_text(&leg->ask, leg->run->host_name);
    char name[32];

    (void)snprintf(name, sizeof(name), "leg-%llu", (unsigned long long)leg->id);
    plan->host_name = seam_put_text(&planning->writer.strings, asked && *asked ? asked : name);
    plan->writable_root = leg->request.writable_root;
    plan->nested_allowed = leg->decision.nested_allowed;
    plan->capabilities = leg->decision.capabilities;
    return add_layers(planning);
}
