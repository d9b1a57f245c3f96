/* run_options.h - the command line of `saphan run` as a struct saphan_run. */
#pragma once

#include "saphan.h"

struct run_options {
    struct saphan_run run; /* points into this struct and into argv */
    bool json;
    bool keep_output;
    bool inherit_stdin;
    const char *workspace; /* NULL: none */
    char **targets_made;   /* the sources of grants that stand elsewhere in a container */
    size_t n_targets_made;

    struct saphan_grant *grants;
    struct saphan_artefact *artefacts;
    struct saphan_forward *forwards;
    const char **allow;
    const char **capabilities;
    const char **carve_outs;
    const char **env;
    char **env_made; /* the values that were copied from our environment */
    size_t n_allow, n_capabilities, n_carve_outs, n_env, n_env_made;
    const char **argv;
};

void run_options_done(struct run_options *options);

#define auto_run_options __attribute__((cleanup(run_options_done)))

/* *RET_STATUS < 0: go on; else the program ends with it (an error already said, or --help). */
void run_options_parse(struct run_options *ret, int argc, char **argv, int *ret_status);
