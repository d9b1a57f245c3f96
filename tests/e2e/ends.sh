#!/bin/bash
# The end of a leg ends all of it within a second, whatever it did to stay, and nothing else.
. "$(dirname "$(readlink -f "$0")")/lib.sh"
mark=31415926.$RANDOM # an argument of sleep that no other process has

sleep 86400 &
canary=$!
program stay <<SH
#!/bin/bash
trap '' TERM HUP INT QUIT PIPE
# A double fork in a session of its own, one that keeps forking, and one that holds standard output.
setsid bash -c 'trap "" TERM HUP INT; (setsid sleep $mark) & sleep $mark' &
bash -c 'trap "" TERM; while :; do sleep 0.05 & wait; done' &
disown -a
\${1:-sleep} $mark
SH
gone() { # NAME: no process of the leg, no cgroup of it, within a second of the client's end
    if await 1 not_running "$mark"; then ok "$1: no process is left"; else not_ok "$1: no process is left"; fi
    if await 1 no_leg_cgroup; then ok "$1: its cgroup is gone"; else not_ok "$1: its cgroup is gone" "$(find "$cgroup")"; fi
    check "$1: the canary outside lives" kill -0 "$canary"
}
# A slot that waits has a cgroup too, but only processes of ours in it.
no_leg_cgroup() {
    local procs pid
    while read -r procs; do
        while read -r pid; do
            grep -qx "$(basename "$(readlink "/proc/$pid/exe" 2>/dev/null)")" <(printf '%s\n' bash sleep sh cat) && return 1
        done <"$procs"
    done < <(find "$cgroup" -name cgroup.procs 2>/dev/null)
    return 0
}
cgroup=$(daemon_cgroup "$SAPHAN_DAEMON_PID")
check "the daemon has a cgroup of its own" test -d "$cgroup"

setsid "$W/stay" >/dev/null 2>&1 </dev/null &
outside=$!
await 5 running "$mark"
kill -TERM "$outside"
sleep 0.2
check "control: outside, TERM does not end it" running "$mark"
pkill -KILL -s "$outside"
await 2 bash -c "pkill -KILL -f -- 'sleep $mark\$'; ! pgrep -f -- 'sleep $mark\$'"

before=$(date +%s%N)
leg --read "$W" --limit wall=1s -- "$W/stay"
took=$((($(date +%s%N) - before) / 1000000))
expect "wall time" 124 RED wall-time
check "the client is back within grace and a second ($took ms)" [ $took -lt 3000 ]
gone "wall time"

found=$( (cd "$W" && as_user timeout 20 saphan run --read "$W" --limit wall=1s -- "$W/stay" 2>/dev/null; echo "status $?") | cat)
equal "a pipe it held is closed" "status 124" "$found"
gone "a pipe it held"

leg --read "$W" -- "$W/stay" true
check "the first process's end is the leg's" [ "$rc" = 0 ]
gone "the first process's end"

(cd "$W" && exec setpriv --reuid "$LEG_USER" --regid "$leg_gid" --init-groups env HOME="$W" \
    saphan run --read "$W" -- "$W/stay") >/dev/null 2>&1 &
client=$!
check "a leg runs" await 5 running "$mark"
kill -KILL "$client"
wait "$client" 2>/dev/null
gone "the client killed"

(cd "$W" && exec setpriv --reuid "$LEG_USER" --regid "$leg_gid" --init-groups env HOME="$W" \
    saphan run --read "$W" -- "$W/stay") >/dev/null 2>&1 &
client=$!
check "a leg runs" await 5 running "$mark"
kill -TERM "$client"
wait "$client" 2>/dev/null
check_not "the client ended by TERM does not say 0" [ $? = 0 ]
gone "the client ended by TERM"

id=$(cd "$W" && as_user saphan run --detach --json --read "$W" -- "$W/stay" 2>&1 | grep -a '^{' |
    jq -rs 'map(select(.event == "accepted")) | .[0].leg')
check "a detached leg ($id) outlives its client" await 5 running "$mark"
check "it is in the list" bash -c "setpriv --reuid $LEG_USER --regid $leg_gid --init-groups saphan legs | grep -q '\b$id\b'"
check_not "someone else's kill is refused" as "$OTHER_USER" saphan leg kill "$id"
check "it still runs" running "$mark"
check "its owner's kill is not" as_user saphan leg kill "$id"
gone "leg kill"
check "the row says who ended it" bash -c "setpriv --reuid $LEG_USER --regid $leg_gid --init-groups saphan leg show $id | grep -q killed-by-request"

for end in TERM KILL; do
    start_daemon "$T/own" || not_ok "a daemon to end by $end" "$(tail -5 "$T/own.log")"
    cgroup=$(daemon_cgroup "$daemon_pid")
    (cd "$W" && exec setpriv --reuid "$LEG_USER" --regid "$leg_gid" --init-groups \
        env HOME="$W" SAPHAN_SOCKET="$T/own/saphan.sock" saphan run --read "$W" -- "$W/stay") >/dev/null 2>"$T/err" &
    client=$!
    check "a leg runs" await 5 running "$mark"
    kill -$end "$daemon_pid"
    if await 3 not_running "$mark"; then ok "the daemon ended by $end: no process is left"; else not_ok "the daemon ended by $end: no process is left"; fi
    wait "$client"
    equal "its client says 125 or the kill's own status" yes "$(case $? in 125|137|112) echo yes ;; *) echo no ;; esac)"
    wait "$daemon_pid" 2>/dev/null
    [ $end = KILL ] || check_not "and its cgroup is gone" test -d "$cgroup"
done
start_daemon "$T/own" && kill "$daemon_pid" && wait "$daemon_pid" 2>/dev/null
check_not "after the sweep of the next start the killed one's cgroup is gone" test -d "$cgroup"
check "the canary outside lives to the end" kill -0 "$canary"
finish
