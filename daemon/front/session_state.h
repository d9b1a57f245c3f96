/* session_state.h - what the files of a session share, and nobody else sees. */
#pragma once

#include "clock.h"
#include "intake.h"
#include "messages.h"
#include "session.h"
#include "source.h"
#include <poll.h>

#define SESSION_NEVER UINT64_MAX

struct session {
    int channel, client;
    const struct session_bounds *bounds;
    struct intake intake;
    struct outbox outbox;
    struct source sources[2]; /* standard output and error */

    bool waiting;   /* a request is outstanding */
    uint16_t asked; /* its type */
    bool detach;
    uint64_t request;  /* the client's number */
    uint64_t sequence; /* ours, on the seam */
    uint64_t followed; /* the leg whose log is followed, or 0 */

    bool draining; /* `last` goes out when the sources are empty */
    struct seam_message last;

    bool closing, warden_gone, over;
    uint64_t now;
    uint64_t frame_since, idle_since, progress_since, closing_since; /* each where it applies */
    uint64_t kept_at;  /* when the kept files are looked at next */
    uint64_t again_at; /* when the warden is asked again whether the followed leg runs, or NEVER */
};

enum { POLL_CLIENT, POLL_CHANNEL, POLL_SOURCES, POLL_COUNT = POLL_SOURCES + 2 };

/* -- session_end.c -- */
void session_end_request(struct session *session);
/* What is in the outbox still goes out, within the bounds; nothing else happens any more. */
void session_start_closing(struct session *session);
int session_lose_warden(struct session *session); /* 0, to be returned */
int session_refuse(
    struct session *session, uint64_t request, enum reason reason, const char *detail);
int session_refuse_and_close(struct session *session, enum reason reason, const char *detail);
void session_tell_gone(struct session *session);

/* -- session_client.c: after POLLIN -- */
int session_read_client(struct session *session);
/* Asks once more for the log of the followed leg, when that is due. */
int session_ask_again(struct session *session);

/* -- session_warden.c: after POLLIN -- */
int session_read_channel(struct session *session);

/* -- session_leg.c -- */
/* DRAINING: the last message was there before POLLED was asked. */
int session_pump_sources(
    struct session *session, const struct pollfd polled[POLL_COUNT], bool draining);
int session_break_kept(struct session *session, uint32_t stream);
/* Sends the last message when the sources are empty. */
int session_finish_request(struct session *session);

/* -- session_time.c -- */
int session_timeout_ms(const struct session *session);
int session_expire(struct session *session);
