#!/bin/bash
# machine.sh - the machine row: kept, shown, measured again by whom the policy lets; a probe that hangs.
. "$(dirname "$(readlink -f "$0")")/lib.sh"

lines() { "$@" --json >"$T/rows.json" 2>"$T/said"; }
has() { jq -es "$1" "$T/rows.json" >/dev/null; }

check "machine show" lines as_user saphan machine show
check "it says kernel, distribution, boot, version and the command" \
    has 'map(select(.event == "machine")) | length == 1 and (.[0] | .kernel != "" and .distribution != "" and
        (.boot_id | length) == 36 and .version != "" and .row > 0 and .at_ms > 0 and
        .command == "saphan machine probe-confinement")'
check "each rung has one of five states and says what was done" \
    has 'map(select(.event == "rung")) | length > 40 and all(.[];
        (.state | IN("holds", "refused", "absent", "never-asked", "broken")) and .detail != "")'
check "other platforms' rungs are never-asked, not no" \
    has 'map(select(.event == "rung" and (.rung | IN("seatbelt", "seatbelt-network-deny", "restricted-token")))) |
        length == 3 and all(.[]; .state == "never-asked")'
check "each Landlock right by itself" \
    has 'map(select(.event == "rung" and .rung == "landlock" and .facet != null)) | length == 22'
check "file systems in use, with the call and errno where it is refused" \
    has 'map(select(.event == "rung" and .rung == "idmap" and .facet != null)) | length > 0 and
        all(.[]; .state == "holds" or .errno != null)'
check "three claims, three rows" \
    has 'map(select(.event == "claim") | .claim) == ["host-can-jail", "backend-jailed", "egress-cut"]'
check "a host that can jail says nothing of a backend that nobody ran" \
    has 'map(select(.event == "claim")) | .[0].state == "holds" and .[1].state == "never-asked" and .[2].state == "holds"'
check "text for people" sh -c "saphan machine show | grep -q '^host-can-jail'"

as_user saphan machine probe-confinement >"$T/out" 2>"$T/said"
check "measuring is for whom the policy lets" sh -c "[ $? = 125 ] && grep -q measure-not-allowed '$T/said'"

policy "$LEG_USER root" Measure=yes >"$T/measure.policy"
start_daemon "$T/measure" || not_ok "a daemon that lets measure starts" "$(cat "$T/measure.log")"
export SAPHAN_SOCKET=$T/measure/saphan.sock
lines saphan machine show
first=$(jq -s 'map(select(.event == "machine"))[0].row' "$T/rows.json")
check "probe-confinement" lines as_user saphan machine probe-confinement
check "it is a new row" has "map(select(.event == \"machine\"))[0].row == $first + 1"
if command -v sqlite3 >/dev/null; then
    check "the row is in the ledger" \
        sh -c "[ \"\$(sqlite3 '$T/measure/state/ledger.db' 'SELECT count(*) FROM machine')\" = $((first + 1)) ]"
fi
leg -- /bin/true
expect "legs go on while and after" 0 GREEN
kill "$daemon_pid"

# A helper that hangs: the probe of this libexec never answers.
mkdir "$T/libexec" && cp -a "$SAPHAN_BUILD"/daemon/saphan-* "$T/libexec/"
rm "$T/libexec/saphan-probe"
cat >"$T/hang.c" <<'C'
#include <unistd.h>
int main(void) { for (;;) pause(); }
C
if cc -static -o "$T/libexec/saphan-probe" "$T/hang.c" 2>"$T/said"; then
    cp "$T/measure.policy" "$T/hung.policy"
    start_daemon "$T/hung" --libexec "$T/libexec" ||
        not_ok "a daemon whose probe hangs starts" "$(cat "$T/hung.log")"
    export SAPHAN_SOCKET=$T/hung/saphan.sock
    check "a hanging helper gives broken, not a hang" lines saphan machine show
    check "each of them" has 'map(select(.event == "rung" and .rung == "userns"))[0].state == "broken"'
    leg -- /bin/true
    expect "and nothing is run on what says nothing" 125 REFUSED claim-unbacked
else
    not_ok "a program that hangs can be built" "$(cat "$T/said")"
fi
finish
