/* record.h - the kernel's audit records about Landlock, from text to numbers.
 *
 * The form is the kernel's: "audit(SECONDS.MILLI:SERIAL): key=value key=value ...", a value being a
 * run without spaces, or text in quotes; text that holds an odd byte stands there as hexadecimal
 * digits.  What is not of this form, or lacks what its type must have, is malformed: nothing is
 * guessed.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define RECORD_OBJECT_MAX 1280
#define RECORD_WORD_MAX 80

enum record_kind {
    RECORD_DENIAL = 1,  /* domain, blockers, object, dev, ino */
    RECORD_DOMAIN_NEW,  /* domain, pid, uid */
    RECORD_DOMAIN_GONE, /* domain, denials */
    RECORD_CALL,        /* pid, comm, exe: who made what the records of this serial tell of */
    RECORD_END,         /* no more of this serial */
    RECORD_SWITCHED,    /* the audit system was switched on or off */
};

/* All text is escaped: a leg chooses its paths and names. "" where there is none. */
struct record {
    enum record_kind kind;
    int64_t at_ms;
    uint64_t serial;
    uint64_t domain, blockers, ino, denials;
    int32_t pid;
    uint32_t uid;
    char object[RECORD_OBJECT_MAX], exe[RECORD_OBJECT_MAX];
    char dev[RECORD_WORD_MAX], comm[RECORD_WORD_MAX];
};

/* A record that is well formed and says nothing of interest. */
enum { RECORD_E_OTHER = 1 };

/* Reads TEXT (changed by this), of the audit type TYPE.  0, RECORD_E_OTHER, or -EBADMSG. */
int record_read(uint16_t type, char *text, struct record *ret);
