#!/bin/bash
# Calls that build a sandbox inside a leg: told with what, who and through whom; a flood of them; and a
# leg whose watcher dies.  Each beside a control outside, where the same call goes through.
. "$(dirname "$(readlink -f "$0")")/lib.sh"
detail() { jq -r 'select(.event == "denied") | .detail' "$T/json" | tail -n 1; }
count() { jq -r 'select(.event == "denied") | .count' "$T/json" | tail -n 1; }
subject() { jq -r 'select(.event == "denied") | .subject' "$T/json" | tail -n 1; }
check "control: outside unshare goes through" as_user unshare -rn /bin/true
leg -- /bin/sh -c 'sh -c "unshare -rn /bin/true; :"; :'
equal "the call is named" unshare "$(subject)"
check "its flags are decoded" grep -q 'flags=0x50000000=CLONE_NEWUSER|CLONE_NEWNET ' <(detail)
check "with comm, exe and the pid inside" grep -qE ' comm=unshare exe=/usr/bin/unshare pid=[0-9]+ ' <(detail)
check "and the chain up to the first program" grep -qE ' chain=unshare\([0-9]+\) sh\([0-9]+\) sh\(2\)$' <(detail)
leg -- /usr/bin/python3 -c 'import ctypes
c = ctypes.CDLL(None)
c.prctl(15, b"a exe=/x pid=9")
c.unshare(0x10000000)'
check "a program cannot be called more than a name" \
    grep -qE ' comm=a\\x20exe=/x\\x20pid=9 exe=/usr/bin/python3[.0-9]* pid=2 chain=a\\x20exe=/x\\x20pid=9\(2\)$' <(detail)
leg -- /usr/bin/python3 -c 'import ctypes; ctypes.CDLL(None).mount(b"a", b"/tmp", b"tmpfs", 6, 0)'
check "mount's flags are decoded" grep -q 'flags=0x6=MS_NOSUID|MS_NODEV ' <(detail)
flags_of() { jq -r --arg call "$1" 'select(.event == "denied" and .subject == $call) | .detail' "$T/json" | sed 's/ .*//'; }
leg -- /usr/bin/python3 -c 'import ctypes
c = ctypes.CDLL(None)
c.syscall(428, -100, b"/", 0x9001)
c.syscall(429, -100, b"/", -100, b"/tmp", 0x44)
c.syscall(430, b"tmpfs", 1)
c.syscall(432, 3, 1, 0)
c.syscall(433, -100, b"/", 0xb)
c.syscall(442, -100, b"/", 0x8100, 0, 0)
c.syscall(467, -100, b"/", 0x1, 0, 0)
c.syscall(444, 0, 0, 1)
c.syscall(446, 3, 0x12)'
equal "open_tree's flags are decoded" 'flags=0x9001=OPEN_TREE_CLONE|AT_EMPTY_PATH|AT_RECURSIVE' "$(flags_of open_tree)"
equal "move_mount's" 'flags=0x44=MOVE_MOUNT_F_EMPTY_PATH|MOVE_MOUNT_T_EMPTY_PATH' "$(flags_of move_mount)"
equal "fsopen's" 'flags=0x1=FSOPEN_CLOEXEC' "$(flags_of fsopen)"
equal "fsmount's" 'flags=0x1=FSMOUNT_CLOEXEC' "$(flags_of fsmount)"
equal "fspick's" 'flags=0xb=FSPICK_CLOEXEC|FSPICK_SYMLINK_NOFOLLOW|FSPICK_EMPTY_PATH' "$(flags_of fspick)"
equal "mount_setattr's" 'flags=0x8100=AT_RECURSIVE|AT_SYMLINK_NOFOLLOW' "$(flags_of mount_setattr)"
equal "open_tree_attr's" 'flags=0x1=OPEN_TREE_CLONE' "$(flags_of open_tree_attr)"
equal "landlock_create_ruleset's" 'flags=0x1=LANDLOCK_CREATE_RULESET_VERSION' "$(flags_of landlock_create_ruleset)"
equal "landlock_restrict_self's, with a bit that has no name" \
    'flags=0x12=LANDLOCK_RESTRICT_SELF_LOG_NEW_EXEC_ON|0x10' "$(flags_of landlock_restrict_self)"

