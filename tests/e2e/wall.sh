#!/bin/bash
# wall.sh - the claim egress-cut: every way out is tried in a leg, beside the same tried outside of it.
# shellcheck source-path=SCRIPTDIR source=door_world.bash
. "$(dirname "$0")/door_world.bash"
open_world
ip address add 2606:4700::99/128 dev lo
echo '0 2147483647' >/proc/sys/net/ipv4/ping_group_range 2>/dev/null
# What stands for docker.sock, a bus, a user's systemd, tmux: where such sockets are, open to everybody.
run=$(mktemp -d /run/saphan-wall.XXXXXX) tmp=$(mktemp -d /tmp/saphan-wall.XXXXXX) var=$(mktemp -d /var/tmp/saphan-wall.XXXXXX)
chmod 755 "$run" "$tmp" "$var"
trap 'rm -rf "$run" "$tmp" "$var"; _end' EXIT
cat >"$T/listen.py" <<'PY'
import os, socket, sys, threading
def serve(server):
    server.listen(16)
    while True:
        peer, _ = server.accept(); peer.sendall(b"reached"); peer.close()
for where in sys.argv[1:]:
    server = socket.socket(socket.AF_UNIX)
    server.bind("\0" + where[1:] if where[0] == "@" else where)
    if where[0] != "@": os.chmod(where, 0o666)
    threading.Thread(target=serve, args=(server,)).start()
six = socket.socket(socket.AF_INET6); six.bind(("2606:4700::99", 80)); threading.Thread(target=serve, args=(six,)).start()
PY
python3 "$T/listen.py" @saphan-wall "$run/docker.sock" "$tmp/default" "$var/agent.sock" </dev/null &
await 10 test -S "$var/agent.sock"
cp "$TESTS/e2e/wall.py" "$W/wall.py"
words=("run=$run/docker.sock" "tmp=$tmp/default" "var=$var/agent.sock")
if command -v tmux >/dev/null; then tmux -S "$tmp/tmux" new-session -d sleep 60 2>/dev/null; fi

python3 "$W/wall.py" "${words[@]}" >"$T/outside" 2>&1
in_leg() { # OPTION...: as root, who outside may do all of it
    (cd "$W" && saphan run "$@" --read "$W/wall.py" -- /usr/bin/python3 "$W/wall.py" "${words[@]}" </dev/null) >"$T/inside" 2>"$T/said"
}
judge() { # NAME
    local what answer rest
    while read -r what answer rest; do
        [ "$answer" = yes ] || { echo "# $what outside: $rest: says nothing here"; continue; }
        # What the host's view shows, and no wall of this kernel refuses, is not claimed.
        if [ "$what" = var ] && grep -q "^var yes" "$T/inside"; then
            check_not "$1: a socket that the view shows is reached, and sockets-shut is not claimed" grep -q sockets-shut "$T/said"
            continue
        fi
        if grep -q "^$what no" "$T/inside"; then ok "$1: $what: $(sed -n "s/^$what no //p" "$T/inside")"; else
            not_ok "$1: $what is refused" "outside: $answer; inside: $(grep "^$what" "$T/inside")"
        fi
    done <"$T/outside"
}
check "most of it can be done outside" test "$(grep -c yes "$T/outside")" -ge 10
in_leg; judge "net none"
check "sockets-shut is claimed of the minimal view" grep -q sockets-shut "$T/said"
check "egress-cut too" grep -q egress-cut "$T/said"
in_leg --view host; judge "net none, host view"
in_leg --net door --allow api.example.test; judge "net door"
lesser() { # NET CLAIM TRY...: what can be done outside is refused, and nothing more is claimed
    local net=$1 claim=$2 what
    shift 2
    in_leg --net "$net"
    check "net $net: $claim is claimed" grep -q " $claim" "$T/said"
    check_not "net $net: egress-cut and sockets-shut are not" grep -qE 'egress-cut|sockets-shut' "$T/said"
    check "net $net: its report says that egress is not cut" grep -q 'egress: not cut' "$T/said"
    for what in "$@"; do
        grep -q "^$what yes" "$T/outside" || { echo "# $what outside: no: says nothing here"; continue; }
        check "net $net: $what: $(sed -n "s/^$what //p" "$T/inside")" grep -q "^$what no" "$T/inside"
    done
}
rung() { saphan status | awk -v rung="$1" '$1 == rung { print $2; exit }'; }
if [ "$(rung landlock-net)" = holds ]; then
    lesser landlock-net tcp-cut tcp tcp6 host-loopback bind mptcp smc fastopen vsock packet io_uring
    check "control: what it does not cut, UDP, it does not" grep -q '^udp yes' "$T/inside"
else
    in_leg --net landlock-net
    check "net landlock-net where the rung does not hold: refused by name" grep -q 'REFUSED claim-unbacked' "$T/said"
fi
if [ "$(rung cgroup-bpf)" = holds ]; then
    lesser cgroup-bpf internet-cut tcp tcp6 host-loopback bind mptcp smc fastopen dns udp icmp raw vsock packet io_uring
else
    in_leg --net cgroup-bpf
    check "net cgroup-bpf where the rung does not hold: refused by name" grep -q 'REFUSED claim-unbacked' "$T/said"
fi
in_leg --net host
check "control: net host reaches what this machine reaches" grep -q '^tcp yes' "$T/inside"
check "and its report says so" grep -q 'egress: not cut' "$T/said"
check "net none says that egress is cut" sh -c "saphan run --json -- /bin/true | grep -q '\"egress_cut\":true'"
[ ! -S "$tmp/tmux" ] || tmux -S "$tmp/tmux" kill-server
finish
