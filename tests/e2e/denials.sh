#!/bin/bash
# What the kernel tells of Landlock's denials, as events of the right leg.  The machine's audit system is
# switched on by a daemon of this script's own, and is off again afterwards.
# Not beneath /tmp: that is the leg's own to write, for Landlock, whatever is mounted there.
export E2E_BASE=${E2E_BASE:-/var/tmp}
. "$(dirname "$(readlink -f "$0")")/lib.sh"

# shellcheck source-path=SCRIPTDIR source=audit.bash
. "$(dirname "$(readlink -f "$0")")/audit.bash"
denied() { jq -c 'select(.event == "denied")' "$T/json"; }
last_denied() { denied | tail -n 1 | jq -r "$1"; }
begin() { # NAME DIR ARG...: start_daemon as a test
    local name=$1
    shift
    if start_daemon "$@"; then ok "$name"; else not_ok "$name" "$(tail -5 "$1.log")"; fi
}
was=$(audit)
if [ "$was" != 0 ]; then
    skip "everything about Audit=enable" "audit-off: it is on already, and stays as it is"
    finish
fi
room=$(audit_field backlog)
_audit_end() {
    audit 0 >"$T/audit" 2>&1
    audit_field backlog "$room" >"$T/audit" 2>&1
    _end
}
trap _audit_end EXIT

# ---- kept as it is ----
mkdir "$W/read"
mkfifo -m 666 "$W/read/pipe"
owned "$W/read"
program ask <<'SH'
#!/bin/bash
# Opens the pipe for writing $2 times: where only Landlock says no, as no file system is written to.
python3 -c 'import os, sys
for _ in range(int(sys.argv[2])):
    try:
        os.close(os.open(sys.argv[1], os.O_RDWR | os.O_NONBLOCK))
        print("opened")
    except OSError as error:
        print(error.strerror)' "$1" "$2" | sort | uniq -c
SH
conf=$T/conf
printf '[saphand]\nAudit=keep\n' >"$conf"
policy "$LEG_USER root" >"$T/keep.policy"
policy "$LEG_USER root" Require-Rung=landlock-audit >"$T/demand.policy"
printf '[saphand]\nAudit=maybe\n' >"$T/bad.conf"
check_not "Audit=maybe is no configuration" start_daemon "$T/bad" --config "$T/bad.conf"
begin "keep: a daemon starts" "$T/keep" --config "$conf"
equal "keep: audit is as it was" 0 "$(audit)"
export SAPHAN_SOCKET=$T/keep/saphan.sock
check "keep: status says that denials are not told" bash -c "saphan status | grep -q 'landlock-audit *refused'"
leg --read "$W/read" -- /bin/true
expect "keep: a policy that does not ask for it lets a leg run" 0 GREEN
kill "$daemon_pid"
begin "keep: a daemon with a policy that demands it" "$T/demand" --config "$conf"
SAPHAN_SOCKET=$T/demand/saphan.sock
leg --read "$W/read" -- /bin/true
expect "keep: a policy that demands the rung refuses by name" 125 REFUSED
check "and names it" grep -q landlock-audit "$T/json"
kill "$daemon_pid"

# ---- switched on ----
printf '[saphand]\nAudit=enable\n' >"$conf"
policy "$LEG_USER root" Require-Rung=landlock-audit >"$T/on.policy"
begin "enable: a daemon starts" "$T/on" --config "$conf"
SAPHAN_SOCKET=$T/on/saphan.sock
wide=$(audit_field backlog)
check "enable: the kernel keeps more than its first 64 records" [ "$wide" -ge 8192 ]
check "enable: status says that denials are told" bash -c "saphan status | grep -q 'landlock-audit *holds'"
leg --read "$W/read" --read "$W/ask" -- "$W/ask" "$W/read/pipe" 1
expect "a denied leg ends as it does" 0 GREEN
check "the denial was real" grep -q 'Permission denied' "$T/out"
equal "it is told with its path" "$W/read/pipe" "$(last_denied .subject)"
check "with the right that was missing" bash -c "$(declare -f denied last_denied); T=$T; last_denied .detail | grep -q 'landlock fs.*write_file'"
check "with who it was" bash -c "$(declare -f denied last_denied); T=$T; last_denied .detail | grep -q 'comm=python3 exe=/usr/bin/python3'"
equal "before the verdict" verdict "$(tail -n 1 "$T/json" | jq -r .event)"
id=$(jq -rs 'map(select(.event == "accepted"))[0].leg' "$T/json")
check "leg show prints it" bash -c "as() { :; }; saphan leg show $id | grep 'denied' | grep -qF '$W/read/pipe'"
leg --write "$W/read" --read "$W/ask" -- "$W/ask" "$W/read/pipe" 1
check "control: a write grant opens it" grep -q opened "$T/out"
equal "and nothing is told" "" "$(denied)"

missed=0
for _ in 1 2 3 4 5 6 7 8 9 10; do
    leg --read "$W/read" -- /bin/sh -c ": >>$W/read/pipe"
    [ "$(last_denied .subject)" = "$W/read/pipe" ] || missed=$((missed + 1))
