#!/bin/sh
# inside.sh BUILD - the core of the e2e tier, in sh alone, on the emulated machine's kernel.
build=$1
export PATH=$build/client:$PATH LD_LIBRARY_PATH=$build/client
kernel=$(uname -r | cut -d. -f1,2)
n=0
ok() { n=$((n + 1)); echo "ok $n - $1"; }
not_ok() { n=$((n + 1)); echo "not ok $n - $1"; }
check() { # NAME COMMAND...
    name=$1
    shift
    if "$@" >/tmp/said 2>&1; then ok "$name"; else sed 's/^/# /' /tmp/said; not_ok "$name"; fi
}
check_not() {
    name=$1
    shift
    if "$@" >/tmp/said 2>&1; then sed 's/^/# /' /tmp/said; not_ok "$name"; else ok "$name"; fi
}
policy() { # LINE...
    printf '%s\n' '[allow test]' User=games Boundary=domain 'View=minimal host' 'Net=none host landlock-net cgroup-bpf' 'Vendor=*' \
        Read=/ Write=/ "$@" >/run/test.policy
}
start() { # a daemon whose folder is /run/private; its log is /run/log
    mkdir -p /run/private
    chmod 711 /run/private
    mkfifo /run/ready
    "$build/daemon/saphand" --private /run/private --policy /run/test.policy --libexec "$build/daemon" \
        --ready-fd 8 8>/run/ready 2>>/run/log </dev/null &
    daemon=$!
    read -r said </run/ready
    rm /run/ready
    [ "$said" = ready ] && chmod 666 /run/private/saphan.sock
}
stop() {
    kill "$daemon"
    wait "$daemon"
}
export SAPHAN_SOCKET=/run/private/saphan.sock
mkdir -p /srv/work
chown games:games /srv/work
cd /srv/work || exit 1
# leg ARG...: as games; sets $rc; what was said is in /run/said
leg() {
    su -s /bin/sh games -c 'cd /srv/work && exec "$@"' -- sh timeout 60 "$build/client/saphan" run --json "$@" >/run/said 2>&1 </dev/null
    rc=$?
}
expect() { # NAME STATUS [WORD]
    if [ "$rc" = "$2" ] && { [ -z "${3:-}" ] || grep -q -- "$3" /run/said; }; then ok "$1"; else
        sed 's/^/# /' /run/said | tail -n 20
        echo "# status $rc, wanted $2 and '${3:-}'"
        not_ok "$1"
    fi
}

core() {
    leg -- /bin/true
    expect "a leg is GREEN" 0 GREEN
    leg -- /bin/sh -c 'exit 7'
    expect "its status is the client's" 7 exit-status
    leg --workspace /srv/work --artefact made -- /bin/sh -c 'echo done >made'
    expect "a leg leaves its artefact" 0 GREEN
    rm -f /srv/work/made
    leg --workspace /srv/work --artefact made -- /bin/true
    expect "a liar is RED" 112 artefact-absent
    leg --read /srv/work -- /bin/sh -c 'echo x >/srv/work/x'
    check_not "a write outside the grants is refused" test "$rc" = 0
    leg --write /srv/work -- /bin/sh -c 'echo x >/srv/work/x'
    expect "control: inside them it is not" 0 GREEN
    leg --workspace /srv/work -- /bin/mkdir /srv/work/.git
    check_not "a carve-out cannot come to exist" test "$rc" = 0
    check_not "and nothing of ours stays" test -e /srv/work/.git
    leg -- /bin/cat /etc/shadow
    check_not "secrets are not read" test "$rc" = 0
    leg -- /bin/sh -c 'test "$(ls -d /proc/[0-9]* | wc -l)" -lt 8'
    expect "no process of the host is seen" 0
    leg -- /bin/sh -c 'grep -q "^CapBnd:.0000000000000000$" /proc/self/status && grep -q "^NoNewPrivs:.1" /proc/self/status'
    expect "no capability, no_new_privs" 0
    leg --net host -- /bin/sh -c 'nc 127.0.0.1 9 2>&1 | grep "refused"'
    expect "control: in the host's network a connect goes out" 0 GREEN
    leg --net cgroup-bpf -- /bin/sh -c 'nc 127.0.0.1 9 2>&1 | grep "not permitted"'
    expect "net cgroup-bpf: no socket is made" 0 internet-cut
    leg --net landlock-net -- /bin/sh -c 'nc 127.0.0.1 9 2>&1 | grep "denied"'
    case $kernel in
    6.1) expect "net landlock-net: this kernel's Landlock knows no TCP: refused by name" 125 claim-unbacked ;;
    *) expect "net landlock-net: no TCP connection is made" 0 tcp-cut ;;
    esac
    leg --limit wall=1s -- /bin/sleep 60
    expect "wall time" 124 wall-time
    leg --boundary none -- /bin/true
    expect "no boundary is refused" 125 boundary-none
}

