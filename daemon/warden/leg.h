/* leg.h - one leg, from the request to its last event: the struct that the files of its life share.
 *
 * grants.c makes the request, refusals.c says no, plans.c the plan, streams.c the three streams,
 * errands.c the short runs of opener and checker, legs.c drives, endings.c ends.
 */
#pragma once

#include "errands.h"
#include "fronts.h"
#include "slots.h"
#include "vendor_files.h"
#include "verdict.h"

/* One question that the reader was asked. */
struct leg_asked {
    bool nesting; /* else of a file */
    uint32_t index;
    uint32_t place; /* of a question about the workspace */
};

#define LEG_LINKS_MAX 24
#define LEG_PLACES_MAX 12

/* leg_program.c: where the vendor's program really lies. */
struct leg_program {
    struct custody_step steps[CUSTODY_STEPS_MAX];
    uint32_t n_steps;
    struct {
        char *path, *target;
    } links[LEG_LINKS_MAX]; /* those that the leg would not see otherwise */
    uint32_t n_links;
    bool too_many;
    int error; /* positive errno: why the way ended */
    int file;  /* O_PATH: the program itself; -EBADF: not found */
    char *path;
    char *name;        /* as it was found, before its links were followed */
    char *interpreter; /* the path of the first; NULL: it is no script */
    char sha256[65];   /* of it, or of the image that it is in; "": nobody looked */
    uint64_t dev, ino, size;
    int64_t mtime_ns, ctime_ns;
    uint32_t first_added; /* grants from here on are not the requester's own words */
};

/* leg_vendor.c, leg_files.c: what the leg's vendor is, would do and was seen doing. */
struct leg_vendor {
    struct vendor_set *set; /* held: the profile lies in it */
    char *names;            /* without a profile: those that there are; owned */
    const char **env;
    struct nesting_command command; /* of leg->argv and these */
    char *directory;                /* where its command begins, as admit() will have it; owned */
    struct leg_program program;
    struct {
        uint32_t grant;       /* the one it is looked at beneath */
        char *path;           /* owned */
    } places[LEG_PLACES_MAX]; /* the nearest first */
    uint32_t n_places;
    uint32_t first_part; /* grants from here on are the seat's writable parts */
    struct nesting_question questions[NESTING_QUESTIONS_MAX];
    struct nesting_answer answers[NESTING_QUESTIONS_MAX];
    uint32_t n_questions;
    struct nesting nesting;
    struct vendor_file files[VENDOR_FILES_MAX];
    struct vendor_file_state before[VENDOR_FILES_MAX], after[VENDOR_FILES_MAX];
    uint32_t n_files;
    struct leg_asked asked[READ_QUESTIONS_MAX];
    uint32_t n_asked;
    char steered[NESTING_DETAIL_MAX];
    enum nested_answer nested; /* of the rule: it may be gone when it is needed */
    bool rewritten_red;
    char first_nested[400]; /* the first call that counted */
    char budget[160];       /* of ending.budget: which */

    /* versions.c */
    struct known_version *waits_for; /* another leg says it; NULL: nothing is waited for */
    struct known_version *says;      /* this leg was started to say its version */
    char version[320];               /* "": its profile does not ask */
    bool version_known;
};

struct leg_image;

/* Those that the ledger bounds. */
struct event_counts {
    uint64_t denials, connections;
};

struct leg {
    TAILQ_ENTRY(leg) entry;
    struct warden *warden;
    uint64_t id; /* 0 until the row is about to be written */
    enum leg_state state;

    struct front *front; /* NULL: detached, or the client is gone */
    struct event_counts events;
    uint32_t left_out; /* events that were not told to it: it was behind */
    uint64_t request_number;
    struct peer peer;
    char *home, *user;

    struct seam_message ask; /* owns the strings and descriptors of the request */
    const struct seam_run *run;
    struct request request;
    struct decision decision;
    char *rule_name;
    struct leg_vendor vendor;
    struct leg_image *image; /* leg_image.c: of a container; NULL: none */
    const char **argv;       /* what is to be executed: as asked, or as the image says */
    uint32_t argc;
    struct cell_standing standing; /* cells.c: request.cell, where a rule demands one */

