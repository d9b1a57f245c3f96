/* answers.h - what is asked about legs and the daemon, and answered from the ledger and memory. */
#pragma once

#include "fronts.h"

/* Each consumes MESSAGE and ends with SEAM_END or a refusal. */
void answer_legs(struct front *front, struct seam_message *message);
void answer_show(struct front *front, struct seam_message *message);
void answer_logs(struct front *front, struct seam_message *message);
void answer_door(struct front *front, struct seam_message *message);
void answer_kill(struct front *front, struct seam_message *message);
void answer_why(struct front *front, struct seam_message *message);
void answer_status(struct front *front, struct seam_message *message);
