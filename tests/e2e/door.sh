#!/bin/bash
# door.sh - --net door: what the list lets, what it does not, what is told, what no trick gets through.
# All of it, the daemon too, is in a network namespace of this test's own, where 11.22.33.44 is "the world".
# shellcheck source-path=SCRIPTDIR source=door_world.bash
. "$(dirname "$0")/door_world.bash"
open_world

door() { leg --net door "$@"; } # [OPTION...] -- COMMAND...
events() { jq -r "select(.event == \"$1\") | $2" "$T/json"; }
denied() { events denied '.subject + " " + .reason' | sort -u | paste -sd, ; }
fetch='curl -s -m 5 -o /dev/null -w %{http_code}'

# ---- the list ----
door --allow api.example.test --read "$T/ca.pem" -- \
    curl -s -m 5 --cacert "$T/ca.pem" https://api.example.test/hello
expect "a host on the list is reached through CONNECT" 0 GREEN
equal "and it is that host" "hello from api.example.test" "$(output)"
equal "the connection is told" "api.example.test:443" "$(events connected .subject)"
check "with its address and rule" grep -q 'address=11.22.33.44 rule=api.example.test:443' "$T/json"
check "and its bytes, at the end" test "$(events disconnected .bytes_in)" -gt 500
equal "egress is not claimed to be cut" false "$(events verdict .egress_cut)"
check "but to go by the list" grep -q egress-listed "$T/json"

door --allow '*.example.test:80' -- sh -c "
    curl -s http://deep.under.example.test/a; $fetch http://example.test/; $fetch http://other.test/"
equal "a star is what lies below, and nothing else" "hello from deep.under.example.test
403403" "$(output)"
equal "each refusal is told with its reason" "example.test:80 host-not-listed,other.test:80 host-not-listed" "$(denied)"

door -- sh -c "$fetch http://api.example.test/; $fetch https://api.example.test/"
equal "an empty list is nothing" "403000" "$(output)"
door --allow api.example.test -- sh -c "$fetch http://api.example.test/"
equal "another port of a host is not on the list" 403 "$(output)"
door --allow other.test -- true
expect "what the policy does not cover is refused" 125 REFUSED host-outside-ceiling
leg --net none --allow api.example.test -- true
expect "a host without a door is no wish that is passed over" 125 REFUSED request-malformed

# ---- a refusal is fast and says what ----
start=$(date +%s%N)
door -- curl -s -m 5 http://api.example.test/
took=$((($(date +%s%N) - start) / 1000000))
check "a refused program reads the host and the reason" grep -q 'host-not-listed: api.example.test:80' "$T/out"
check "at once" test "$took" -lt 3000

# ---- addresses ----
door --allow '*.example.test:80' -- sh -c "
    for h in inside metadata mixed; do $fetch http://\$h.example.test/; done"
equal "a name with an address that is not public is refused" 403403403 "$(output)"
equal "by its own reason" "inside.example.test:80 address-refused,metadata.example.test:80 address-refused,mixed.example.test:80 address-refused" "$(denied)"
door --allow '*.example.test:80' -- sh -c "
    $fetch http://rebind.example.test/; $fetch http://rebind.example.test/"
equal "a second answer that is private is refused" 200403 "$(output)"
door --allow 127.0.0.1:8000 -- curl -s -m 5 --noproxy '' http://127.0.0.1:8000/
equal "an address that was named itself is reached" "hello from 127.0.0.1:8000" "$(output)"
door --allow '*.example.test:80' -- sh -c "
    for a in 127.0.0.1 0x7f.1 0177.0.0.1 2130706433 '[::1]' '[::ffff:127.0.0.1]' 169.254.169.254 0; do
        curl -s -m 5 --noproxy '' -o /dev/null -w '%{http_code} ' -H Host: -x http://127.0.0.1:3128 --request-target \"http://\$a/\" http://x/
    done"
equal "no spelling of an address is a way" "403 400 400 400 403 403 403 400 " "$(output)"
door --allow '*.example.test:80' -- $fetch http://closed.example.test/
equal "a host that is not there" 502 "$(output)"
door --allow '*.example.test:80' -- $fetch http://nope.example.test/
equal "a name without an address" 502 "$(output)"

# ---- TLS ----
door --allow api.example.test --read "$T/ca.pem" -- sh -c "
    curl -sk -m 5 -o /dev/null -w '%{http_code} ' --connect-to other.test:443:api.example.test:443 https://other.test/ ;
    echo QUIT | openssl s_client -quiet -proxy 127.0.0.1:3128 -connect api.example.test:443 -noservername 2>&1 | grep -c 'unrecognized name'"
equal "the TLS name must be the host that was asked for" "000 1" "$(output)"
equal "told" "api.example.test:443 tls-name-mismatch" "$(denied)"
check "and nothing of it reached the server" test "$(grep -c other.test "$T/tls.log")" = 0

# ---- SOCKS5 ----
door --allow '*.example.test:80' -- sh -c "
    curl -s -m 5 --socks5-hostname 127.0.0.1:1080 http://api.example.test/;
    curl -s -m 5 --socks5-hostname 127.0.0.1:1080 http://other.test/; echo \$?;
    curl -s -m 5 --socks5 127.0.0.1:1080 http://11.22.33.44/; echo \$?"
