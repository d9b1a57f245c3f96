/* admit.h - the decision: a pure function from what was asked and what holds to a plan or reasons.
 *
 * No system call is made here.  All facts come in: who asks (from the socket, never from the
 * message), what is asked (descriptors already turned into the kernel's own paths), the policy, the
 * machine row.  What comes out is either reasons, or all that the plan needs to know.
 */
#pragma once

#include "forward.h"
#include "limit.h"
#include "matrix.h"
#include "nesting.h"
#include "reasons.h"
#include "rule.h"
#include "rungs.h"
#include "terms.h"

#define GRANTS_MAX 48
#define CARVE_OUTS_MAX 64
#define ARTEFACTS_MAX 32
#define GROUPS_MAX 64
#define REFUSALS_MAX 8
#define REFUSAL_DETAIL_MAX NESTING_DETAIL_MAX /* a whole command to paste stands in some */
#define DECISION_TEXTS_MAX (CARVE_OUTS_MAX + ARTEFACTS_MAX + 1)

struct peer {
    uint32_t uid;
    uint32_t gid;
    uint32_t groups[GROUPS_MAX];
    uint32_t
        n_groups; /* all of them: a group that is left out could be one that a file shuts out */
    uint32_t
        n_groups_unread; /* more than GROUPS_MAX: how many; none of them is known, none counts */
    const char *home; /* the uid's home directory, for "~" in ceilings: the kernel's name of it, as
                         of a grant.  NULL, "/" or not normal: none, and "~" covers nothing */
};

struct grant {
    enum grant_kind kind;
    const char *path;   /* the kernel's name of the granted descriptor: absolute, normal */
    const char *target; /* where it stands in a container; NULL: at PATH, as in a domain */
    bool directory;     /* else a regular file */
    bool narrowed;      /* a seat that was asked for, shown read-only: GRANT_SEAT_READ alone */
    bool covers_own;    /* the warden found that it covers saphand's own files */
    const char *added;  /* the requester did not ask for it: what for; NULL: it did */
};

/* One name on the way to the vendor's program or its interpreter. */
struct custody_step {
    const char *path;
    bool writable; /* the requester may change it, or what is called so */
};
#define CUSTODY_STEPS_MAX 96

/* Where the leg sees GRANT. */
static inline const char *grant_place(const struct grant *grant)
{
    return grant->target ? grant->target : grant->path;
}

struct carve_out {
    enum carve_out_kind kind;
    uint32_t grant;   /* index into request.grants */
    const char *path; /* relative to that grant; normal, no leading slash */
};

struct artefact {
    uint32_t grant;
    const char *path; /* relative to that grant */
    uint64_t min_size;
    bool has_sha256;
    uint8_t sha256[32];
};

/* What is known of the image that a container is asked for. */
struct asked_image {
    const char *name; /* NULL: none was asked for */
    bool known;
    uint32_t owner;        /* the uid that added it */
    const char *directory; /* its working directory; NULL: none */
    bool root;             /* the leg is uid 0 inside */
    enum reason trouble;   /* of what else was asked with it (a user, a command); REASON_NONE */
    char trouble_detail[256];
};

/* The newest cell of this host for a vendor, a boundary and the state of its sandbox. */
struct cell_standing {
    uint64_t cell; /* 0: there is none */
    enum cell_verdict verdict;
    const char *sandbox;        /* which was looked for: on, off, none */
    char stale[CELL_STALE_MAX]; /* why it says nothing any more; "": it is fresh */
};

struct request {
    enum boundary boundary;
    enum view view;
    enum net net;
    const char *vendor;
    bool git;
    bool detach;
    bool measure; /* an arm of a cell: nothing is refused for the vendor's own sandbox */
    struct grant grants[GRANTS_MAX];
    uint32_t n_grants;
    const char *carve_outs[CARVE_OUTS_MAX]; /* as asked: absolute, or relative to the workspace */
    uint32_t n_carve_outs;
    struct {
        const char *path; /* as asked: absolute, or relative to the leg's directory */
        uint64_t min_size;
        bool has_sha256;
        uint8_t sha256[32];
    } artefacts[ARTEFACTS_MAX];
    uint32_t n_artefacts;
    struct host_pattern hosts[HOSTS_MAX]; /* NET_DOOR: what may be reached; canonical */
    uint32_t n_hosts;
    struct forward forwards[FORWARDS_MAX]; /* canonical */
    uint32_t n_forwards;
    const char *chdir; /* absolute; NULL: the workspace, else "/" */
    struct limits limits;
    struct asked_image image;
    bool writable_root;
    uint64_t capabilities;         /* bits of capability.h */
    bool wants_container;          /* a user, a host name, a target: only a container has them */
    const struct profile *profile; /* of VENDOR; NULL: there is none, and only `proc` needs none */
    const char *known_vendors;     /* without a profile: the names that there are; NULL: none */
    const struct custody_step *custody; /* the way to the vendor's program, as far as it is known */
    uint32_t n_custody;
    const char *steered;              /* what of the workspace steers the vendor; NULL: nothing */
    const struct nesting *nesting;    /* what that profile says of the command; NULL without one */
    const struct cell_standing *cell; /* NULL: no rule demands one of this leg */
};

