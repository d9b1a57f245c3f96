#!/bin/bash
# SIGKILL of the daemon, or of a leg's pid 1, at many points of set-up and run: after the next start
# nothing is left.
. "$(dirname "$(readlink -f "$0")")/lib.sh"
mark=16180.$RANDOM
WS=$T/ws
mkdir -p "$WS/src" && owned "$WS" && touch -d 2020-01-02 "$WS/src" "$WS"
before=$(tree "$WS")
mounts=$(wc -l </proc/self/mountinfo)
points=${SAPHAN_SWEEP_POINTS:-24}
RANDOM=20261130

start() { start_daemon "$T/own" || { not_ok "the daemon starts" "$(tail -5 "$T/own.log")"; finish; }; }
start
cgroup=$(daemon_cgroup "$daemon_pid")
export SAPHAN_SOCKET=$T/own/saphan.sock
bad=""
for point in $(seq "$points"); do
    (cd "$W" && as_user timeout 20 saphan run --workspace "$WS" -- /bin/sh -c "sleep $mark & sleep $mark") >/dev/null 2>&1 &
    client=$!
    # The first points fall into set-up, the others into the run.
    sleep "0.$(printf '%03d' $((RANDOM % (point * 15))))"
    kill -KILL "$daemon_pid"
    wait "$daemon_pid" 2>/dev/null
    killed_cgroup=$cgroup
    await 2 not_running "$mark" || bad="$bad point $point: a process is left;"
    wait "$client"
    status=$?
    [ $status = 125 ] || [ $status = 137 ] || bad="$bad point $point: the client said $status;"
    start
    cgroup=$(daemon_cgroup "$daemon_pid")
    [ ! -d "$killed_cgroup" ] || bad="$bad point $point: a cgroup is left;"
    [ "$before" = "$(tree "$WS")" ] || bad="$bad point $point: the tree changed: $(diff <(echo "$before") <(tree "$WS"));"
done
if [ -z "$bad" ]; then ok "$points times SIGKILL of the daemon: nothing is left"; else not_ok "$points times SIGKILL of the daemon: nothing is left" "$bad"; fi
equal "no mount is left" "$mounts" "$(wc -l </proc/self/mountinfo)"
check_not "no leg is said to run" bash -c "setpriv --reuid $LEG_USER --regid $leg_gid --init-groups saphan legs | grep -qi running"

kill_stubs() { # CLIENT: kills every stub there is; true when CLIENT has ended
    local pid
    for pid in $(find "$cgroup" -name cgroup.procs -exec cat {} + 2>/dev/null); do
        case $(readlink "/proc/$pid/exe") in */saphan-stub) kill -KILL "$pid" 2>/dev/null ;; esac
    done
    ! kill -0 "$1" 2>/dev/null
}
bad=""
for point in $(seq $((points / 2))); do
    (cd "$W" && as_user timeout 20 saphan run --json --workspace "$WS" -- /bin/sh -c "sleep $mark & sleep $mark") >"$T/out" 2>&1 &
    client=$!
    sleep "0.$(printf '%03d' $((RANDOM % (point * 30))))"
    # Until its client has ended: the first may have been a slot that no leg had yet.
    await 10 kill_stubs "$client" || bad="$bad point $point: the leg goes on;"
    await 2 not_running "$mark" || bad="$bad point $point: a process is left;"
    kill -0 "$daemon_pid" 2>/dev/null || bad="$bad point $point: the daemon died;"
    wait "$client"
    [ $? != 0 ] || bad="$bad point $point: the client said 0;"
done
if [ -z "$bad" ]; then ok "SIGKILL of every stub: the daemon lives, no process is left"; else not_ok "SIGKILL of every stub: the daemon lives, no process is left" "$bad"; fi
await 3 test "$before" = "$(tree "$WS")"
equal "and the tree is as it was" "$before" "$(tree "$WS")"
leg -- /bin/true
expect "and a leg runs" 0 GREEN
kill "$daemon_pid"
wait "$daemon_pid"
equal "an orderly stop" 0 $?
finish
