/* measuring.h - the machine measured again while saphand runs: nothing waits for it but who asked.
 */
#pragma once

#include "fronts.h"

/* SEAM_ASK_MACHINE. */
void answer_machine(struct front *front, struct seam_message *message);

/* FRONT is about to go: nobody waits for it any more. */
void measuring_forget(struct front *front);
void measuring_close(struct warden *warden);