struct usage {
    uint64_t legs_now; /* of this uid */
    uint64_t legs_last_minute;
};

struct refusal {
    enum reason reason;
    char detail[REFUSAL_DETAIL_MAX]; /* what was asked, what was found */
};

/* A carve-out may have another grant beneath it (the git-dir of a linked worktree beneath
 * `worktrees` of its git-common): the carve-out then goes below that grant's mount, never over it.
 */
struct decision {
    struct refusal refusals[REFUSALS_MAX]; /* n_refusals > 0: REFUSED, and the rest is not filled */
    uint32_t n_refusals;

    const struct rule *rule; /* which rule admitted it; lives as long as the policy */
    enum boundary boundary;
    enum view view;
    enum net net;
    struct limits limits;                        /* effective */
    struct carve_out carve_outs[CARVE_OUTS_MAX]; /* a PIN before what lies in it */
    uint32_t n_carve_outs;
    struct artefact artefacts[ARTEFACTS_MAX];
    uint32_t n_artefacts;
    const char *directory; /* the leg's working directory, absolute */
    bool nested_allowed;   /* what builds a sandbox inside is let through */
    uint64_t capabilities; /* what a container holds, in its own user namespace */
    struct backed_claim claims[CLAIM_COUNT];
    uint32_t n_claims;

    /* What the paths above point to: they live until decision_done(). */
    char *texts[DECISION_TEXTS_MAX];
    uint32_t n_texts;
};

/* Frees what admit() made; DECISION itself is the caller's.  Needed after refusals too. */
void decision_done(struct decision *decision);

/* Always decides: there is no error result. *RET is filled whole. */
void admit(const struct request *request, const struct peer *peer, const struct policy *policy,
    const struct machine_row *machine, const struct usage *usage, struct decision *ret);

/* BASE/PATH, or PATH when it is absolute, without ".", "..", "//"; NULL: no memory.  The caller's.
 */
char *join_normal(const char *base, const char *path);

/* May PEER see and kill the leg of OWNER?  (its own; root; a rule with Operator=yes) */
bool may_see(const struct peer *peer, uint32_t owner, const struct policy *policy);

/* May PEER put PATTERN on the list of a leg's door?  A rule that names it lets net door and covers
 * the pattern. */
bool may_allow(
    const struct peer *peer, const struct host_pattern *pattern, const struct policy *policy);
/* May PEER have the machine or a cell measured?  (a rule that names it with Measure=yes) */
bool may_measure(const struct peer *peer, const struct policy *policy);
bool grant_writes(enum grant_kind kind); /* every kind but the two that only read */

/* Does RULE name PEER, by user or by group? */
bool rule_names(const struct rule *rule, const struct peer *peer);

/* Does RULE let PEER read what is at PATH? */
bool rule_reads(const struct rule *rule, const struct peer *peer, const char *path);

/* Does RULE let PEER run the image NAME, which OWNER added? */
bool rule_lets_image(
    const struct rule *rule, const struct peer *peer, const char *name, uint32_t owner);

/* The first rule that names PEER and lets it add images; NULL: none. */
const struct rule *may_add_images(const struct peer *peer, const struct policy *policy);

/* May PEER remove or replace an image of OWNER? */
bool may_change_image(const struct peer *peer, uint32_t owner, const struct policy *policy);

/* May PEER know that the image is there? */
bool may_see_image(
    const struct peer *peer, const char *name, uint32_t owner, const struct policy *policy);

/* Is there any rule at all for PEER?  Decides whether its connection is served. */
bool may_connect(const struct peer *peer, const struct policy *policy);

/* The names that stay read-only in a workspace, NULL-terminated; and whether each must not come to
 * exist (ALWAYS) or is only kept if present. */
struct default_carve_out {
    const char *name;
    enum carve_out_kind kind;
};
extern const struct default_carve_out default_carve_outs[];
