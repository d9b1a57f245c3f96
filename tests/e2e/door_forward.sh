#!/bin/bash
# door_forward.sh - fixed ways out, and keys that stay outside.
# shellcheck source-path=SCRIPTDIR source=door_world.bash
. "$(dirname "$0")/door_world.bash"
open_world
mkdir -m 755 "$T/keys" "$T/unix"
secret=sk-test-$(od -An -N12 -tx1 /dev/urandom | tr -d ' \n')
echo "Bearer $secret" >"$T/keys/key" && chmod 600 "$T/keys/key" && owned "$T/keys/key"
echo "root's own" >"$T/keys/roots" && chmod 600 "$T/keys/roots"
door() { leg --net door "$@"; }
events() { jq -r "select(.event == \"$1\") | $2" "$T/json"; }
ca=",ca=@$T/ca.pem"

# ---- TCP ----
door --forward 8080=api.example.test:80 -- curl -s -m 5 --noproxy '*' http://127.0.0.1:8080/x
equal "a loopback port leads to its target" "hello from 127.0.0.1:8080" "$(output)"
equal "and is told" "api.example.test:80" "$(events connected .subject)"
door --forward 8080=api.example.test:80 -- curl -s -m 5 -o /dev/null -w '%{http_code}' http://api.example.test/
equal "a forward puts nothing on the list" 403 "$(output)"
door --forward 8080=inside.example.test:80 -- curl -s -m 5 --noproxy '*' http://127.0.0.1:8080/
expect "its target is checked like any other: nothing comes" 52 RED
equal "told" address-refused "$(events denied .reason)"
door --forward 8080=other.test:80 -- true
expect "a target that the policy does not cover" 125 REFUSED forward-outside-ceiling
door --forward 3128=api.example.test:80 -- true
expect "the door's own port" 125
door --forward 8080=127.0.0.1:8000 -- curl -s -m 5 --noproxy '*' http://127.0.0.1:8080/
equal "an address of the host, named itself" "hello from 127.0.0.1:8080" "$(output)"

