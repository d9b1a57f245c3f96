#!/bin/bash
# matrix.sh - cells of the matrix: an invented vendor of each kind gets the verdict that it has earned;
# a kill at any point leaves a state that says so; what a policy demands, and what moves between hosts.
. "$(dirname "$(readlink -f "$0")")/lib.sh"
export T

# ---- invented vendors ----
# Each is the program "agent", with --box and --no-box for its own sandbox, and leaves artefact.txt.
mkdir -p "$T/bin" && chmod 755 "$T/bin"
for name in nester loud liar hanger spinner waiter breaker crasher; do
    invented_vendor $name
done
agent() { # NAME: what it does with its sandbox on is on standard input
    { cat <<'SH'
#!/bin/bash
[ "${1:-}" != --version ] || { echo "${0##*/} 1.0"; exit 0; }
work() { echo done >artefact.txt; }
boxed() { unshare --user --map-root-user "$@"; }
SH
      cat
    } >"$T/bin/$1"
    chmod 755 "$T/bin/$1"
}
agent nester <<'SH'
work
SH
agent loud <<'SH'
if [ "$1" = --box ]; then boxed bash -c 'echo done >artefact.txt' || exit 7; else work; fi
SH
agent liar <<'SH'
if [ "$1" = --box ]; then boxed bash -c 'echo done >artefact.txt' 2>/dev/null; else work; fi
exit 0
SH
agent hanger <<'SH'
if [ "$1" = --box ]; then until boxed bash -c 'echo done >artefact.txt' 2>/dev/null; do :; done; else work; fi
SH
agent spinner <<'SH'
if [ "$1" = --box ]; then boxed true 2>/dev/null || while :; do :; done; fi; work
SH
agent waiter <<'SH'
if [ "$1" = --box ]; then boxed true 2>/dev/null || sleep 1000; fi; work
SH
agent breaker <<'SH'
echo "no licence" >&2; exit 3
SH
agent crasher <<'SH'
kill -SEGV $$
SH
policy "$LEG_USER root" Measure=yes >"$T/m.policy"
run_daemon() { # DIR: a daemon that lets measure and knows these vendors
    start_daemon "$1" --vendors "$T/vendors" || not_ok "a daemon starts" "$(cat "$1.log")"
    export SAPHAN_SOCKET=$1/saphan.sock
}
run_daemon "$T/m"
# measure VENDOR [OPTION...] -- TURN [:: CONTROL]: sets $rc; the last line of $T/json is the verdict.
measure() {
    local vendor=$1
    shift
    rm -rf "$W/ws" && mkdir "$W/ws" && owned "$W/ws"
    (cd "$W" && as_user timeout 120 saphan matrix measure --json --vendor "$vendor" --workspace "$W/ws" --read "$T/bin" \
        --artefact artefact.txt --limit wall=3s "$@" </dev/null) >"$T/json" 2>"$T/err"
    rc=$?
}
cell() { jq -es "map(select(.event == \"verdict\"))[0] | $1" "$T/json" >/dev/null; }
verdict() { # NAME RC VERDICT ARM WORDS
    local said
    said=$(jq -rs 'map(select(.event == "verdict"))[0] | "\(.verdict) \(.arm) \(.why)"' "$T/json")
    case "$rc $said" in
    "$2 $3 $4 "*"$5"*) ok "$1" ;;
    *) not_ok "$1" "wanted $2 $3 $4 ...$5
found $rc $said
$(tail -c 3000 "$T/json") $(cat "$T/err")" ;;
    esac
}
box=$T/bin
if ! as_user unshare --user --map-root-user true 2>/dev/null; then
    skip "an invented vendor's own sandbox" "unprivileged user namespaces"
    finish
fi

measure nester -- "$box/nester" --box
verdict "a vendor that works inside: NESTS" 0 NESTS 4 "all arms held"
check "six arms, each with its command, status, times" \
    cell '.arms | length == 6 and all(.[]; .command != "" and .status == 0 and .begun_ms > 0 and .ended_ms >= .begun_ms)'
