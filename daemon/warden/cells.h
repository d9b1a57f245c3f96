/* cells.h - cells of the matrix: measured by a client that orchestrates legs, judged and kept here.
 */
#pragma once

#include "leg.h"

/* SEAM_ASK_CELL, SEAM_ASK_ARM, SEAM_ASK_MATRIX. */
void answer_cell(struct front *front, struct seam_message *message);
void answer_arm(struct front *front, struct seam_message *message);
void answer_matrix(struct front *front, struct seam_message *message);

/* What the newest cells of this host say, counted. */
struct cell_counts;
void cells_count(struct warden *warden, struct cell_counts *ret);

/* Fills what is known of the cell that LEG's rule may demand; it lives as long as LEG. */
void cells_look_up(struct leg *leg);

/* A measuring leg is about to run: what the cell will need to know of it is noted. */
void cells_note_leg(struct leg *leg);
/* And when it is over, while its cgroup is there. */
void cells_note_end(struct leg *leg);