limits() {
    leg --limit memory=48M -- /bin/dd if=/dev/zero of=/dev/null bs=256M count=1
    check_not "memory: the program does not succeed" test "$rc" = 0
    expect "memory: out-of-memory" "$rc" out-of-memory
    check "memory: the kernel's log names the victim" sh -c 'dmesg | grep -i "killed process" | grep -q "(dd)"'
    leg --limit memory=512M -- /bin/dd if=/dev/zero of=/dev/null bs=64M count=1
    expect "control: beneath the limit it runs" 0 GREEN
    leg --limit tasks=16 -- /bin/sh -c 'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do sleep 1 & done; wait'
    expect "tasks: tasks-limit" "$rc" tasks-limit
    leg --limit tasks=64 -- /bin/sh -c 'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do sleep 1 & done; wait'
    expect "control: beneath the limit it runs" 0 GREEN
    leg --limit tasks=1 -- /bin/true
    expect "tasks=1: a program that stays alone" 0 GREEN
    leg --limit tasks=1 -- /bin/sh -c '/bin/true; echo went on'
    expect "tasks=1: one that forks: tasks-limit" "$rc" tasks-limit
    leg --limit memory=1M -- /bin/true
    expect "memory=1M is refused by name" 125 limit-below-least
    leg --limit memory=8M -- /bin/true
    expect "control: memory=8M starts" 0 GREEN
    busy='t=$(($(cut -d. -f1 /proc/uptime) + 4)); n=0; while [ $(cut -d. -f1 /proc/uptime) -lt $t ]; do n=$((n + 1)); done; cat /proc/self/stat >/dev/null; cat /proc/uptime; times'
    leg --limit cpu=20 -- /bin/sh -c "$busy"
    limited=$(grep -o '"cpu_us": *[0-9]*' /run/said | tail -n 1 | grep -o '[0-9]*$')
    leg -- /bin/sh -c "$busy"
    free=$(grep -o '"cpu_us": *[0-9]*' /run/said | tail -n 1 | grep -o '[0-9]*$')
    echo "# cpu time of four seconds: limited ${limited:-?} us, free ${free:-?} us"
    check "cpu: a fifth of a processor is less than half of what it takes freely" \
        test "${limited:-999999999}" -lt $((${free:-0} / 2))
}

policy
if [ "$kernel" = 6.1 ]; then
    # Landlock ABI 2: what a policy demands and the kernel lacks is refused by name.
    policy Require-Rung=landlock-scope
    if start; then
        leg -- /bin/true
        expect "6.1: a demanded rung that is not there is refused by name" 125 landlock-scope
        expect "6.1: and the reason is the demand" 125 rung-demanded
        stop
    else
        sed 's/^/# /' /run/log
        not_ok "6.1: saphand starts"
    fi
    policy
fi
if start; then
    core
    [ "$kernel" = 6.1 ] || limits
    check "orderly stop" stop
else
    sed 's/^/# /' /run/log
    not_ok "saphand starts"
fi
check_not "no cgroup is left" sh -c 'find /sys/fs/cgroup -type d -name "saphan-*" | grep .'
echo "1..$n"