check "arms 0 to 4 were legs, the control was none" cell '[.arms[].leg > 0] == [true, true, true, true, true, false]'
check "the write outside was refused, and said so" cell '.arms[2].outcome == "held" and (.arms[2].output | length) > 0'
check "the cell names version, hash, kernel, walls, who and what would falsify it" \
    cell '(.vendor_version | test("nester 1.0")) and (.sha256 | length) == 64 and .kernel != "" and
        .platform == "linux" and .distribution != "" and (.boot_id | length) == 36 and .saphan != "" and
        (.walls | test("write-confined=")) and .user != "" and .measured_by != "" and .host != "" and
        (.falsify | test("^saphan matrix measure .*nester")) and .sandbox == "on" and .enclosure != ""'
check "nothing of ours stays in the workspace" sh -c "[ -z \"\$(ls -A '$W/ws')\" ] && [ -z \"\$(ls -d '$W'/saphan-outside* 2>/dev/null)\" ]"
measure loud -- "$box/loud" --box
verdict "a sandbox that fails and says so: COLLIDES, loud" 112 COLLIDES 4 "loud: "
check "with the named call" cell '.why | test("unshare|clone")'
check "it was started all the same, and told why it would not have been" \
    cell '.arms[4].events | test("nested-sandbox-requested")'
measure liar -- "$box/liar" --box
verdict "a sandbox that fails and lies: COLLIDES, SILENT" 112 COLLIDES 4 "SILENT: "
check "it is marked silent" cell '.silent'
check "people read it in capitals" sh -c "saphan matrix show | grep -q 'COLLIDES SILENTLY'"
measure hanger -- "$box/hanger" --box
verdict "a retry loop without an end: HANGS, with its shape" 124 HANGS 4 "a retry loop without an end"
check_not "and its tree is gone" pgrep -f "$box/hanger"
check "meanwhile its arm, elapsed and bound were told" jq -es \
    'map(select(.event == "progress")) | length > 0 and all(.[]; .arm == 4 and .elapsed_ms > 0 and .bound_ms == 3000)' "$T/json"
rm -rf "$W/ws" && mkdir "$W/ws" && owned "$W/ws"
(cd "$W" && as_user script -qefc "saphan matrix measure --vendor hanger --workspace $W/ws --read $T/bin --artefact artefact.txt \
    --limit wall=3s -- $box/hanger --box" /dev/null </dev/null) >"$T/out" 2>&1
check "and at a terminal too" grep -q 'arm 4 (turn): [12] s of at most 3 s' "$T/out"
check "where it says by hand" grep -q 'by hand, at a terminal' "$T/out"
measure spinner -- "$box/spinner" --box
verdict "a loop that asks for nothing: HANGS, spinning" 124 HANGS 4 ": spinning: "
measure waiter -- "$box/waiter" --box
verdict "a wait for what never comes: HANGS, waiting" 124 HANGS 4 ": waiting: "
check_not "and neither is alive" pgrep -f "$box/(spinner|waiter)"
measure breaker -- "$box/breaker" --box
verdict "fails alike with and without: the boundary adds nothing" 113 INDETERMINATE 5 "the boundary adds nothing here"
measure crasher -- "$box/crasher" --box
verdict "a crasher crashes alike" 113 INDETERMINATE 5 "the boundary adds nothing here"
measure loud -- "$box/loud" --no-box :: "$box/loud" --box
verdict "the same vendor with its sandbox off: NESTS" 0 NESTS 4 ""
check "that is a cell of its own" cell '.sandbox == "off"'
measure loud -- "$box/loud" --no-box
verdict "a bypass without a boundary is refused here too" 113 INDETERMINATE 5 "bypass-without-boundary"
check "and was not run" cell '.arms[5].outcome == "refused"'
measure nester --read "$T/nothing" -- "$box/nester" --box
verdict "a baseline that fails says nothing of the vendor" 113 INDETERMINATE 0 "control 0 (echo)"
check "and leaves the rest unrunnable, not failed" cell '[.arms[1:6][].outcome] | all(. == "unrunnable")'

