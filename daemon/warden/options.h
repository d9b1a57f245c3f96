/* options.h - the command line and saphand.conf. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define OPTIONS_POLICIES_MAX 16
#define OPTIONS_RESOLVERS_MAX 8

struct options {
    char *config;            /* saphand.conf, or NULL: the installed one if it exists */
    char *private_directory; /* --private: everything of this daemon in one directory */
    char *socket;            /* path of the listening socket */
    char *socket_group;      /* its group; NULL: root */
    char *state;             /* state directory */
    char *policy_directory;  /* *.policy in it, in the order of their names */
    char *policies[OPTIONS_POLICIES_MAX]; /* --policy: these and no directory */
    uint32_t n_policies;
    char *libexec;
    char *vendors; /* directory of *.vendor; NULL (--private without --vendors): none but `proc` */
    bool has_custodian;
    uint32_t custodian;
    int ready_fd; /* -EBADF: none */
    bool check;
    uint64_t slots;                /* how many stand ready */
    uint64_t fronts;               /* how many wait */
    uint64_t connections_per_user; /* at most, at once */
    uint64_t connections;          /* in all */
    bool audit_enable;             /* Audit=enable; else the machine's audit is left as it is */
    char *resolvers;               /* Resolver=: addresses with spaces; NULL: /etc/resolv.conf */
    uint64_t doors;                /* how many stand ready, where a rule lets net door */
    uint64_t keep_legs;            /* ended legs that the ledger keeps */
};

/* What the command line asked to end with: exit at once with *RET_STATUS. */
enum { OPTIONS_E_EXIT = 1 };

/* Parses both.  An unknown option, key or value: the message stands on standard error, and the
 * result is OPTIONS_E_EXIT with status 64. */
int options_parse(int argc, char **argv, struct options *ret, int *ret_status);
void options_done(struct options *options);
