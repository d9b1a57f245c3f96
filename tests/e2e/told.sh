#!/bin/bash
# How soon what was refused is told, and floods of it: a leg's ten thousand denials a second are folded, bounded
# in the ledger, and leave the other legs alone.  Times are printed; what is asserted has room to spare.
export E2E_BASE=${E2E_BASE:-/var/tmp}
. "$(dirname "$(readlink -f "$0")")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=audit.bash
. "$(dirname "$(readlink -f "$0")")/audit.bash"
# soon WHAT ROUNDS ARG...: the program prints when it made its call, in ns; from then to the event's arrival here, in
# milliseconds, sorted.
soon() {
    local rounds=$1
    shift
    (cd "$W" && as_user python3 - "$rounds" "$@" <<'PY'
import json, subprocess, sys, time
times = []
for _ in range(int(sys.argv[1])):
    leg = subprocess.Popen(["saphan", "run", "--json"] + sys.argv[2:], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    made = came = None
    for line in leg.stdout:
        now = time.time_ns()
        event = json.loads(line)
        if event["event"] == "denied" and came is None:
            came = now
        if event["event"] == "output" and made is None:
            made = int(event["data"].split()[0])
    leg.wait()
    if made is not None and came is not None:
        times.append((came - made) / 1e6)
print(" ".join("%.1f" % t for t in sorted(times)))
PY
    )
}
at() { cut -d ' ' -f "$1" <<<"$2" | cut -d . -f 1; }
cat >"$T/call.c" <<'C'
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    if (argc > 1)
        open(argv[1], O_RDWR | O_NONBLOCK);
    else
        unshare(CLONE_NEWUSER);
    printf("%lld\n", t.tv_sec * 1000000000LL + t.tv_nsec);
    fflush(stdout);
    sleep(1); /* it runs on: what is told is not told by its end */
    return 0;
}
C
cat >"$T/flood.c" <<'C'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int main(int argc, char **argv) /* FOLDER NAMES SECONDS: pipes p0.. in turn */
{
    struct timespec a, b;
    long refused = 0, names = atol(argv[2]);
    double seconds;
    char path[256];
    clock_gettime(CLOCK_MONOTONIC, &a);
    do {
        for (int i = 0; i < 1000; i++) {
            snprintf(path, sizeof(path), "%s/p%ld", argv[1], refused % names);
            if (open(path, O_RDWR | O_NONBLOCK) >= 0 || errno != EACCES)
                return 1;
            refused++;
        }
        clock_gettime(CLOCK_MONOTONIC, &b);
        seconds = (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9;
    } while (seconds < atof(argv[3]));
    printf("%ld %.0f\n", refused, (double)refused / seconds);
    return 0;
}
C
if ! command -v cc >/dev/null; then
    skip "what is told how soon" cc
    finish
fi
cc -O1 -o "$W/call" "$T/call.c" && cc -O1 -o "$W/flood" "$T/flood.c"
mkdir "$W/pipes"
python3 -c 'import os, sys
for i in range(3000):
    os.mkfifo(sys.argv[1] + "/p%d" % i)' "$W/pipes"
chmod 666 "$W"/pipes/*
owned "$W"

# ---- a call that builds a sandbox ----
times=$(soon 9 --read "$W/call" -- "$W/call")
echo "# a sandbox-building call was told after (ms): $times"
equal "each was told" 9 "$(wc -w <<<"$times")"
check "within a second of the call" [ "$(at 9 "$times")" -lt 1000 ]

was=$(audit)
if [ "$was" != 0 ]; then
    skip "denials of Landlock" "audit-off: it is on already, and stays as it is"
    finish
fi
room=$(audit_field backlog)
_audit_end() {
    audit 0 >"$T/audit" 2>&1
    audit_field backlog "$room" >"$T/audit" 2>&1
    _end
}
trap _audit_end EXIT
printf '[saphand]\nAudit=enable\n' >"$T/conf"
policy "$LEG_USER root" >"$T/on.policy"
start_daemon "$T/on" --config "$T/conf" || not_ok "a daemon that hears denials starts" "$(tail -5 "$T/on.log")"
export SAPHAN_SOCKET=$T/on/saphan.sock
if ! saphan status | grep -q 'landlock-audit *holds'; then
    skip "denials of Landlock" "landlock-audit: the rung does not hold here"
    finish
fi

# ---- a denial of Landlock's ----
times=$(soon 9 --read "$W/pipes" --read "$W/call" -- "$W/call" "$W/pipes/p0")
echo "# a denial of Landlock's was told after (ms): $times"
equal "each was told" 9 "$(wc -w <<<"$times")"
check "within 100 ms, mostly" [ "$(at 5 "$times")" -lt 100 ]

# ---- ten thousand a second ----
flood() { # NAMES SECONDS
    (cd "$W" && as_user saphan run --json --read "$W/pipes" --read "$W/flood" -- "$W/flood" "$W/pipes" "$1" "$2") >"$T/json" 2>&1 </dev/null
}
once() { local begin=$(date +%s%N); as_user saphan run -- /bin/true >/dev/null 2>&1; echo $((($(date +%s%N) - begin) / 1000)); }
kept() { saphan leg show "$(jq -rs 'map(select(.event == "accepted"))[0].leg' "$T/json")" | grep -c '\<denied\>'; }
median() { for _ in 1 2 3 4 5 6 7 8 9; do once; done | sort -n | sed -n 5p; }
# The control: a leg that is as busy and is refused nothing.
(cd "$W" && as_user saphan run -- /bin/sh -c 'exec timeout 8 sh -c "while :; do :; done"') >/dev/null 2>&1 </dev/null &
spinning=$!
spin=$(median)
wait "$spinning"
for names in 1 3000; do
    lost() { saphan status | sed -n 's/^denials: .* \([0-9]*\) lost.*/\1/p'; }
    before=$(lost)
    flood $names 8 &
    flooding=$!
    await 10 grep -q '"started"' "$T/json"
    beside=$(median)
    still=no
    grep -q '"exited"' "$T/json" || still=yes
    wait "$flooding"
    read -r refused rate <<<"$(_written stdout)"
    echo "# $refused denials of $names paths, $rate a second; a leg of /bin/true: beside it $beside us, beside one that only spins $spin us (ratio $(jq -n "$beside / $spin * 100 | round / 100"), flood still on: $still)"
    check "$names paths: ten thousand denials a second and more" [ "${rate:-0}" -ge 10000 ]
    check "$names paths: the leg runs on to its end" [ "$(colour)" = GREEN ]
    told=$(jq -s 'map(select(.event == "denied")) | length' "$T/json")
    echo "# $names paths: told in $told events, $(kept) of them in the ledger"
    check "$names paths: they are folded" [ "$told" -le 1100 ]
    check "$names paths: and bounded in the ledger" [ "$(kept)" -ge 1 -a "$(kept)" -le 1001 ]
    counted() { [ "$(($(jq -s 'map(select(.event == "denied")) | group_by(.subject) | map(map(.count) | max) | add' "$T/json") + $(lost) - before))" -ge "$refused" ]; }
    # The kernel's count comes with the record of the domain's end, which can be lost like any other: that is said then.
    said() { jq -r 'select(.event == "note") | .detail' "$T/json" | grep -qE 'no room for [1-9][0-9]* audit records|records of them were lost'; }
    accounted() { counted || said; }
    check "$names paths: what was told and what was lost is all there was" await 10 accounted
    check "$names paths: the daemon answers" timeout 5 saphan status
    leg -- /bin/true
    expect "$names paths: and runs legs" 0 GREEN
done
finish
