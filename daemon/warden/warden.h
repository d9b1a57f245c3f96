/* warden.h - the one context of saphand: what it holds between two turns of its loop. */
#pragma once

#include "messages.h"
#include "options.h"
#include "own.h"
#include <event2/event.h>
#include <sys/queue.h>

struct door;
struct front;
struct leg;
struct slot;
struct ledger;
struct vendor_set;
struct ear;
struct zygote;
struct machine_report;
struct measuring;
struct image_store;

enum program {
    PROGRAM_FRONT,
    PROGRAM_STUB,
    PROGRAM_CHECKER,
    PROGRAM_OPENER,
    PROGRAM_PROBE,
    PROGRAM_EAR,
    PROGRAM_READER,
    PROGRAM_DOOR,
    PROGRAM_MAKER,
    PROGRAM_DIALER,
    PROGRAM_UNPACKER,
    PROGRAM_COUNT,
};

TAILQ_HEAD(front_list, front);
TAILQ_HEAD(leg_list, leg);
TAILQ_HEAD(door_list, door);
TAILQ_HEAD(slot_list, slot);

#define OWN_PATHS_MAX 32
#define OWN_PLACES_MAX 160

/* own_paths.c */
struct own_paths {
    char *paths[OWN_PATHS_MAX]; /* real paths; NULL-terminated */
    uint32_t n_paths;
    struct {
        uint64_t dev, ino;
    } places[OWN_PLACES_MAX]; /* they and all directories above them */
    uint32_t n_places;
    struct {
        uint64_t device;
        char *path; /* in the file system, whatever is mounted where */
    } real[OWN_PATHS_MAX];
};

/* system_view.c: what every leg's minimal view holds, opened once. */
#define SYSTEM_DIRECTORIES_MAX 16
#define SYSTEM_MASKS_MAX 64
struct system_view {
    struct {
        char *path;
        int fd;
    } directories[SYSTEM_DIRECTORIES_MAX];
    uint32_t n_directories;
    struct {
        char *path, *target;
    } symlinks[16];
    uint32_t n_symlinks;
    char *masks[SYSTEM_MASKS_MAX]; /* the system's secrets that exist on this host */
    uint32_t n_masks;
};

/* usage.c: who was admitted when. */
#define ADMISSIONS_MAX 8192
struct admission {
    uint64_t at_us;
    uint32_t uid;
};

/* ear.c */
struct ear_count {
    uint64_t heard;    /* messages that became events */
    uint64_t unjoined; /* those of a domain that is no leg's for certain: dropped */
    uint64_t lost;     /* denials that the kernel counted and no record came of, records that were
                          not understood, and ears that died */
};

/* placeholders.c */
struct intent;
TAILQ_HEAD(intent_list, intent);

/* image_add.c */
struct adding;
TAILQ_HEAD(adding_list, adding);

/* undertaker.c */
struct grave;
TAILQ_HEAD(grave_list, grave);

/* versions.c */
struct known_version;
TAILQ_HEAD(version_list, known_version);

struct warden {
    struct options options;
    struct own_paths own;
    struct system_view view;
    struct event_base *loop;
    struct policy policy;
    struct vendor_set *vendors; /* vendors.c; never NULL once started */
    struct machine_row machine;
    struct machine_report *report; /* machine.c: the row it is part of, and how it came about */
    struct measuring *measuring;   /* measuring.c: the machine is being measured just now */
    struct ledger *ledger;
    int64_t started_ms;
    bool stopping;

    int programs[PROGRAM_COUNT]; /* O_PATH: each was judged by custody, and is what is executed */
    int null;                    /* /dev/null, read-write */
    int empty_root;              /* an empty directory, where fronts live */
    int state;                   /* the state directory, locked: one saphand has it */
    int kept;                    /* its subdirectory of kept output */

    /* cgroups.c */
    int cgroup_base;   /* below it stands one cgroup a slot */
    int cgroup_parent; /* where cgroup_base was made, or -EBADF when it is the unit's own */
    char *cgroup_name; /* its name there */
    uint32_t cgroup_controllers;
    uint32_t cgroup_delegated_by_us; /* controllers switched on in cgroup_parent by us */

    /* listener.c */
    int socket;
    int spare; /* to accept a connection with when there is no other descriptor left */
    struct event *socket_event;
    bool socket_is_ours; /* made by us, so removed by us */

    /* fronts.c */
    struct front_list fronts_ready, fronts_serving;
    uint32_t n_fronts_ready, n_fronts_serving;

    /* zygotes.c */
    struct zygote *front_zygote, *stub_zygote;

    /* doors.c */
    struct door_list doors;
    uint32_t n_doors_ready;

    /* slots.c */
    struct slot_list slots;
    uint32_t n_slots_ready;
    int id_lock; /* holds this daemon's block of id ranges */
    uint32_t id_first, id_count;
    uint8_t id_used[1024]; /* by range number within the block */
    uint32_t id_next;
    uint64_t slot_serial;

    /* legs.c */
    struct leg_list legs;
    struct leg_list rows; /* of legs, not written yet: leg_row.c */
    uint32_t n_building;
    uint64_t next_leg;
    uint64_t n_legs, legs_since_start;
    struct intent_list intents;
    struct grave_list graves;
    struct admission admissions[ADMISSIONS_MAX]; /* a ring */
    uint32_t next_admission;

    struct version_list versions;
    uint32_t n_versions;
    struct image_store *store; /* image_store.c */
    struct adding_list addings;

    struct ear *ear; /* NULL: the rung landlock-audit does not hold */

    struct event *signal_events[4];
    struct event *refill; /* refill.c */
    bool refill_pause;
    struct event *watchdog;
};