# ---- unix ----
cat >"$T/unix.py" <<'PY'
import os, socket, sys
path, uid, mode = sys.argv[1], int(sys.argv[2]), int(sys.argv[3], 8)
server = socket.socket(socket.AF_UNIX)
server.bind(path); os.chmod(path, mode); os.chown(path, uid, 0); server.listen(16)
while True:
    peer, _ = server.accept()
    _, who, _ = __import__("struct").unpack("3i", peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    peer.sendall(b"uid %d\n" % who); peer.close()
PY
python3 "$T/unix.py" "$T/unix/mine.sock" "$leg_uid" 600 & python3 "$T/unix.py" "$T/unix/roots.sock" 0 600 &
python3 "$T/unix.py" "$T/elsewhere.sock" "$leg_uid" 666 &
await 10 test -S "$T/elsewhere.sock"; await 10 test -S "$T/unix/roots.sock"
ln -s "$T/elsewhere.sock" "$T/unix/link.sock"
read_socket='python3 -c "import socket; s = socket.create_connection((\"127.0.0.1\", 8080)); print(s.recv(100).decode().strip() or \"nothing\")"'
door --forward "8080=unix:$T/unix/mine.sock" -- sh -c "$read_socket"
equal "a socket with a path is connected to as the requester" "uid $leg_uid" "$(output)"
door --forward "8080=unix:$T/unix/roots.sock" -- sh -c "$read_socket"
equal "one that the requester may not connect to is not" nothing "$(output)"
check "told with the errno" grep -q EACCES "$T/json"
door --forward "8080=unix:$T/unix/link.sock" -- sh -c "$read_socket"
equal "a link out of the ceiling is not followed" nothing "$(output)"
door --forward "8080=unix:$T/elsewhere.sock" -- true
expect "a path that the policy does not cover" 125 REFUSED forward-outside-ceiling

# ---- keys stay outside ----
with_key() { door --forward "8080=https://api.example.test,header=X-Key:@$T/keys/key$ca" "$@"; }
: >"$T/tls.log"
with_key -- curl -s -m 5 --noproxy '*' -H "X-Key: the agent's own" -H 'X_Key: another' http://127.0.0.1:8080/v1
equal "plain HTTP in the leg, TLS to the host" "hello from api.example.test" "$(output)"
equal "the header comes from outside, the agent's own is taken away" \
    "GET /v1 host=api.example.test key=Bearer $secret body=0" "$(cat "$T/tls.log")"
check_not "the value is in no event" grep -q "$secret" "$T/json"
check_not "nor in the journal of the daemon" grep -q "$secret" "$T/door.log"
check_not "nor in the ledger" grep -rqa "$secret" "$T/door/state"
with_key -- sh -c 'env; cat /proc/*/environ /proc/*/cmdline /proc/*/maps 2>/dev/null; ls -l /proc/1/fd 2>/dev/null; true'
check_not "nor in the leg, its environment or its /proc" grep -qa "$secret" "$T/out"
: >"$T/tls.log"
head -c 300000 /dev/urandom >"$W/body" && owned "$W/body"
with_key --read "$W/body" -- sh -c "
    curl -s -m 20 --noproxy '*' --data-binary @$W/body http://127.0.0.1:8080/post
    curl -s -m 20 --noproxy '*' -H 'Transfer-Encoding: chunked' --data-binary @$W/body http://127.0.0.1:8080/post
    curl -s -m 20 --noproxy '*' http://127.0.0.1:8080/big | tr -d x | wc -c"
equal "bodies of both kinds, and a big answer" "got 300000
got 300000
0" "$(output)"
cat >"$W/stream.py" <<'PY'
import time, urllib.request
came, sent = [], []
for line in urllib.request.urlopen("http://127.0.0.1:8080/stream"):
    if line.startswith(b"data:"):
        came.append(time.time())
        sent.append(float(line.split()[2]))
# What is kept back comes when the last was sent; most must be here by then.
early = sum(here < sent[-1] for here in came)
print("ok" if len(came) == 30 and early >= 15 else "kept back: %d of %d came early" % (early, len(came)))
PY
with_key --read "$W/stream.py" -- python3 "$W/stream.py"
equal "an answer comes token by token" ok "$(output)"

# ---- every way to read the key ----
with_key -- sh -c "
    curl -s -m 5 --noproxy '*' http://127.0.0.1:8080/reflect
    curl -s -m 5 --noproxy '*' --compressed http://127.0.0.1:8080/reflect
    curl -s -m 5 --noproxy '*' -X TRACE http://127.0.0.1:8080/ -o /dev/null -w '%{http_code}\n'
    curl -s -m 5 --noproxy '' -x http://127.0.0.1:8080 http://api.example.test/ -o /dev/null -w '%{http_code}\n'
    curl -s -m 5 --noproxy '' -x http://127.0.0.1:3128 http://127.0.0.1:8080/ -o /dev/null -w '%{http_code}\n'
    curl -s -m 5 --noproxy '' -p -x http://127.0.0.1:8080 http://api.example.test/ -o /dev/null -w '%{http_code}\n'"
check_not "reflected, TRACE, through itself: the key is not read" grep -q "$secret" "$T/out"
check "a value that a server sends back is masked" grep -q 'Bearer \*\*\*\*\*\*' "$T/out"
check "told" grep -q key-masked "$T/json"
equal "what is no plain request is refused" "400
400
403
000" "$(tail -n 4 "$T/out")"
with_key -- sh -c "
    curl -s -m 5 --noproxy '*' http://127.0.0.1:8080/reflect-in-pieces/1
    curl -s -m 5 --noproxy '*' http://127.0.0.1:8080/reflect-in-pieces/7
    curl -s -m 5 --noproxy '*' http://127.0.0.1:8080/reflect-in-pieces/40"
check_not "in chunks that a reader puts together again" grep -q "$secret" "$T/out"
equal "the answers are whole but for it" "you sent Bearer ${secret//?/\*}, and that is all" "$(sort -u "$T/out")"
with_key -- sh -c "curl -s --raw -m 5 --noproxy '*' http://127.0.0.1:8080/reflect-in-an-extension"
check_not "nor in what a chunk is called beside its size" grep -q "$secret" "$T/out"
check "and why it was cut off is told" grep -q answer-packed "$T/json"
with_key -- sh -c "
    for at in \$(seq 0 60); do curl -s -m 5 --noproxy '*' -r \$at-\$at http://127.0.0.1:8080/reflect-a-part | head -c 1; done"
check_not "nor byte by byte by a Range" grep -q "$secret" "$T/out"
with_key -- sh -c "curl -s -m 5 --noproxy '*' --compressed http://127.0.0.1:8080/reflect-packed; true"
equal "nor in what is compressed though nobody asked for it: that is cut off" "" "$(output)"
equal "told" answer-packed "$(events denied .reason)"
door --forward "8080=https://api.example.test$ca" -- curl -s -m 5 --noproxy '*' --compressed http://127.0.0.1:8080/reflect-packed
equal "without a key it comes" "you sent None" "$(output)"
: >"$T/tls.log" >"$T/http.log"
with_key --forward "8081=https://api.example.test$ca" --forward 8082=api.example.test:80 --allow api.example.test:80 -- sh -c "
    curl -s -m 5 --noproxy '*' http://127.0.0.1:8080/with -H 'Host: other.test'
    curl -s -m 5 --noproxy '*' http://127.0.0.1:8081/without; curl -s -m 5 --noproxy '*' http://127.0.0.1:8082/plain
    curl -s -m 5 http://api.example.test/listed"
equal "a second forward, and the door beside, carry no key; a Host of the agent's leads nowhere else" \
    "GET /with host=api.example.test key=Bearer $secret body=0
GET /without host=api.example.test key=None body=0
GET /plain host=127.0.0.1:8082 key=None body=0
GET /listed host=api.example.test key=None body=0" "$(cat "$T/tls.log" "$T/http.log")"
door --forward "8080=https://closed.example.test,header=X-Key:@$T/keys/key$ca" -- curl -s -m 5 --noproxy '*' http://127.0.0.1:8080/
check "an error of the door's own says why" grep -q connect-failed "$T/out"
check_not "and holds no key" grep -q "$secret" "$T/out" "$T/err" "$T/json"
cp "$TESTS/e2e/door_attacks.py" "$W/attacks.py"
: >"$T/tls.log"
with_key --workspace "$W" -- python3 attacks.py inject
equal "no line goes in through a path or a value: $(output | grep -v '^ok')" "$(output | wc -l)" "$(output | grep -c '^ok')"
check_not "none reached the server" grep -qi injected "$T/tls.log"

# ---- who the server is ----
door --forward "8080=https://api.example.test,header=X-Key:@$T/keys/key" -- \
    curl -s -m 5 --noproxy '*' -o /dev/null -w '%{http_code}' http://127.0.0.1:8080/
equal "a certificate of unknown authorities" 502 "$(output)"
equal "by its own reason" certificate-refused "$(events denied .reason)"
: >"$T/tls.log"
door --forward "8080=https://example.test,header=X-Key:@$T/keys/key$ca" -- \
    curl -s -m 5 --noproxy '*' -o /dev/null -w '%{http_code}' http://127.0.0.1:8080/
equal "a certificate of another name" 502 "$(output)"
equal "and the key was not sent" "" "$(cat "$T/tls.log")"

# ---- the file ----
door --forward "8080=https://api.example.test,header=X-Key:@$T/keys/roots$ca" -- true
expect "a key that the requester may not read" 125
door --forward "8080=https://api.example.test,header=X-Key:@$T/keys$ca" -- true
expect "one that is no file" 125
printf 'a\r\nX: y' >"$T/keys/lines" && owned "$T/keys/lines"
door --forward "8080=https://api.example.test,header=X-Key:@$T/keys/lines$ca" -- true
expect "one with lines in it" 125 REFUSED build-failed
: >"$T/keys/empty" && owned "$T/keys/empty"
door --forward "8080=https://api.example.test,header=X-Key:@$T/keys/empty$ca" -- true
expect "an empty one" 125 REFUSED build-failed
door --forward "8080=https://api.example.test,header=Content-Length:@$T/keys/key$ca" -- true
expect "a header that says where the body ends" 125
door --forward "8080=api.example.test:443,header=X-Key:@$T/keys/key" -- true
expect "a header without https" 125

# ---- the door itself ----
leg --net door --forward "8080=https://api.example.test,header=X-Key:@$T/keys/key$ca" --workspace "$W" -- \
    sh -c 'curl -s -m 5 --noproxy "*" http://127.0.0.1:8080/ >/dev/null; touch asked; while ! [ -e seen ]; do sleep 0.05; done' &
running=$!
await 10 test -e "$W/asked"
descriptors() { find "/proc/$1/fd" -mindepth 1 | wc -l; }
found=$(for pid in $(pgrep -P "$daemon_pid" -x saphan-door); do echo "$(descriptors "$pid") $pid"; done | sort -n | tail -1 | cut -d' ' -f2)
check "a door serves the leg" test -n "$found"
# AddressSanitizer makes mlock(2) do nothing.
[ -n "${ASAN_OPTIONS:-}" ] ||
    check "the door with a key holds locked memory" grep -q 'VmLck:[[:space:]]*[1-9]' "/proc/$found/status"
equal "it has no capability" 0000000000000000 "$(awk '/CapEff/ { print $2 }' "/proc/$found/status")"
equal "a filter" 2 "$(awk '/^Seccomp:/ { print $2 }' "/proc/$found/status")"
equal "no new privileges" 1 "$(awk '/NoNewPrivs/ { print $2 }' "/proc/$found/status")"
uid=$(awk '/^Uid/ { print $2 }' "/proc/$found/status")
check "an id of its own" test $((uid >> 12)) = $((0x6ffe0)) 
equal "an empty root" 0 "$(ls -A "/proc/$found/root/" | wc -l)"
check_not "another user reads nothing of it" as_user cat "/proc/$found/environ" "/proc/$found/maps"
touch "$W/seen"
wait $running
finish
