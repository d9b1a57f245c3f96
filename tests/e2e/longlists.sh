#!/bin/bash
# What is told of a leg with many events, and of many legs with long commands, comes whole, however much of it
# waits for its reader; a reader that stops in the middle is in nobody's way; a client that is behind keeps its leg.
# shellcheck source-path=SCRIPTDIR source=door_world.bash
. "$(dirname "$0")/door_world.bash"
open_world

# ---- events ----
TIMES=4000
cat >"$W/many.py" <<'PY'
import socket, sys
for _ in range(int(sys.argv[1])):
    with socket.create_connection(("127.0.0.1", 3128)) as sock:
        sock.sendall(b"CONNECT api.example.test:80 HTTP/1.1\r\n\r\n")
        answer = sock.recv(400)
        assert answer.startswith(b"HTTP/1.1 200"), answer
        sock.shutdown(socket.SHUT_WR)  # and to the end: the door lets a thousand be open at once
        while sock.recv(400):
            pass
with socket.create_connection(("127.0.0.1", 3128)) as sock:
    sock.sendall(b"CONNECT late.example.test:443 HTTP/1.1\r\n\r\n")
    assert sock.recv(400).startswith(b"HTTP/1.1 403")
PY
owned "$W/many.py"
leg --net door --allow api.example.test:80 --read "$W/many.py" -- python3 "$W/many.py" $TIMES
expect "a leg with $TIMES connections" 0 GREEN
number=$(jq -r 'select(.event == "accepted") | .leg' "$T/json")
shown() { as_user timeout 60 saphan leg show "$number" >"$T/shown" 2>&1; }
check "is shown" shown
equal "with every connection, and the end of each" "$TIMES $TIMES" \
    "$(grep -c ' connected ' "$T/shown") $(grep -c ' disconnected ' "$T/shown")"
check "what it was refused after all of them is there" grep -q ' denied *late.example.test:443' "$T/shown"
check "in their order" sh -c "grep -o '^20[^ ]*' '$T/shown' | sort -c"
check "and its verdict behind them" sh -c "tail -n 1 '$T/shown' | grep -q '^wall:'"

# ---- a client that is behind ----
# It stops before the leg floods, and goes on when the leg is done.
cat >"$W/flood.py" <<'PY'
import os, time
while not os.path.exists("stopped"):
    time.sleep(0.01)
exec(open("many.py").read())
open("done", "w").write("x")
PY
owned "$W/flood.py"
FLOOD=10500 # more than the ledger keeps of one leg
(cd "$W" && exec setpriv --reuid "$LEG_USER" --regid "$leg_gid" --init-groups -- saphan run --json --net door \
    --allow api.example.test:80 --workspace "$W" --artefact "done" -- python3 flood.py $FLOOD </dev/null) \
    >"$T/json" 2>"$T/client" &
client=$!
await 20 grep -q '"event":"started"' "$T/json"
kill -STOP "$client"
touch "$W/stopped"
check "beside a client that is stopped a leg makes $FLOOD connections" await 40 test -e "$W/done"
kill -CONT "$client"
wait "$client"
rc=$?
expect "the client goes on, and has its verdict" 0 GREEN
equal "what it was not told was counted for it" $((2 * FLOOD + 1)) "$(jq -s '
    (map(select(.event == "note") | .detail | capture("(?<n>[0-9]+) events were not told").n | tonumber) | add)
    + (map(select(.event == "connected" or .event == "disconnected" or .event == "denied")) | length)' "$T/json")"
number=$(jq -r 'select(.event == "accepted") | .leg' "$T/json")
check "the ledger is shown" shown
equal "has as many as it keeps of a leg" 20000 "$(grep -cE ' (dis)?connected ' "$T/shown")"
check "and says that there were more" grep -q 'further connections of this leg are not recorded' "$T/shown"
check "but has what was refused after them" grep -q ' denied *late.example.test:443' "$T/shown"

# ---- legs ----
LEGS=100
words=$(seq -f "$(head -c 250 /dev/zero | tr '\0' a)%g" 200)
mapfile -t words <<<"$words"
for ((i = 0; i < LEGS; i++)); do
    (cd "$W" && as_user saphan run -- /bin/true "${words[@]}" </dev/null) 2>>"$T/legs.err" || break
done
equal "legs with long commands" "$LEGS" "$i"
listed() { as_user timeout 60 saphan legs --all --json >"$T/listed" 2>&1; }
check "are listed" listed
equal "all of them, in their order" "$(seq 1 $((LEGS + 2)))" "$(jq .leg "$T/listed")"
equal "with their whole commands" "$LEGS" "$(jq -c '.argv | length' "$T/listed" | grep -cx $((${#words[@]} + 1)))"

# ---- readers that stop ----
cat >"$T/stop.py" <<'PY'
import sys
sys.path.insert(0, sys.argv[1])
import rawclient as raw
SHOW, LEGS, LEG = 12, 11, raw.number(1, int(sys.argv[2]))
clients = []
for _ in range(6):
    clients.append(raw.Client())
    for number in range(12):
        body, which = (LEG, SHOW) if number % 2 else (raw.number(1, 1), LEGS)
        clients[-1].send(raw.frame(body, which, request=number + 1))
good = all(raw.served() for _ in range(20))
print("served" if good else "not served")
# One goes on to read after a while.
ends = events = 0
while ends < 12:
    kind, body = clients[0].next()
    if kind in ("ended", "silent", "refused"):
        break
    ends, events = ends + (kind == "end"), events + (kind == "event")
print(ends, events >= 6 * int(sys.argv[3]))
PY
equal "others are served meanwhile; one that goes on to read gets all of it" "served
12 True" "$(timeout 120 python3 "$T/stop.py" "$TESTS/escape" "$number" 20000)"
check "saphand lives" kill -0 "$daemon_pid"
finish
