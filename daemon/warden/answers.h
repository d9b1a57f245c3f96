/* answers.h - what is asked about legs and the daemon, and answered from the ledger and memory. */
#pragma once

#include "fronts.h"

/* Each consumes MESSAGE and ends with SEAM_END or a refusal. */
void answer_logs(struct front *front, struct seam_message *message);
void answer_door(struct front *front, struct seam_message *message);
void answer_kill(struct front *front, struct seam_message *message);
void answer_why(struct front *front, struct seam_message *message);
void answer_status(struct front *front, struct seam_message *message);

/* NUMBER if the asker of MESSAGE may see that leg; 0 after a refusal (FRONT may be gone).  One that
 * is another's is told as one that does not exist. */
uint64_t answer_visible_leg(
    struct front *front, const struct seam_message *message, uint64_t number);
