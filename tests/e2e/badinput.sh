#!/bin/bash
# Bad input: a clear error, status 125, nothing run, nothing lost.
. "$(dirname "$(readlink -f "$0")")/lib.sh"
ran=$W/ran

# bad NAME PATTERN ARG...: `saphan run ARG...` is 125, says PATTERN, and ran nothing
bad() {
    local name=$1 pattern=$2 status
    shift 2
    rm -f "$ran"
    (cd "$W" && as_user timeout 60 saphan "$@" </dev/null) >"$T/out" 2>"$T/err"
    status=$?
    if [ $status = 125 ] && grep -qaiE -- "$pattern" "$T/err" && [ ! -e "$ran" ]; then
        ok "$name"
    else
        not_ok "$name" "status $status, wanted 125 and /$pattern/
$(head -c 1000 "$T/err")"
    fi
}
touch_it=(/usr/bin/touch "$ran")

bad "an unknown option" 'no-such|unrecognized|unknown' run --no-such -- "${touch_it[@]}"
bad "an unknown verb" 'verb|command|unknown' no-such-verb
bad "no command" 'command' run
bad "no command after --" 'command' run --
bad "an option without its value" 'write|argument|value' run --write
bad "a grant that does not exist" 'no such file|does not exist|ENOENT' run --write "$W/absent" -- "${touch_it[@]}"
mkfifo "$W/fifo" && owned "$W/fifo"
bad "a grant that is a FIFO" 'fifo' run --read "$W/fifo" -- "${touch_it[@]}"
bad "a grant that is a device" 'directory|regular|/dev/null' run --read /dev/null -- "${touch_it[@]}"
mkdir -m 700 "$T/root-only"
bad "a grant that the user may not reach" 'permission|EACCES|root-only' run --write "$T/root-only/x" -- "${touch_it[@]}"
bad "a write grant of what the user may not write" "" run --workspace "$T/root-only" -- "${touch_it[@]}"
bad "a write grant that covers saphand's state" 'grant-covers-saphand|permission|own' run --write "$SAPHAN_PRIVATE" -- "${touch_it[@]}"
(cd "$W" && saphan run --write "$SAPHAN_BUILD/daemon" -- /bin/true) >"$T/out" 2>"$T/err" </dev/null
equal "root's write grant of saphand's own programs: 125" 125 $?
check "and says why" grep -qa grant-covers-saphand "$T/err"
(cd "$W" && saphan run --write / -- /bin/true) >"$T/out" 2>"$T/err" </dev/null
equal "and of /" 125 $?
bad "--boundary none" 'boundary-none|unconfined' run --boundary none -- "${touch_it[@]}"
bad "--boundary container" 'boundary-unavailable|container|not-allowed' run --boundary container -- "${touch_it[@]}"
bad "--boundary with a word of no meaning" 'boundary' run --boundary nonsense -- "${touch_it[@]}"
bad "--view with a word of no meaning" 'view' run --view nonsense -- "${touch_it[@]}"
bad "--net door" 'net' run --net door -- "${touch_it[@]}"
bad "an unknown vendor" 'vendor' run --vendor no-such-vendor -- "${touch_it[@]}"
for limit in memory=-1 memory=10X memory=0 memory= tasks=01 tasks=0x1 tasks=1:0 tasks=-1 wall=1d cpu=fast output=1e3 files= nonsense=1 memory 'memory=1M,,tasks=2' 'memory=99999999999T'; do
    bad "--limit $limit" "limit|${limit%%=*}" run --limit "$limit" -- "${touch_it[@]}"
done
bad "an artefact with a bad hash" 'sha256' run --workspace "$W" --artefact "a,sha256=zz" -- "${touch_it[@]}"
bad "an artefact with a bad size" 'min-size' run --workspace "$W" --artefact "a,min-size=-1" -- "${touch_it[@]}"
bad "an artefact with an unknown key" 'artefact|nonsense' run --workspace "$W" --artefact "a,nonsense=1" -- "${touch_it[@]}"
bad "--stdin with a word of no meaning" 'stdin' run --stdin nonsense -- "${touch_it[@]}"
bad "an environment name that is none" 'env' run --env '=x' -- "${touch_it[@]}"
for id in 0 01 0x1 -1 1:0 root 99999999999999999999 ''; do
    bad "leg show '$id'" 'leg' leg show "$id"
    bad "leg kill '$id'" 'leg' leg kill "$id"
