/* leg_environment.h - the environment of a leg's program, put into its plan. */
#pragma once

#include "leg.h"

int leg_put_environment(
    const struct leg *leg, struct seam_writer *writer, struct seam_list *ret_env);
