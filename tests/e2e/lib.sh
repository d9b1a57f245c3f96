# lib.sh - what every e2e script sources first: TAP, folders, legs, daemons of one's own.
#
# A script that is started by itself starts again beside tests/with-saphand: as root, with a policy
# that lets root and $LEG_USER in.  Legs are asked for by $LEG_USER, an ordinary account of the system.
# shellcheck shell=bash
set -u
TESTS=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
export PYTHONDONTWRITEBYTECODE=1 LC_ALL=C.UTF-8
LEG_USER=${SAPHAN_TEST_USER:-games}
OTHER_USER=man
if [ -z "${SAPHAN_DAEMON_PID:-}" ]; then
    export SAPHAN_ALLOW=${SAPHAN_ALLOW-$LEG_USER}
    exec "$TESTS/with-saphand" --as root "$(readlink -f "$0")" "$@"
fi
: "${SAPHAN_BUILD:?}"
leg_uid=$(id -u "$LEG_USER") leg_gid=$(id -g "$LEG_USER")

# ---- folders and the end ----
T=$(mktemp -d "${E2E_BASE:-/tmp}/saphan-e2e.XXXXXX")
chmod 755 "$T"
W=$T/work # the user's own
mkdir "$W" && chown "$leg_uid:$leg_gid" "$W"
_end() {
    local pid
    trap '' TERM INT # whoever stops a test may say so twice
    for pid in $(jobs -rp); do kill -KILL "$pid" 2>/dev/null; done
    wait 2>/dev/null
    awk -v t="$T" 'index($5, t) == 1 { print $5 }' /proc/self/mountinfo | sort -r |
        while read -r mount; do umount -l "$mount"; done
    rm -rf "$T"
}
trap _end EXIT
trap 'exit 143' TERM
trap 'exit 130' INT

# ---- TAP ----
tests_run=0
ok() {
    tests_run=$((tests_run + 1))
    echo "ok $tests_run - $1"
}
not_ok() { # NAME [WHAT IS KNOWN]
    tests_run=$((tests_run + 1))
    [ $# -lt 2 ] || printf '%s\n' "$2" | sed 's/^/# /'
    echo "not ok $tests_run - $1"
}
skip() { # NAME MISSING-FEATURE
    tests_run=$((tests_run + 1))
    echo "ok $tests_run - $1 # skip $2"
}
# check NAME COMMAND...: the command's success is the test.
check() {
    local name=$1 said
    shift
    if said=$("$@" 2>&1); then ok "$name"; else not_ok "$name" "status $? of: $*
$said"; fi
}
check_not() {
    local name=$1 said
    shift
    if said=$("$@" 2>&1); then not_ok "$name" "succeeded: $*
$said"; else ok "$name"; fi
}
equal() { # NAME WANTED FOUND
    if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1" "wanted: $2
found:  $3"; fi
}
finish() {
    echo "1..$tests_run"
    exit 0
}

# ---- legs ----
as_user() { as "$LEG_USER" "$@"; }
as() { # USER COMMAND...
    local user=$1
    shift
    setpriv --reuid "$user" --regid "$(id -g "$user")" --init-groups -- \
        env HOME="$W" USER="$user" LOGNAME="$user" "$@"
}
# leg [OPTION...] -- COMMAND...: `saphan run --json` as $LEG_USER, from $W, sets $rc.  The events are in
# $T/json, the program's own output in $T/out and $T/err (behind it, what the client itself says).
leg() {
    (cd "$W" && as_user timeout -k 5 "${LEG_SECONDS:-60}" saphan run --json "$@" </dev/null) >"$T/json" 2>"$T/client"
    rc=$?
    _written stdout >"$T/out"
    { _written stderr; cat "$T/client"; } >"$T/err"
}
_written() {
    jq -j --arg stream "$1" 'select(.event == "output" and .stream == $stream)
        | if .encoding == "base64" then .data | @base64d else .data end' "$T/json" 2>/dev/null
}
told() { # everything about the last leg, for a failing test
    echo "rc=$rc"
    head -c 6000 "$T/json"
    head -c 2000 "$T/client"
}
# The last leg's colour and reasons, as slugs with commas.  What the client itself refuses to ask for has
# the step as its reason.
_judged='map(select(.event == "verdict" or .event == "refused" or .event == "failed")) | last
    | if .event == "failed" then .reasons = [{reason: .step}] else . end'
colour() { jq -rs "$_judged | if . == null then \"none\" else .colour // \"REFUSED\" end" "$T/json"; }
reasons() { jq -rs "$_judged | (.reasons // []) | map(.reason) | join(\",\")" "$T/json"; }
has_reason() { case ",$(reasons)," in *",$1,"*) ;; *) return 1 ;; esac; }
# expect NAME RC [COLOUR [REASON]]: of the last leg.
expect() {
    local wrong=""
    [ "$rc" = "$2" ] || wrong="status $rc, wanted $2"
    [ -z "${3:-}" ] || [ "$(colour)" = "$3" ] || wrong="$wrong; colour $(colour), wanted $3"
    [ -z "${4:-}" ] || has_reason "$4" || wrong="$wrong; reasons '$(reasons)', wanted $4"
    if [ -z "$wrong" ]; then ok "$1"; else not_ok "$1" "$wrong
$(told)"; fi
}
output() { cat "$T/out"; }
program() { # NAME: a shell script on standard input becomes $W/NAME, the user's
    cat >"$W/$1"
    chmod 755 "$W/$1"
    chown "$leg_uid:$leg_gid" "$W/$1"
}
owned() { chown -hR "$leg_uid:$leg_gid" "$@"; }
tree() { "$TESTS/e2e/tree.py" "$1"; }
# host_image NAME: an image whose programs are the host's, which --read /usr brings along.
host_image() {
    local name root=$T/image-$1
    mkdir -p "$root"/{etc,data,usr}
    for name in bin sbin lib lib64; do ln -s "usr/$name" "$root/$name"; done
    cp /etc/ld.so.cache "$root/etc/"
    printf 'root:x:0:0:root:/root:/bin/sh\nbob:x:1234:77:bob:/data:/bin/sh\n' >"$root/etc/passwd"
    printf 'root:x:0:\nbobs:x:77:\n' >"$root/etc/group"
    timeout 60 saphan image add "$1" "$root" </dev/null
}
await() { # SECONDS COMMAND...: true as soon as the command is
    local deadline=$(($(date +%s%N) + $1 * 1000000000))
    shift
    until "$@" >/dev/null 2>&1; do
        [ "$(date +%s%N)" -lt $deadline ] || return 1
        sleep 0.02
    done
}
# Is there a sleep of SECONDS itself; and is there nothing at all, the client too, whose words end so.
running() { pgrep -f -- "^([^ ]*/)?sleep $1\$" >/dev/null; }
not_running() { ! pgrep -f -- "sleep $1\$" >/dev/null; }