# ---- calls that are refused because they are dangerous: told in the same shape, and nothing is RED ----
leg -- /usr/bin/python3 -c 'import ctypes, socket
c = ctypes.CDLL(None)
c.syscall(321, 0, 0, 0)
try: socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
except PermissionError as error: print(error.errno)'
expect "dangerous calls turn nothing RED" 0 GREEN
equal "they fail with EPERM" 1 "$(output)"
equal "each is told" "bpf socket" "$(jq -r 'select(.event == "denied") | .subject' "$T/json" | sort | tr '\n' ' ' | sed 's/ $//')"
check "with who, in the same shape" grep -qE '^seccomp argument=0x11 comm=python3 exe=/usr/bin/python3[.0-9]* pid=[0-9]+ chain=python3' <(detail)
leg -- /usr/bin/python3 -c 'import ctypes
c = ctypes.CDLL(None)
for i in range(40): c.socket(17 if i % 2 else 5, 3, 0), c.syscall(321, i), c.socket(20 + i, 1, 0)
c.unshare(0x10000000)'
expect "many of them hide no call that builds a sandbox" 112 RED nested-sandbox

# ---- a flood ----
if command -v cc >/dev/null; then
    cat >"$T/flood.c" <<'C'
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
int main(void)
{
    unsigned int refused = 0;
    for (int i = 0; i < 100000; i++)
        refused += unshare(CLONE_NEWUSER) != 0;
    printf("%u\n", refused);
    return 0;
}
C
    cc -O1 -o "$W/flood" "$T/flood.c" && owned "$W/flood"
    once() { local begin=$(date +%s%N); as_user saphan run -- /bin/true >/dev/null 2>&1; echo $((($(date +%s%N) - begin) / 1000)); }
    quiet=$(for _ in 1 2 3 4 5; do once; done | sort -n | sed -n 3p)
    (cd "$W" && as_user saphan run --json --read "$W" -- "$W/flood") >"$T/json" 2>&1 </dev/null &
    flood=$!
    await 10 grep -q '"denied"' "$T/json"
    beside=$(for _ in 1 2 3 4 5; do once; done | sort -n | sed -n 3p)
    still=no
    grep -q '"verdict"' "$T/json" || still=yes
    wait "$flood"
    rc=$?
    echo "# a leg of /bin/true: $quiet us, beside the flood $beside us (flood still on: $still)"
    equal "each of 100,000 calls is refused" 100000 "$(_written stdout)"
    equal "and counted" 100000 "$(count)"
    check "in few events" [ "$(grep -c '"denied"' "$T/json")" -le 8 ]
    check "first and last are told" \
        jq -es 'map(select(.event == "denied")) | last | .last_ms > .first_ms and .first_ms > 0' "$T/json"
    check "the daemon answers" saphan status
    expect "the leg is RED whatever it exits with" 112 RED nested-sandbox
else
    skip "a flood of 100,000" cc
fi

# ---- the watcher dies ----
nap=$((900000 + $$)) # nobody else sleeps so long
(cd "$W" && as_user saphan run --json -- /bin/sh -c "exec sleep $nap") >"$T/json" 2>&1 </dev/null &
client=$!
check "control: a leg runs" await 10 running $nap
inside=$(pgrep -x -f "(/bin/)?sleep $nap" | head -n 1)
kill -KILL "$(awk '/^PPid:/ { print $2 }' "/proc/$inside/status")"
check "a leg whose watcher died is killed" await 2 not_running $nap
wait "$client"
rc=$?
check "and is not GREEN" [ "$(colour)" != GREEN ]
check "nor 0" [ "$rc" != 0 ]
finish