measure proc -- /bin/sh -c "head -c 1000000 /dev/zero | tr '\\0' x; echo done >artefact.txt"
verdict "a turn that writes a megabyte: NESTS" 0 NESTS 4 ""
check "of which the beginning is kept, in each arm alike" cell '.arms[4,5].output | length == 4096'

measure proc --env "KEY=hunter2 of the user" --env=TOKEN=hunter2 -- /bin/sh -c '[ ${#KEY} = 19 ] && [ ${#TOKEN} = 7 ] && echo done >artefact.txt'
verdict "a turn with keys in its environment, here and in the control: NESTS" 0 NESTS 4 ""
check "the cell has their names" cell '.falsify | test("--env KEY --env=TOKEN -- /bin/sh")'
check_not "and nothing of what they are, nor has the ledger" grep -aq hunter2 "$T/json" "$T"/m/state/ledger.db*

# ---- shown ----
check "show has the newest of each, and the blanks" sh -c \
    "saphan matrix show --json | jq -es 'map(select(.vendor == \"hanger\" and .boundary == \"container\"))[0].verdict == \"BLANK\"'"
check "blank is told as nobody looked" sh -c "saphan matrix show | grep -q 'nobody looked'"
check "history has all" sh -c "[ \$(saphan matrix history --json | wc -l) = 14 ]"
check "a cell by its number shows its evidence" sh -c "saphan matrix show 2 | grep -q '^falsify .*saphan matrix measure'"
as_user saphan matrix show 99 >"$T/out" 2>"$T/said"
check "a cell that is none" sh -c "[ $? = 125 ] && grep -q cell-unknown '$T/said'"

# ---- demanded ----
policy "$LEG_USER root" Require-Cell=NESTS >"$T/d.policy"
printf '%s\n' '[allow root]' User=root Boundary=domain View=minimal Net=none 'Vendor=*' Read=/ Write=/ Measure=yes >>"$T/d.policy"
kill "$daemon_pid"; wait "$daemon_pid" 2>/dev/null
cp "$T/d.policy" "$T/m.policy"
run_daemon "$T/m"
turn() { # VENDOR WORD...
    local vendor=$1
    shift
    rm -rf "$W/ws" && mkdir "$W/ws" && owned "$W/ws"
    leg --vendor "$vendor" --workspace "$W/ws" --read "$T/bin" --artefact artefact.txt -- "$box/$vendor" "$@"
}
turn liar --no-box
expect "a vendor that nobody looked at with its sandbox off is refused" 125 REFUSED cell-unmeasured
check "with the command that would measure it" sh -c "jq -r '.reasons[]?.detail' '$T/json' | grep -q 'saphan matrix measure --vendor liar'"
turn hanger --box
expect "what was seen hanging is refused" 125 REFUSED cell-collides
turn loud --no-box
expect "what its last cell says nothing of is refused" 125 REFUSED cell-unmeasured
leg --vendor nester --workspace "$W/ws" --read "$T/bin" --artefact artefact.txt -- "$box/nester"
expect "another state of its sandbox is another cell" 125 REFUSED cell-unmeasured
(cd "$W" && as_user saphan matrix measure --vendor nester --workspace "$W/ws" --artefact a -- "$box/nester") >"$T/out" 2>&1
check "who may not measure is refused" sh -c "[ $? = 125 ] && grep -q measure-not-allowed '$T/out'"

# ---- moved ----
saphan matrix export >"$T/cells" 2>"$T/said"
check "export writes what was ended here" sh -c "[ \$(wc -l <'$T/cells') = 14 ]"
SAPHAN_SOCKET=$T/m/saphan.sock
policy "$LEG_USER root" Measure=yes Require-Cell=NESTS >"$T/n.policy"
run_daemon "$T/n"
sed 's/"verdict":"COLLIDES"/"verdict":"NESTS"/' "$T/cells" >"$T/forged"
as_user saphan matrix import "$T/forged" >"$T/out" 2>&1
check "a changed cell is not taken over" sh -c "[ $? = 125 ] && grep -q 'hash is wrong' '$T/out'"
check "import" as_user saphan matrix import "$T/cells"
check "it bears the host that it came from and its hash" sh -c \
    "saphan matrix show --json | jq -es 'map(select(.origin != \"\")) | length > 0 and all(.[]; (.hash | length) == 64 and (.stale | test(\"never admits\")))'"