# ---- daemons of a script's own ----
# start_daemon DIR [ARG...]: a further saphand whose private folder is DIR.  Sets $daemon_pid; its log
# is DIR.log.  Use it by SAPHAN_SOCKET=DIR/saphan.sock.
start_daemon() {
    local dir=$1 custody=()
    shift
    mkdir -p "$dir" && chmod 711 "$dir"
    if [ ! -e "$dir.policy" ]; then policy "$LEG_USER root" >"$dir.policy"; fi
    [ "$(stat -c %u "$SAPHAN_BUILD/daemon/saphand")" = 0 ] ||
        custody=(--custodian "$(stat -c %u "$SAPHAN_BUILD/daemon/saphand")")
    : >"$dir.ready"
    "${BEFORE_DAEMON[@]}" "$SAPHAN_BUILD/daemon/saphand" --private "$dir" --policy "$dir.policy" \
        --libexec "$SAPHAN_BUILD/daemon" --vendors "$SAPHAN_BUILD/policy/vendors" --ready-fd 8 \
        "${custody[@]}" "$@" 8>"$dir.ready" >>"$dir.log" 2>&1 </dev/null &
    daemon_pid=$!
    await 60 _ready_or_gone "$dir" "$daemon_pid"
    [ -s "$dir.ready" ] || return 1
    chmod 666 "$dir/saphan.sock"
}
_ready_or_gone() { [ -s "$1.ready" ] || ! kill -0 "$2" 2>/dev/null; }
BEFORE_DAEMON=(env -i PATH="$PATH" ${ASAN_OPTIONS:+ASAN_OPTIONS="$ASAN_OPTIONS"} ${UBSAN_OPTIONS:+UBSAN_OPTIONS="$UBSAN_OPTIONS"})
policy() { # USERS [LINE...]: a policy that lets them do everything, with further lines
    local users=$1
    shift
    printf '%s\n' '[allow test]' "User=$users" Boundary=domain 'View=minimal host' 'Net=none host' \
        'Vendor=*' Read=/ Write=/ "$@"
}
# invented_vendor NAME: in $T/vendors, for --vendors of a daemon: the program NAME, with --box and --no-box for
# its own sandbox.
invented_vendor() {
    mkdir -p "$T/vendors" && chmod 755 "$T/vendors"
    cat >"$T/vendors/$1.vendor" <<VENDOR
[vendor]
Name=$1
Program=$1
Version=--version
Sandbox=off
Bypass=--no-box
Remedy=--no-box
Package=yes

[switch no-box]
Flag=--no-box
Off=true

[switch box]
Flag=--box
On=true
VENDOR
}
daemon_cgroup() { # of PID: the folder that its legs are in
    local mount path
    mount=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)
    path=$(sed -n 's/^0:://p' "/proc/$1/cgroup")
    find "$mount/${path%%/saphan-*}" -maxdepth 2 -type d -name "saphan-$1" 2>/dev/null | head -n 1
}
