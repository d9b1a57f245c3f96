/* leg_environment.h - the environment of a leg's program, put into its plan. */
#pragma once

#include "leg.h"

/* HOME without a seat: private memory, gone with the leg; beneath /run, which is the leg's own in
 * both views. */
#define LEG_HOME "/run/home"

int leg_put_environment(
    const struct leg *leg, struct seam_writer *writer, struct seam_list *ret_env);