    int grant_fds[GRANTS_MAX]; /* O_PATH or a directory; owned */
    char *grant_paths[GRANTS_MAX];
    uint64_t grant_dev[GRANTS_MAX], grant_ino[GRANTS_MAX];

    uint8_t opening[GRANTS_MAX]; /* the grants whose paths the opener was asked for, in order */
    uint32_t n_opening;

    int stream_fds[3];   /* what the stub gets; owned until the plan is sent */
    int stream_reads[3]; /* read ends for the front, until ACCEPTED is sent */
    uint64_t kept[2];    /* bytes kept of stdout and stderr; kept_lost: not to be written */
    uint64_t kept_lost[2];
    bool keeps_output;

    struct door *door; /* NET_DOOR; NULL when it is gone */
    bool door_ready;   /* it serves, or none is needed */
    bool doorway;      /* its stub handed out the listening sockets */
    int forward_keys[FORWARDS_MAX], forward_cas[FORWARDS_MAX]; /* owned, until the door has them */

    struct slot *slot;
    int64_t given_ms; /* wall clock, when it was given */

    /* ear.c: what tells the leg's Landlock domain from every other; 0: not known */
    pid_t program_pid;
    uint32_t program_uid;
    uint64_t domain;
    uint32_t audit_lost; /* records that the kernel had lost before, as far as it was asked */
    bool hearing;        /* the leg is over, and what the kernel told of it is still heard out */
    struct event *patience;

    struct errand *errand; /* opener or checker under way, or NULL */
    struct artefact_stamp before[ARTEFACTS_MAX], after[ARTEFACTS_MAX];

    bool stamped;   /* the artefacts' state before the leg is known (or there are none) */
    bool row_waits; /* it is among the warden's rows, to be written with the next commit */
    TAILQ_ENTRY(leg) row_entry;
    bool recorded;   /* the row is durable */
    bool building;   /* its stub has the plan, and no GO yet; one of the warden's n_building */
    bool ready;      /* the last wall stands */
    bool gone_ahead; /* GO was sent */
    bool started;    /* exec succeeded */
    struct fault build_fault;
    struct ending ending;
    int64_t asked_ms;
    uint64_t asked_us, gone_us;
    struct event *wall;
};

/* refusals.c */
/* Ends a leg that was never started: tells why, takes down what stands.  LEG is gone after it. */
void leg_refuse(struct leg *leg, enum reason reason, const char *detail);
/* The same for a failure in STEP about SUBJECT: build-failed. */
void leg_fail(struct leg *leg, uint32_t step, int error, const char *subject);
/* For what admit() found. */
void leg_refuse_decided(struct leg *leg);

/* legs.c */
void leg_free(struct leg *leg);

/* leg_tell.c: sends an event to the front (if there is one) and to the ledger.  While the front is
 * behind, the events that a leg can cause without end are counted for it, not sent. */
void leg_tell(struct leg *leg, enum event_kind kind, enum reason reason, const int64_t numbers[3],
    const char *subject, const char *detail);
/* How many of them there were, if any. */
void leg_tell_left_out(struct leg *leg);

/* endings.c: the last process is gone; judges, records, tells.  LEG is gone after it, maybe later.
 */
void leg_end(struct leg *leg);

/* endings.c, from doors.c: the door told all, or is gone. */
void leg_door_done(struct leg *leg);
/* leg_row.c.  Either the row is written now, with all that wait: -errno, and so for those, which
 * end then; or it waits until leg_row_due() or for another's.  ACCEPTED goes out for those that
 * waited; the one that did not is the caller's to tell of. */
int leg_row_write(struct leg *leg);
void leg_row_wait(struct leg *leg);
void leg_row_due(struct leg *leg);
void leg_row_forget(struct leg *leg);
/* False: the front is gone, and LEG is being killed for that. */
bool leg_tell_accepted(struct leg *leg);

/* legs.c: GO is said when all that it waits for is there. */
void leg_go_ahead(struct leg *leg);
/* legs.c: the leg is refused, for its build fault, when its stub is dead. */
void leg_fail_when_dead(struct leg *leg);

