#!/bin/bash
# A second saphand beside a living one, on the same state: it does not start, and the first one's legs, rows and
# cgroups are as they were.
. "$(dirname "$(readlink -f "$0")")/lib.sh"
mark=14142.$RANDOM

start_daemon "$T/own" || { not_ok "the daemon starts" "$(tail -5 "$T/own.log")"; finish; }
first=$daemon_pid
export SAPHAN_SOCKET=$T/own/saphan.sock
mkfifo "$T/go"
exec 9<>"$T/go"
(cd "$W" && as_user timeout 60 saphan run --json --stdin inherit -- \
    /bin/sh -c "sleep $mark & read -r word; kill \$!; echo \$word") <"$T/go" >"$T/json" 2>"$T/client" 9>&- &
client=$!
check "a leg of the first runs" await 20 running "$mark"

# The private folder's own socket is no protection: it is made last.
"${BEFORE_DAEMON[@]}" "$SAPHAN_BUILD/daemon/saphand" --private "$T/own" --policy "$T/own.policy" \
    --libexec "$SAPHAN_BUILD/daemon" --vendors "$SAPHAN_BUILD/policy/vendors" \
    --custodian "$(stat -c %u "$SAPHAN_BUILD/daemon/saphand")" >"$T/second.log" 2>&1 </dev/null &
second=$!
check "a second on the same state ends" await 30 _ready_or_gone "$T/none" "$second"
wait "$second"
equal "with the status of one that did not start" 1 $?
check "and says who has it" grep -q "state $T/own/state: another saphand" "$T/second.log"
check "the leg of the first still runs" running "$mark"
equal "and its row says so" running "$(as_user saphan legs --json | jq -r .state)"
echo done >&9
wait "$client"
rc=$?
_written stdout >"$T/out"
expect "it ends as it would have" 0 GREEN
equal "with its own word" done "$(output)"
leg -- /bin/true
expect "and the first serves on" 0 GREEN

kill -KILL "$first"
wait "$first" 2>/dev/null
start_daemon "$T/own"
equal "after the death of the first another starts at once" 0 $?
kill "$daemon_pid" 2>/dev/null
wait "$daemon_pid"
equal "an orderly stop" 0 $?
finish