turn nester --box
expect "an imported cell admits nobody" 125 REFUSED cell-unmeasured

# ---- killed at any point ----
turns() { # becomes the client: its pid is the job's
    exec setpriv --reuid "$LEG_USER" --regid "$leg_gid" --init-groups -- env HOME="$W" saphan matrix measure --json \
        --vendor nester --workspace "$W/ws" --read "$T/bin" --artefact artefact.txt -- "$T/bin/slow/nester" --box \
        </dev/null >"$T/json" 2>"$T/err"
}
mkdir "$T/bin/slow"
printf '#!/bin/bash\n[ "$1" = --version ] && { echo slow 1; exit; }\nsleep 30\n' >"$T/bin/slow/nester"
chmod -R a+rx "$T/bin/slow"
for point in 0 20 40 60 80 100 150 250; do
    rm -rf "$W/ws" && mkdir "$W/ws" && owned "$W/ws"
    turns &
    sleep "0.$(printf %03d "$point")"
    kill -KILL $! && wait $! 2>/dev/null
done
check "a killed client leaves cells that say where they were" sh -c \
    "saphan matrix history --json | jq -es 'map(select(.origin == \"\")) | length > 0 and all(.[]; .verdict == \"INDETERMINATE\" and (.why | test(\"interrupted in arm|never begun\")))'"
rm -rf "$W/ws" && mkdir "$W/ws" && owned "$W/ws"
turns &
await 20 grep -q '"arm":4' "$T/json"
client=$!
kill -KILL "$daemon_pid"; wait "$daemon_pid" 2>/dev/null; wait "$client" 2>/dev/null
run_daemon "$T/n"
check "a killed saphand too" sh -c \
    "saphan matrix history --json | jq -es 'last | .verdict == \"INDETERMINATE\" and .ended_ms == 0 and (.why | test(\"interrupted in arm 4\"))'"
check_not "and no leg of it is alive" pgrep -f "$T/bin/slow/nester"

# ---- the report ----
check "a page" saphan matrix report --html "$T/page.html"
check "nothing is fetched, nothing is run" sh -c "! grep -qiE '<script|<link|<img|src=|url\(|https?://' '$T/page.html'"
check "it has blanks, evidence, the machine, limits" sh -c \
    "grep -q 'nobody looked' '$T/page.html' && grep -q 'Cell ' '$T/page.html' && grep -q landlock '$T/page.html' && grep -q 'cannot say' '$T/page.html'"
check "markdown" saphan matrix report --markdown "$T/page.md"
check "with a row for each" sh -c "grep -q '^| nester ' '$T/page.md'"

# ---- many: more than one answer holds (tests/bench/matrix.py has the figures) ----
before=$(saphan matrix history --json | wc -l)
sqlite3 -cmd '.timeout 10000' "$T/n/state/ledger.db" "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
    INSERT INTO cell (uid, verdict, newest, begun_ms, ended_ms, vendor, vendor_version, boundary, sandbox, why)
    SELECT 0, 1, i > 15000, 1, 1, 'many', 'v' || i, 'domain', 'off', printf('%0400d', i) FROM n"
check "history has all of a large ledger, once each, in order" sh -c \
    "saphan matrix history --json | jq -es 'map(.cell) | length == $((before + 20000)) and . == (sort | unique)'"
check "show has the newest of each" sh -c \
    "saphan matrix show --json --vendor many | jq -es 'map(select(.cell > 0)) | length == 5000 and all(.[]; .newest)'"
check "all but the newest version are stale" sh -c \
    "saphan matrix show --json --vendor many | jq -es 'map(select(.cell > 0 and .stale == \"\")) | length == 1 and .[0].vendor_version == \"v20000\"'"
finish
