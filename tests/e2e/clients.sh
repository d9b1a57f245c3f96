#!/bin/bash
# One client's misbehaviour never stalls another: crowds, stalls, a byte a second, two killers.
. "$(dirname "$(readlink -f "$0")")/lib.sh"

check "1,000 connections at once, and everybody else is served" python3 "$TESTS/e2e/crowd.py" "$SAPHAN_SOCKET" 1000
leg -- /bin/true
expect "a leg runs after the crowd" 0 GREEN

python3 - "$SAPHAN_SOCKET" "$T/stalling" <<'PY' &
import socket, struct, sys, time
slow = socket.socket(socket.AF_UNIX); slow.connect(sys.argv[1])
stalled = socket.socket(socket.AF_UNIX); stalled.connect(sys.argv[1])
stalled.sendall(struct.pack("<I", 1000) + b"x" * 10)
deaf = socket.socket(socket.AF_UNIX); deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024); deaf.connect(sys.argv[1])
ask = bytes((8, 1, 16, 7, 122, 0)) # status, over and over, and never a read
deaf.setblocking(False)
try:
    for _ in range(20000):
        deaf.sendall(struct.pack("<I", len(ask)) + ask)
except (BlockingIOError, BrokenPipeError, ConnectionError):
    pass
open(sys.argv[2], "w").close()
for byte in struct.pack("<I", 60) + b"x" * 60:
    try:
        slow.sendall(bytes([byte]))
    except OSError:
        time.sleep(60)
    time.sleep(1)
PY
stalling=$!
await 10 test -e "$T/stalling"
before=$(date +%s%N)
for _ in 1 2 3 4 5 6 7 8 9 10; do leg -- /bin/true; [ "$rc" = 0 ] || break; done
expect "ten legs beside one that stalls, one that never reads and one that sends a byte a second" 0 GREEN
took=$((($(date +%s%N) - before) / 1000000))
check "and none of them waited ($took ms)" [ $took -lt 10000 ]
kill "$stalling"

id=$(cd "$W" && as_user saphan run --detach --json -- /bin/sleep 600 2>&1 | grep -a '^{' |
    jq -rs 'map(select(.event == "accepted")) | .[0].leg')
(as_user saphan leg kill "$id" >"$T/kill1" 2>&1; echo $? >"$T/status1") &
first=$!
(as_user saphan leg kill "$id" >"$T/kill2" 2>&1; echo $? >"$T/status2") &
second=$!
wait $first $second
equal "two clients killing one leg: both get an answer" "0 0" "$(cat "$T/status1" "$T/status2" | tr '\n' ' ' | sed 's/ $//; s/125/0/')"
check "and it is dead once" bash -c "setpriv --reuid $LEG_USER --regid $leg_gid --init-groups saphan leg show $id | grep -q killed-by-request"

for i in $(seq 16); do
    (cd "$W" && as_user saphan run -- /bin/sh -c "exit $i" </dev/null >/dev/null 2>&1; echo "$i $?") &
done >"$T/together"
wait
equal "sixteen legs at once, each its own status" 16 "$(awk '$1 == $2' "$T/together" | wc -l)"
check "it is the same daemon" kill -0 "$SAPHAN_DAEMON_PID"
finish
