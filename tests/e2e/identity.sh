#!/bin/bash
# Who a leg is: the requester's ids and groups, and nobody whom a leg could not be.
. "$(dirname "$(readlink -f "$0")")/lib.sh"
# with_ids UID GID GROUPS -- COMMAND...: a leg asked for under these ids; sets $rc, as leg does.
with_ids() {
    setpriv --reuid "$1" --regid "$2" --groups "$3" -- env HOME="$W" timeout 60 saphan run --json -- "${@:5}" \
        >"$T/json" 2>"$T/client" </dev/null
    rc=$?
    _written stdout >"$T/out"
}
with_ids "$leg_uid" "$leg_gid" "$leg_gid,60000,65535" -- /usr/bin/id -G
expect "control: supplementary groups up to 65535" 0 GREEN
equal "and the leg has them" "$leg_gid 60000 65535" "$(output)"
with_ids "$leg_uid" "$leg_gid" "$leg_gid,65536" -- /usr/bin/id -G
expect "a supplementary group above" 125 REFUSED identity-out-of-range
check "is named" grep -q 'group 65536' "$T/json"
with_ids "$leg_uid" 70000 70000 -- /usr/bin/id -g
expect "a gid above" 125 REFUSED identity-out-of-range
with_ids "$leg_uid" "$leg_gid" "$(seq -s, 1001 1064)" -- /usr/bin/id -G
expect "control: 64 groups" 0 GREEN
with_ids "$leg_uid" "$leg_gid" "$(seq -s, 1001 1065)" -- /usr/bin/id -G
expect "one more" 125 REFUSED identity-out-of-range
check "is said" grep -q '65 groups; at most 64' "$T/json"
policy 70001 >"$T/own.policy"
start_daemon "$T/own" || not_ok "a daemon whose policy names a high uid starts" "$(cat "$T/own.log")"
export SAPHAN_SOCKET=$T/own/saphan.sock
with_ids 70001 "$leg_gid" "$leg_gid" -- /usr/bin/id -u
expect "a uid above" 125 REFUSED identity-out-of-range
policy 65535 >"$T/own2.policy"
start_daemon "$T/own2" || not_ok "a daemon whose policy names a uid of 65535 starts" "$(cat "$T/own2.log")"
export SAPHAN_SOCKET=$T/own2/saphan.sock
with_ids 65535 "$leg_gid" "$leg_gid" -- /usr/bin/id -u
expect "control: the highest uid" 0 GREEN

# Two daemons never give out the same ids, and nobody but root can hold ids.
leg_ids() { # SOCKET: the first id of a leg's range
    (cd "$W" && SAPHAN_SOCKET=$1 saphan run -- /bin/cat /proc/self/uid_map 2>/dev/null </dev/null) | awk '{ print $2 - $2 % 16777216 }'
}
policy "root $LEG_USER" >"$T/two.policy"
(exec setpriv --reuid "$LEG_USER" --regid "$leg_gid" --init-groups python3 -c '
import signal, socket
held = []
for number in range(16):
    held.append(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
    try: held[-1].bind("\0saphan-ids-%d" % number)
    except OSError: pass
print("held", flush=True)
signal.pause()') >"$T/held" &
holding=$!
await 10 test -s "$T/held"
check "a daemon starts whatever names a user holds" start_daemon "$T/two"
kill "$holding"
first=$(leg_ids "$T/two/saphan.sock")
check "its legs have ids ($first)" [ "${first:-0}" -ge 1879048192 ]
policy "root $LEG_USER" >"$T/three.policy"
start_daemon "$T/three" || not_ok "another daemon starts" "$(cat "$T/three.log")"
check_not "and another's have others" [ "$first" = "$(leg_ids "$T/three/saphan.sock")" ]
check_not "a user cannot lock ids" as_user flock --nonblock /run/saphan.ids true

# Nor can a leg of root's: not by writing, and a lock for reading would hold them too.
beside=/run/saphan-e2e-$$ # in /run, as the lock file is, and root's
# shellcheck disable=SC2064
trap "rm -rf $beside; _end" EXIT
mkdir -m 700 "$beside"
: >"$beside/lock"
roots_leg() { # OPTION... -- COMMAND...: of the third daemon, whose own files are not in /run
    (cd / && timeout 60 saphan run --json "$@" </dev/null) >"$T/json" 2>"$T/client"
    rc=$?
}
export SAPHAN_SOCKET=$T/three/saphan.sock
lock=(/usr/bin/flock --nonblock --shared)
roots_leg --write "$beside" -- "${lock[@]}" "$beside/lock" true
expect "control: root's leg locks a file of root's in /run" 0 GREEN
roots_leg --read "$beside" -- "${lock[@]}" "$beside/lock" true
expect "control: one that it may only read as well" 0 GREEN
for grant in /run/saphan.ids /run; do
    roots_leg --write "$grant" -- /bin/true
    expect "but no write grant covers the lock of ids: $grant" 125 REFUSED grant-covers-saphand
done
roots_leg --read "$beside" --read /run/saphan.ids -- "${lock[@]}" /run/saphan.ids true
check_not "and one that it may read cannot be locked" [ "$rc" = 0 ]
check "for it cannot be opened" bash -c "$(declare -f _written); T=$T; _written stderr | grep -q 'run/saphan.ids: Permission denied'"
finish