/* leg_door.c, from legs.c: the stub handed the listening sockets out. */
void leg_doorway_opened(struct leg *leg, struct seam_message *message);
/* leg_door.c, from doors.c: the door serves; or it does not, which the fault says. */
void leg_door_ready(struct leg *leg);
void leg_door_failed(struct leg *leg, int error, const char *subject);

/* endings.c, from ear.c: all that the kernel told of the leg was heard. */
void leg_heard_out(struct leg *leg);

/* grants.c: each says by its result whether the leg goes on; on failure it is refused and gone. */
int leg_read_request(struct leg *leg);
bool leg_has_paths_to_open(const struct leg *leg);
/* The opener is asked; leg_resolved() follows from the loop.  -errno: nothing was begun. */
int leg_open_paths(struct leg *leg);
int leg_name_grants(struct leg *leg);
/* The same for those from FIRST on, which were added later. */
int leg_name_added_grants(struct leg *leg, uint32_t first);

/* legs.c: all grants are descriptors now. */
void leg_resolved(struct leg *leg);
/* legs.c: what the vendor's profile says of the command is known. */
void leg_vendor_known(struct leg *leg);

/* leg_seat.c: the grant that is the leg's HOME; -1: none is. */
int leg_seat(const struct leg *leg);
/* From here on the seat is read-only where the profile names the parts that are written. */
void leg_narrow_seat(struct leg *leg);
/* Those parts, made and opened, become grants.  1: DONE follows; 0: there are none; -errno. */
int leg_make_seat(struct leg *leg, errand_done *done);
void leg_seat_started(struct leg *leg);

/* leg_places.c: where the workspace's files are looked for.  -E2BIG: the leg's directory lies too
 * deep. */
int leg_find_places(struct leg *leg);
const char *leg_place_in_grant(const struct leg *leg, uint32_t place); /* "" is the grant itself */
void leg_places_done(struct leg *leg);

/* leg_program.c: asks the opener where the program lies, and adds what it needs to see to the
 * grants.  1: DONE follows; 0: there is nothing to look for; -errno. */
int leg_find_program(struct leg *leg, errand_done *done);
/* After DONE: false when the leg was refused, and is gone. */
bool leg_program_found(struct leg *leg);
void leg_program_started(struct leg *leg);
void leg_program_done(struct leg_program *program);

/* leg_files.c: asks the reader, before the leg and (gone_us != 0) after it.  1: DONE follows; 0:
 * there was nothing to ask; -errno. */
int leg_read_files(struct leg *leg, errand_done *done);
void leg_file_steers(const struct leg *leg, uint32_t index, char *out, size_t size);
void leg_files_started(struct leg *leg);
void leg_files_ended(struct leg *leg);

/* leg_vendor.c: finds the profile and asks what it wants to know; leg_vendor_known() follows, at
 * once or from the loop.  A failure has refused the leg. */
void leg_look_at_vendor(struct leg *leg);
/* The leg was admitted: its rule's words on vendors are taken along. */
void leg_vendor_admitted(struct leg *leg);
/* The stub told of a refused call.  The reason it is told on with. */
enum reason leg_vendor_called(struct leg *leg, const struct seam_message *message);
/* The leg is over and its status known: does it mean a budget of the vendor's own? */
void leg_vendor_ended(struct leg *leg);
void leg_vendor_done(struct leg *leg);

/* plans.c: id-mapped mounts, the sealed plan, and both to the stub.  Fills the fault on failure. */
int leg_send_plan(struct leg *leg, struct fault *ret_fault);
/* Each path that is covered with nothing for LEG: secrets, but those granted by name.  -ENOMEM. */
typedef void leg_mask(void *context, const char *path);
int leg_masks(const struct leg *leg, leg_mask *each, void *context);

/* streams.c: checks the client's descriptors, makes pipes and kept files.  What is refused is
 * refused with *RET_REASON and DETAIL. */
int leg_open_streams(struct leg *leg, enum reason *ret_reason, char detail[REFUSAL_DETAIL_MAX]);

/* stamps.c: the artefacts' state, by the checker as the requester. */
int leg_stamp(struct leg *leg, bool hash, errand_done *done);
/* What is wrong with each artefact: pure, fills ending.artefacts. */
void leg_judge(struct leg *leg);
