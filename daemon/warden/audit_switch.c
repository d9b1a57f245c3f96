#include "audit_switch.h"

#include "audit.h"
#include "ledger.h"
#include "log.h"
#include "text.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* What was found is noted under these, and is to be put back; "": nothing is. */
#define NOTE_ENABLED "audit" /* "off" */
#define NOTE_BACKLOG "audit-backlog"

/* The kernel begins with 64 records, which is 16 denials: a program that is refused more in one
 * burst, or two programs at once, lose what comes after.  This many is some 8 MiB at the worst. */
#define BACKLOG_RECORDS 8192

/* ---- putting back ---- */

/* Each only ever takes away what this daemon itself had added; -EPERM: somebody has locked it. */
static int put_back_enabled(const char *found)
{
    return text_equal(found, "off") ? audit_enable(false) : 0;
}

static int put_back_backlog(const char *found)
{
    struct audit_state state;
    uint64_t records;
    int r = text_parse_uint(found, UINT32_MAX, &records);

    if (r < 0)
        return r;
    r = audit_read(&state);
    if (r < 0)
        return r;
    /* Another number than ours is somebody else's by now. */
    return state.backlog_limit == BACKLOG_RECORDS ? audit_set_backlog_limit((uint32_t)records) : 0;
}

static void put_back(struct warden *warden, const char *note, int (*put)(const char *found))
{
    auto_free char *found = NULL;
    int r;

    if (ledger_noted(warden->ledger, note, &found) < 0 || !*found)
        return;
    r = put(found);
    if (r < 0 && r != -EPERM) {
        log_error("%s: it could not be put back to %s: %s", note, found, strerror(-r));
        return;
    }
    (void)ledger_note(warden->ledger, note, "");
}

void audit_switch_back(struct warden *warden)
{
    if (!warden->ledger)
        return;
    put_back(warden, NOTE_ENABLED, put_back_enabled);
    put_back(warden, NOTE_BACKLOG, put_back_backlog);
}

/* ---- switching on ---- */

static int make_room(struct warden *warden, uint32_t found)
{
    char records[16];
    int r;

    if (found == 0 || found >= BACKLOG_RECORDS) /* 0: without a limit */
        return 0;
    (void)snprintf(records, sizeof(records), "%u", found);
    r = ledger_note(warden->ledger, NOTE_BACKLOG, records);
    return r < 0 ? r : audit_set_backlog_limit(BACKLOG_RECORDS);
}

int audit_switch_on(struct warden *warden)
{
    struct audit_state state;
    int r;

    audit_switch_back(warden);
    if (!warden->options.audit_enable)
        return 0;
    r = audit_read(&state);
    if (r < 0) {
        log_error("audit: Audit=enable, but its state cannot be read: %s", strerror(-r));
        return r;
    }
    if (state.enabled)
        return 0;
    r = make_room(warden, state.backlog_limit);
    if (r == 0)
        r = ledger_note(warden->ledger, NOTE_ENABLED, "off");
    if (r == 0)
        r = audit_enable(true);
    if (r < 0)
        log_error("audit: Audit=enable, but it cannot be switched on: %s", strerror(-r));
    return r;
}