done
equal "a program's last act is told before its verdict, ten times" 0 "$missed"

leg --read "$W/read" --read "$W/ask" -- "$W/ask" "$W/read/pipe" 500
check "repeats are folded into few events" [ "$(denied | wc -l)" -le 5 ]
check "with a count" [ "$(last_denied .count)" -gt 1 ]
lost() { saphan status | sed -n 's/^denials: .* \([0-9]*\) lost.*/\1/p'; }
before=$(lost)
leg --read "$W/read" --read "$W/ask" -- "$W/ask" "$W/read/pipe" 20000
check "a flood: every refusal was real" bash -c "grep -q '20000 Permission denied' $T/out"
check "a flood is few events, with a count" [ "$(denied | wc -l)" -le 8 ]
told=$(last_denied .count)
echo "# of 20000 denials $told were told"
# An overrun of the ear's socket counts as one more: what it took may be the record with the number.
all_counted() { [ $((told + $(lost) - before)) -ge 20000 ]; }
check "none is neither told nor lost" await 5 all_counted
id=$(jq -rs 'map(select(.event == "accepted"))[0].leg' "$T/json")
noted() { saphan leg show "$id" | grep -q 'of 20000 denials .* were not told'; }
if [ "$told" -lt 20000 ]; then # which the kernel decides: it drops records where nobody keeps up
    check "what was lost is noted with the leg" noted
else
    check_not "nothing was lost, and nothing is noted as lost" noted
fi

# A domain whose every record the kernel lost has none of its end either.
meanwhile() { jq -r 'select(.event == "note") | .detail' "$T/json" | grep -q '^the kernel had no room for [0-9]* audit records'; }
audit_field backlog 1 >"$T/audit"
leg --read "$W/read" --read "$W/ask" -- "$W/ask" "$W/read/pipe" 5000
check "where the kernel lost records the leg that ran is told so" meanwhile
audit_field backlog "$wide" >"$T/audit"
leg --read "$W/read" --read "$W/ask" -- "$W/ask" "$W/read/pipe" 1
check_not "control: with room for them it is not" meanwhile
equal "control: and its denial is told" "$W/read/pipe" "$(last_denied .subject)"

# ---- the right leg ----
mkdir "$W/other"
mkfifo -m 666 "$W/other/pipe"
owned "$W/other"
(cd "$W" && as_user saphan run --json --read "$W/other" --read "$W/ask" -- "$W/ask" "$W/other/pipe" 300) >"$T/other" 2>&1 </dev/null &
beside=$!
leg --read "$W/read" --read "$W/ask" -- "$W/ask" "$W/read/pipe" 300
wait "$beside"
equal "of two legs at once each is told its own" "$W/read/pipe $W/other/pipe" \
    "$(denied | jq -r .subject | sort -u) $(jq -r 'select(.event == "denied") | .subject' "$T/other" | sort -u)"

# ---- the ear ends ----
ear() { pgrep -P "$daemon_pid" -f '^saphan-ear '; }
first=$(ear)
(cd "$W" && as_user saphan run --json --read "$W" -- /bin/sh -c "echo here; while [ ! -e $W/go ]; do sleep 0.05; done; : >>$W/read/pipe") >"$T/json" 2>&1 </dev/null &
beside=$!
await 10 grep -q '"started"' "$T/json"
kill -KILL "$first"
check "an ear that died is started again" await 5 eval '[ -n "$(ear)" ] && [ "$(ear)" != "$first" ]'
check "and a running leg is told so" await 5 grep -q 'ear was started again' "$T/json"
touch "$W/go"
wait "$beside"
equal "the new one hears" "$W/read/pipe" "$(last_denied .subject)"
rm "$W/go"
check "status says that denials are heard" bash -c "saphan status | grep -q '^denials: *heard; [0-9]* told'"

# ---- switched off by somebody else, and put back ----
audit 0 >"$T/audit"
check "audit switched off meanwhile: the rung does not hold any more" \
    await 5 bash -c "saphan status | grep -q 'landlock-audit *refused'"
leg --read "$W/read" -- /bin/true
expect "and a policy that demands it refuses" 125 REFUSED
kill "$daemon_pid"
await 10 bash -c "! kill -0 $daemon_pid"
equal "after the daemon audit is off" 0 "$(audit)"
equal "and keeps as many records as before" "$room" "$(audit_field backlog)"
start_daemon "$T/on" --config "$conf"
equal "control: on again with the next" 1 "$(audit)"
kill -KILL "$daemon_pid"
wait "$daemon_pid" 2>/dev/null
equal "control: a daemon that is killed leaves it on" 1 "$(audit)"
equal "control: and the wide room" "$wide" "$(audit_field backlog)"
printf '[saphand]\nAudit=keep\n' >"$conf"
cp "$T/keep.policy" "$T/on.policy"
begin "the next daemon starts" "$T/on" --config "$conf"
equal "and puts back what was found" 0 "$(audit)"
equal "and the room" "$room" "$(audit_field backlog)"
finish
