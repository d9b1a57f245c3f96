/* planning.h - a plan while it is made: for plans.c and plans_image.c. */
#pragma once

#include "leg.h"
#include "plan.h"

#define PLANNING_DESCRIPTORS_MAX SEAM_DESCRIPTORS_MAX

struct planning {
    struct leg *leg;
    struct plan_writer writer;
    int descriptors[PLANNING_DESCRIPTORS_MAX]; /* [0] is the plan's memfd */
    uint32_t n_descriptors;                    /* all are owned */
    struct fault *fault;
};

/* FD (consumed) goes with the plan. */
int planning_give(struct planning *planning, int fd, uint32_t *ret_index);

/* plans_image.c: the layers, and what a container has beside them. */
int plan_image(struct planning *planning);
