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

# A row is of one start: the next measures again, and decides by what it found.
state=$T/measure/state
kill "$daemon_pid"; wait "$daemon_pid" 2>/dev/null
sqlite3 "$state/ledger.db" "UPDATE machine SET boot_id = 'another', kernel = 'another'; UPDATE rung SET state = 'absent'"
start_daemon "$T/measure" || not_ok "a daemon starts on rows of another boot" "$(cat "$T/measure.log")"
lines saphan machine show
check "rows of another boot and kernel are measured anew at start" \
    has "map(select(.event == \"machine\"))[0] | .row == $((first + 2)) and .boot_id == \"$(cat /proc/sys/kernel/random/boot_id)\""
leg -- /bin/true
expect "and nothing is decided by them" 0 GREEN

# A domain around saphand that refuses it nothing is seen all the same; and one around who measures.
if "$TESTS/e2e/in_domain.py" true 2>"$T/said"; then
    check "control: in nobody's domain no layer is counted" \
        sh -c "saphan machine show --json | jq -es 'map(select(.rung == \"unenclosed\"))[0].value == 0'"
    before=("${BEFORE_DAEMON[@]}")
    BEFORE_DAEMON+=("$TESTS/e2e/in_domain.py")
    cp "$T/measure.policy" "$T/domain.policy"
    start_daemon "$T/domain" || not_ok "a daemon in a domain starts" "$(cat "$T/domain.log")"
    BEFORE_DAEMON=("${before[@]}")
    SAPHAN_SOCKET=$T/domain/saphan.sock
    lines saphan machine show
    check "a bare domain around saphand is counted" \
        has 'map(select(.rung == "unenclosed"))[0] | .state == "refused" and .value == 1 and (.detail | test("in a Landlock domain"))'
    mkdir "$W/ws" && owned "$W/ws"
    cell() { # WHO COMMAND...: the cell that it measures
        (cd "$W" && "$@" saphan matrix measure --json --vendor proc --workspace ws --artefact done -- /bin/sh -c 'echo >done') \
            </dev/null >"$T/rows.json" 2>"$T/said"
    }
    cell as_user
    check "the cell says what saphand is in, and that nothing is around who measured" \
        has 'map(select(.event == "verdict"))[0] | (.enclosure | test("in a Landlock domain")) and .measured_by == "by a program, not enclosed"'
    cell as_user "$TESTS/e2e/in_domain.py"
    check "and what who measured is in" \
        has 'map(select(.event == "verdict"))[0].measured_by | test("from inside of a Landlock domain \\(1 of 16 layers\\).*no_new_privs")'
    chown -R root:root "$W/ws"
    cell "$TESTS/e2e/in_domain.py"
    check "where nothing but the layer tells, too" \
        has 'map(select(.event == "verdict"))[0].measured_by == "from inside of a Landlock domain (1 of 16 layers)"'
    kill "$daemon_pid"
    SAPHAN_SOCKET=$T/measure/saphan.sock
else
    skip "a bare domain around saphand and the client" "Landlock with rights on the network"
fi

# A file system in use that does not answer: what it is asked for is broken, in bounded time.
if [ -e /dev/fuse ]; then
    policy "$LEG_USER root" Measure=yes >"$T/fuse.policy"
    start_daemon "$T/fuse" || not_ok "a daemon starts" "$(cat "$T/fuse.log")"
    SAPHAN_SOCKET=$T/fuse/saphan.sock
    mkfifo "$T/stop" && mkdir "$T/hang"
    "$TESTS/escape/fuse_hang.py" "$T/hang" 0 0 <"$T/stop" >"$T/asked" &
    hanging=$!
    exec 7>"$T/stop"
    check "control: a file system that does not answer is there" await 10 grep -q mounted "$T/asked"
    check "probe-confinement ends all the same" lines timeout 60 saphan machine probe-confinement
    check "control: it was asked" grep -q asked "$T/asked"
    check "that file system is broken, by name" \
        has 'map(select(.rung == "idmap" and .facet == "fuse"))[0] | .state == "broken" and (.detail | test("no answer in time"))'
    check "the others and every rung are what they were" \
        has 'map(select(.event == "rung")) | all(.[]; .state != "broken" or .facet == "fuse")'
    leg -- /bin/true
    expect "and legs run meanwhile" 0 GREEN
    # A cell whose grant does not answer: said at once, by name, and nothing is measured.
    (cd "$W" && timeout -s KILL 30 saphan matrix measure --vendor proc --workspace "$W/ws" --read "$T/hang/x" --artefact done -- \
        /bin/sh -c 'echo >done') </dev/null >"$T/out" 2>"$T/said"
    equal "a cell with a grant that does not answer is not begun, and does not hang" 125 $?
    check "it names the grant" grep -q "$T/hang/x: its file system did not answer" "$T/said"
    exec 7>&-
    wait "$hanging"
    kill "$daemon_pid"
else
    skip "a file system that does not answer" "/dev/fuse"
fi

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
