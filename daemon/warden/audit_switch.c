#include "audit_switch.h"

#include "audit.h"
#include "ledger.h"
#include "log.h"
#include "text.h"
#include <errno.h>
#include <string.h>

#define NOTE "audit" /* "off": we switched it on, and it is to be switched off again */

static bool is_ours_to_put_back(struct warden *warden)
{
    auto_free char *found = NULL;

    return ledger_noted(warden->ledger, NOTE, &found) == 0 && text_equal(found, "off");
}

void audit_switch_back(struct warden *warden)
{
    int r;

    if (!warden->ledger || !is_ours_to_put_back(warden))
        return;
    /* Only ever takes away what this daemon itself had added; -EPERM: somebody has locked it. */
    r = audit_enable(false);
    if (r < 0 && r != -EPERM) {
        log_error("audit: it is still on, and could not be switched off: %s", strerror(-r));
        return;
    }
    (void)ledger_note(warden->ledger, NOTE, "");
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
    r = ledger_note(warden->ledger, NOTE, "off");
    if (r == 0)
        r = audit_enable(true);
    if (r < 0)
        log_error("audit: Audit=enable, but it cannot be switched on: %s", strerror(-r));
    return r;
}
