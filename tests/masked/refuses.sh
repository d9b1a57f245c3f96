#!/bin/bash
# On a kernel that lacks a call the boundary rests on, the right answer is a refusal: no start, or status
# 125 with the rung or the step by name; never a leg with less around it.
SAPHAN_ALLOW=games
. "$(dirname "$(dirname "$(readlink -f "$0")")")/e2e/lib.sh"
mask=$SAPHAN_BUILD/tests/masked/mask
plain=("${BEFORE_DAEMON[@]}")

# arm NAME CALL...: a daemon whose kernel lacks CALL..., asked for a leg that would leave a file
arm() {
    local name=$1 started=0
    shift
    BEFORE_DAEMON=("${plain[@]}")
    [ $# -eq 0 ] || BEFORE_DAEMON+=("$mask" "$@" --)
    rm -rf "$T/own" "$T/own.log" "$W/ran"
    start_daemon "$T/own" && started=1
    if [ $started = 1 ]; then
        SAPHAN_SOCKET=$T/own/saphan.sock leg --workspace "$W" --artefact ran -- /bin/sh -c 'echo ran >ran'
    fi
    if [ $# -eq 0 ]; then
        expect "control: $name runs" 0 GREEN
        check "control: and leaves its file" test -s "$W/ran"
    elif [ $started = 0 ]; then
        ok "$name: saphand does not start"
        check "$name: and says what it lacks" grep -qE "${PATTERN:?}|ENOSYS|Function not implemented" "$T/own.log"
    else
        if [ "$rc" = 125 ] && [ "$(colour)" = REFUSED ]; then ok "$name: REFUSED"; else not_ok "$name: REFUSED" "$(told)"; fi
        check "$name: the rung or the step is named" grep -qE "$PATTERN" "$T/json" "$T/client" "$T/own.log"
    fi
    [ $# -eq 0 ] || check_not "$name: nothing ran" test -e "$W/ran"
    [ $# -eq 0 ] || check_not "$name: nothing is left in the workspace" test -e "$W/.git"
    [ $started = 0 ] || { kill "$daemon_pid"; wait "$daemon_pid"; equal "$name: an orderly stop" 0 $?; }
}
arm "nothing masked"
PATTERN='landlock' arm "no landlock_create_ruleset" landlock_create_ruleset
PATTERN='landlock' arm "no landlock_restrict_self" landlock_restrict_self
PATTERN='openat2|open-grants' arm "no openat2" openat2
PATTERN='cgroup|userns|slot|pidfd' arm "no clone3 and no clone into a cgroup" clone3
PATTERN='idmap|id-map|mount' arm "no mount_setattr" mount_setattr
PATTERN='mount|root|proc' arm "no fsopen" fsopen
PATTERN='seccomp' arm "no seccomp" seccomp
PATTERN='pidfd' arm "no pidfd_send_signal" pidfd_send_signal pidfd_open
finish
