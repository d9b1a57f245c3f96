#!/bin/bash
# run.sh - a Debian root with a booted systemd, saphan installed in it as a package would be: the unit
# starts and says so, the socket activates it, its group decides who may ask, a stop leaves nothing.
set -uo pipefail
here=$(dirname "$(readlink -f "$0")")
top=$(dirname "$(dirname "$here")")
build=$(readlink -f "${SAPHAN_BUILD:-$top/build}")
work=$build/service
root=$work/root
mkdir -p "$work"

n=0
ok() { n=$((n + 1)); echo "ok $n - $1"; }
not_ok() {
    n=$((n + 1))
    [ $# -lt 2 ] || printf '%s\n' "$2" | tail -n 40 | sed 's/^/# /'
    echo "not ok $n - $1"
}
check() {
    local name=$1 said
    shift
    if said=$("$@" 2>&1); then ok "$name"; else not_ok "$name" "status $?: $*
$said"; fi
}
check_not() {
    local name=$1 said
    shift
    if said=$("$@" 2>&1); then not_ok "$name" "$said"; else ok "$name"; fi
}
finish() {
    echo "1..$n"
    exit 0
}

# ---- the root ----
# The base is made once and kept; each run works on a copy, with the build installed into it.
base=$work/base
packages=systemd,systemd-sysv,dbus,libevent-core-2.1-7,libevent-2.1-7,libprotobuf-c1,libsystemd0,libsqlite3-0,libjansson4,libinih1,libcap-ng0,libmd0,libarchive13,procps,git
stamp=$base/.packages
if [ "$(cat "$stamp" 2>/dev/null)" != "$packages" ]; then
    rm -rf "$base"
    # The mirror is the one that apt uses here: Debian's own entries alone, whatever else is configured.
    mmdebstrap --quiet --variant=minbase --include="$packages" \
        --setup-hook='mkdir -p "$1/etc/apt"' "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$base" >&2 ||
        { not_ok "mmdebstrap makes a root"; finish; }
    echo "$packages" >"$stamp"
fi
machine=""
stop_machine() {
    [ -z "$machine" ] || { kill -KILL "$machine" 2>/dev/null; wait "$machine" 2>/dev/null; }
    local mount
    awk -v r="$root" 'index($5, r) == 1 { print $5 }' /proc/self/mountinfo | sort -r |
        while read -r mount; do umount -l "$mount"; done
    if [ -n "${cgroup:-}" ] && [ -d "$cgroup" ]; then
        echo 1 >"$cgroup/cgroup.kill" 2>/dev/null
        for _ in $(seq 50); do
            find "$cgroup" -depth -type d -exec rmdir {} \; 2>/dev/null
            [ -d "$cgroup" ] || break
            sleep 0.1
        done
    fi
    rm -rf "$root"
}
trap stop_machine EXIT
trap 'exit 143' TERM INT
rm -rf "$root"
cp -a "$base" "$root"
check "meson install" env DESTDIR="$root" meson install -C "$build" --no-rebuild --quiet
if ldd "$root/usr/sbin/saphand" "$root/usr/bin/saphan" "$root"/usr/libexec/saphan/* 2>/dev/null |
    awk '$2 == "=>" { print $3 }' | sort -u | while read -r library; do
    case $library in *libsaphan*) continue ;; esac
    [ -e "$root$library" ] || [ -e "$root/usr$library" ] || echo "$library"
done | grep .; then not_ok "every library of the programs is in a Debian package that is there"; else
    ok "every library of the programs is in a Debian package that is there"; fi
chroot "$root" systemd-sysusers
chroot "$root" systemd-tmpfiles --create >/dev/null 2>&1
check "sysusers made the group" chroot "$root" getent group saphan
chroot "$root" useradd -m -G saphan member
chroot "$root" useradd -m stranger
mkdir -p "$root/etc/saphan/policy.d"
check "the units verify" chroot "$root" systemd-analyze verify --man=no saphand.service saphand.socket
check "and are enabled" chroot "$root" systemctl enable saphand.socket
check "saphand --check is content with what was installed" unshare --mount bash -c '
    mount -t proc proc "$1/proc" && exec chroot "$1" /usr/sbin/saphand --check' - "$root"

# ---- the machine ----
cat >"$work/boot.sh" <<'SH'
set -e
root=$1
mount --make-rprivate /
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
mount -t tmpfs -o mode=755 tmpfs "$root/run"
mount --bind /dev "$root/dev"
ip link set lo up 2>/dev/null || true
# A process whose root is not its mount namespace's may make no user namespace: so no chroot.
cd "$root"
pivot_root . .
umount -l .
cd /
exec /usr/bin/env -i container=test TERM=dumb PATH=/usr/sbin:/usr/bin /lib/systemd/systemd --log-target=console
SH
mount=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)
own=$(sed -n 's/^0:://p' /proc/self/cgroup)
cgroup=$mount${own%/}/saphan-service-$$
mkdir "$cgroup"
(echo 0 >"$cgroup/cgroup.procs" && exec unshare --pid --fork --kill-child --mount --cgroup --uts --ipc --net \
    bash "$work/boot.sh" "$root") >"$work/console.log" 2>&1 </dev/null &
machine=$!
init=""
for _ in $(seq 100); do
    init=$(pgrep -P "$machine" | head -n 1)
    [ -n "$init" ] && [ "$(cat "/proc/$init/comm" 2>/dev/null)" = systemd ] && break
    sleep 0.1
done
inside() { nsenter -t "$init" -m -p -u -i -n -C -r -w env -i PATH=/usr/sbin:/usr/bin HOME=/root LC_ALL=C.UTF-8 "$@"; }
as_user() { local user=$1; shift; inside setpriv --reuid "$user" --regid "$user" --init-groups env HOME="/home/$user" "$@"; }
for _ in $(seq 300); do
    state=$(inside systemctl is-system-running 2>/dev/null)
    case $state in running | degraded) break ;; esac
    sleep 0.1
done
if [ "$state" = running ]; then ok "systemd runs"; else
    not_ok "systemd runs" "$state $(inside systemctl --failed --no-legend 2>&1) $(tail -n 20 "$work/console.log")"; fi
active() { inside systemctl is-active --quiet "$1"; }
await() { local limit=$(($(date +%s) + $1)); shift; until "$@" >/dev/null 2>&1; do [ "$(date +%s)" -lt $limit ] || return 1; sleep 0.05; done; }

# ---- socket and unit ----
check "the socket listens" active saphand.socket
check_not "and the daemon is not running yet" active saphand.service
owner=$(inside stat -c '%a %U:%G' /run/saphan/saphan.sock)
if [ "$owner" = "660 root:saphan" ]; then ok "the socket is 0660 root:saphan"; else not_ok "the socket is 0660 root:saphan" "$owner"; fi
said=$(as_user member saphan run -- /bin/true 2>&1)
check "a member's leg is the socket's activation, and GREEN" [ $? = 0 ]
[ "${said##*GREEN*}" = "" ] || printf '%s\n' "$said" "$(inside journalctl -u saphand --no-pager -n 20 2>&1)" | sed 's/^/# /'
check "now the daemon runs" active saphand.service
said=$(as_user stranger saphan run -- /bin/true 2>&1)
status=$?
if [ $status = 125 ]; then ok "one who is not in the group is refused: 125"; else not_ok "one who is not in the group is refused: 125" "$status $said"; fi
check "the daemon said READY itself" bash -c "[ \"\$($(declare -f inside); init=$init; inside systemctl show -p StatusText,Type saphand.service --value | head -1)\" = notify ]"
check "it is enclosed by its own cgroup" inside sh -c 'systemctl show -p ControlGroup --value saphand.service | grep -q saphand'

# ---- a workspace, a liar ----
inside sh -c 'install -d -o member -g member /home/member/ws'
check "a leg leaves its artefact" as_user member saphan run --workspace /home/member/ws --artefact made -- /bin/sh -c 'echo done >made'
said=$(as_user member saphan run --workspace /home/member/ws --artefact lie -- /bin/true 2>&1)
check "a liar is RED: 112" [ $? = 112 ]
said=$(as_user member saphan run --write /etc -- /bin/true 2>&1)
check "a grant outside the shipped policy's ceiling is refused: 125" [ $? = 125 ]
check "status is told" as_user member saphan status

# ---- the daemon dies and comes back ----
as_user member saphan run --workspace /home/member/ws -- /bin/sleep 31415 >/dev/null 2>&1 &
client=$!
check "a leg runs" await 10 inside pgrep -f 'sleep 31415'
main=$(inside systemctl show -p MainPID --value saphand.service)
[ "${main:-0}" -gt 1 ] && inside kill -KILL "$main"
wait "$client"
check_not "its client does not say 0" [ $? = 0 ]
check_not "SIGKILL of the daemon ends the leg" inside pgrep -f 'sleep 31415'
check "systemd starts it again" await 15 inside sh -c "systemctl is-active saphand.service && [ \$(systemctl show -p MainPID --value saphand.service) != $main ]"
check "the leg is INDETERMINATE" bash -c "$(declare -f inside as_user); init=$init; as_user member saphan legs --all | grep -q INDETERMINATE"
check "no placeholder is left" inside sh -c '[ "$(ls -A /home/member/ws)" = made ]'
check "and a leg runs again" as_user member saphan run -- /bin/true
check "reload" inside systemctl reload saphand.service
check "and a leg runs after it" as_user member saphan run -- /bin/true

# ---- stop ----
as_user member saphan run --workspace /home/member/ws -- /bin/sh -c 'trap "" TERM; sleep 27182 & sleep 27182' >"$work/stopped.log" 2>&1 &
client=$!
check "a leg runs" await 10 inside pgrep -f 'sleep 27182'
check "systemctl stop" inside systemctl stop saphand.socket saphand.service
wait "$client"
check_not "the leg's client does not say 0" [ $? = 0 ]
check_not "no process of the leg is left" inside pgrep -f 'sleep 27182'
check_not "no process of ours is left" inside pgrep saphan
check_not "no cgroup of ours is left" inside sh -c 'find /sys/fs/cgroup -path "*saphan*" -type d | grep .'
# Where it is mounted (field 5): field 4 of / is where this tree lies, which may well be called so.
check_not "no mount of ours is left" inside grep -E '^([^ ]+ ){4}[^ ]*saphan' /proc/self/mountinfo
check "no placeholder is left" inside sh -c '[ "$(ls -A /home/member/ws)" = made ]'
result=$(inside systemctl show -p Result --value saphand.service)
if [ "$result" = success ]; then ok "and systemd calls it a success"; else not_ok "and systemd calls it a success" "$result $(inside journalctl -u saphand -n 20 --no-pager)"; fi
check "started by itself it says READY" inside systemctl start saphand.service
check "and a leg runs" as_user member saphan run -- /bin/true
finish