equal "SOCKS5 goes by the same list" "hello from api.example.test
97
97" "$(output)"

# ---- raw attacks on the door ----
cp "$TESTS/e2e/door_attacks.py" "$W/attacks.py"
door --allow '*.example.test:80' --workspace "$W" -- python3 attacks.py parse
equal "every odd request is refused: $(output | grep -v '^ok' | head -5)" "$(output | wc -l)" "$(output | grep -c '^ok')"
check "and there were some" test "$(output | wc -l)" -ge 20
before=$(wc -l <"$T/http.log")
door --allow '*.example.test:80' --workspace "$W" -- python3 attacks.py smuggle
equal "a second request behind a body goes nowhere" 1 $(($(wc -l <"$T/http.log") - before))
before=$(wc -l <"$T/http.log")
door --allow '*.example.test:80' -- sh -c 'curl -s -m 5 -L http://api.example.test/redirect -o /dev/null -w "%{http_code}"'
equal "a redirect is a request like any other" 403 "$(output)"
door --allow '*.example.test:80' --workspace "$W" -- python3 attacks.py crowd
equal "ten thousand connections at once: each is answered or turned away" ok "$(output)"
check "and the door lived" test "$(colour)" = GREEN
door --allow '*.example.test:80' --workspace "$W" -- python3 attacks.py peers
equal "half-closed, reset, never reading, byte by byte: $(tail -n 3 "$T/err")" ok "$(output)"
door --allow '*.example.test:80' --workspace "$W" -- python3 attacks.py late
equal "who reads late gets all of it, in order: $(tail -n 3 "$T/err")" ok "$(output)"
door --allow '*.example.test:80' --workspace "$W" -- python3 attacks.py around
equal "there is no way around: $(output | grep -v '^ok')" "$(output | wc -l)" "$(output | grep -c '^ok')"

# ---- bodies ----
head -c 3000000 /dev/urandom >"$W/body" && owned "$W/body"
door --allow '*.example.test:80' --read "$W/body" -- sh -c "
    curl -s -m 20 --data-binary @$W/body http://api.example.test/;
    curl -s -m 20 -H 'Transfer-Encoding: chunked' --data-binary @$W/body http://api.example.test/;
    curl -s -m 20 http://api.example.test/big | wc -c"
equal "bodies of both kinds go through whole" "got 3000000
got 3000000
5000000" "$(output)"

# ---- live ----
cat >"$W/live.sh" <<'LIVE'
try() { curl -s -m 5 -o /dev/null -w '%{http_code}\n' http://api.example.test/; }
try; touch asked; while ! [ -e widened ]; do sleep 0.05; done
try; curl -sN -m 20 http://api.example.test/stream >stream 2>&1 & sleep 0.5; touch streaming
wait $!; echo "cut $?"; try
LIVE
owned "$W/live.sh"
leg --net door --workspace "$W" -- sh live.sh &
live=$!
await 10 test -e "$W/asked"
id=$(as_user saphan legs --json | jq -r 'select(.state == "running") | .leg' | head -n 1)
as_user saphan leg allow "$id" other.test:80 2>"$T/said"
equal "allow beyond the ceiling is refused" 125 $?
as_user saphan leg allow "$id" api.example.test:80
equal "allow within it is not" 0 $?
as "$OTHER_USER" saphan leg allow "$id" api.example.test:80 2>/dev/null
equal "nobody else's leg is changed" 125 $?
touch "$W/widened"
await 10 test -e "$W/streaming"
as_user saphan leg deny "$id" '*.example.test:80'
equal "deny" 0 $?
wait $live; rc=$(jq -rs 'map(select(.event == "verdict"))[0].client_status' "$T/json")
equal "a running leg is widened, narrowed, and its open connection is cut" "403
200
cut 1" "$(output | head -n 3 | sed 's/cut [1-9].*/cut 1/')"
equal "and then the host is refused" 403 "$(output | tail -n 1)"
equal "both are told" "api.example.test:80,*.example.test:80" "$(events door .subject | paste -sd,)"
equal "the cut too" host-denied "$(events disconnected '.reason // empty' | head -n 1)"

# ---- the end ----
leg --net door -- sleep 30 &
slept=$!
await 10 pgrep -P "$daemon_pid" -x saphan-door
await 10 sh -c "as=\$(pgrep -f 'sleep 30\$') && [ -n \"\$as\" ]"
descriptors() { find "/proc/$1/fd" -mindepth 1 | wc -l; }
serving=$(for pid in $(pgrep -P "$daemon_pid" -x saphan-door); do echo "$(descriptors "$pid") $pid"; done | sort -n | tail -n 1)
kill -KILL "${serving#* }"
wait $slept
equal "a leg whose door dies is ended" door-lost "$(reasons)"
equal "RED" RED "$(colour)"
await 5 not_running 30
check "with all that ran in it" not_running 30
await 5 sh -c "[ \$(pgrep -P $daemon_pid -x saphan-door | wc -l) = 1 ]"
equal "one door stands ready, and none is left over" 1 "$(pgrep -P "$daemon_pid" -x saphan-door | wc -l)"
check "leg show tells it from the ledger" sh -c "as_user() { :; }; saphan leg show 1 | grep -q 'connected.*api.example.test:443'"
finish
