/* audit_switch.h - Audit=keep|enable: the machine's audit system is as it was found, but where the
 * one who runs this daemon says otherwise; then what was found is put back.
 *
 * Landlock's denials are told only while audit is on.  On means more than that: without an auditd
 * the kernel writes the records to its own log.  So it is nobody's to switch on by default.
 * Where this daemon switches it on, it also gives the kernel room for more records that wait.
 */
#pragma once

#include "warden.h"

/* Puts back what a daemon that died had changed; then switches on if the options say so.  What was
 * found is durable in the ledger before anything is changed. */
int audit_switch_on(struct warden *warden);

/* Puts back, at an orderly stop. */
void audit_switch_back(struct warden *warden);