done
bad "leg show of no leg" 'leg-unknown' leg show 4000000000
bad "explain of no reason" 'reason|explain|unknown' explain no-such-reason
huge=$(head -c 120000 /dev/zero | tr '\0' x)
bad "an argument that is too big" 'big|E2BIG' run -- "${touch_it[@]}" "$huge" "$huge"
bad "an environment that is too big" 'big|E2BIG' run --env "A=$huge" --env "B=$huge" -- "${touch_it[@]}"
many=()
for i in $(seq 70); do mkdir -p "$W/g$i"; many+=(--read "$W/g$i"); done
bad "too many grants" 'many|grants' run "${many[@]}" -- "${touch_it[@]}"
(cd "$W" && as_user env SAPHAN_SOCKET=/no/such/socket saphan run -- "${touch_it[@]}") 2>"$T/err"
equal "no daemon: 125" 125 $?
check "and the socket is named" grep -qa /no/such/socket "$T/err"
(cd "$W" && as "$OTHER_USER" saphan run -- "${touch_it[@]}") 2>"$T/err"
equal "a user whom no policy names: 125" 125 $?
check "and the reason is not-allowed" grep -qa not-allowed "$T/err"

# ---- raw frames ----
check "frames that are no frames end their own connection only" python3 "$TESTS/e2e/frames.py" "$SAPHAN_SOCKET"
leg -- /bin/true
expect "and the daemon serves on" 0 GREEN
check "it is the same daemon" kill -0 "$SAPHAN_DAEMON_PID"

# ---- the disk is full under the ledger ----
mkdir "$T/full" && mount -t tmpfs -o size=3m,mode=711 tmpfs "$T/full"
policy "$LEG_USER" >"$T/full.policy"
if start_daemon "$T/full"; then
    export SAPHAN_SOCKET=$T/full/saphan.sock
    leg -- /bin/true
    expect "control: with room the leg runs" 0 GREEN
    dd if=/dev/zero of="$T/full/ballast" bs=4096 status=none 2>/dev/null
    leg --write "$W" -- "${touch_it[@]}"
    for _ in 1 2 3 4 5 6 7 8; do [ "$rc" != 0 ] || { rm -f "$ran"; leg --write "$W" -- "${touch_it[@]}"; }; done
    expect "disk full under the ledger" 125 REFUSED ledger-failed
    check_not "and nothing ran" [ -e "$ran" ]
    # Rows of legs that begin together are written together: all of them, or none.
    at_once() {
        local i pids=()
        for i in {1..12}; do
            (cd "$W" && as_user timeout 60 saphan run --json --write "$W" -- "${touch_it[@]}" </dev/null) >"$T/once.$i" 2>&1 &
            pids+=($!)
        done
        wait "${pids[@]}"
    }
    at_once
    equal "of twelve at once as well" 12 "$(grep -l '"ledger-failed"' "$T"/once.* | wc -l)"
    check_not "and nothing ran of those" [ -e "$ran" ]
    rm "$T/full/ballast"
    leg --write "$W" -- "${touch_it[@]}"
    expect "with room again it runs" 0 GREEN
    before=$(as_user saphan legs --all --json | jq -s length)
    at_once
    equal "and twelve at once" 12 "$(grep -l '"GREEN"' "$T"/once.* | wc -l)"
    equal "each with its row" 12 $(($(as_user saphan legs --all --json | jq -s length) - before))
    # The disk fills up while a leg runs, by what is kept of its output.
    leg --keep-output --limit wall=60s -- /bin/sh -c 'head -c 4000000 /dev/zero; exec sleep 1'
    id=$(jq -r 'select(.event == "accepted") | .leg' "$T/json" | head -n 1)
    expect "disk full under a leg: its verdict is told" 0 GREEN
    check "and that its output was not kept whole" grep -qE '[1-9][0-9]* bytes after them could not be written' "$T/json"
    rm "$T/full/state/output/$id".*
    recorded() { as_user saphan leg show "$id" | grep -q 'verdict: *GREEN'; }
    check "with room again its verdict is recorded" await 10 recorded
    kill "$daemon_pid"
    wait "$daemon_pid" 2>/dev/null
else
    not_ok "a daemon on a small disk" "$(tail -5 "$T/full.log")"
fi
finish
