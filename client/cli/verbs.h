/* verbs.h - one file for each verb; each gets the words behind the verb and returns the exit
 * status. */
#pragma once

int verb_run(int argc, char **argv);
int verb_legs(int argc, char **argv);
int verb_leg(int argc, char **argv);
int verb_leg_show(int argc, char **argv);
int verb_leg_logs(int argc, char **argv);
int verb_leg_allow(int argc, char **argv);
int verb_leg_deny(int argc, char **argv);
int verb_leg_kill(int argc, char **argv);
int verb_image(int argc, char **argv);
int verb_image_add(int argc, char **argv);
int verb_image_list(int argc, char **argv);
int verb_image_show(int argc, char **argv);
int verb_image_rm(int argc, char **argv);
int verb_image_gc(int argc, char **argv);
int verb_status(int argc, char **argv);
int verb_matrix(int argc, char **argv);
int verb_machine(int argc, char **argv);
int verb_why(int argc, char **argv);
int verb_explain(int argc, char **argv);
