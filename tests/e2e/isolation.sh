#!/bin/bash
# What a leg can see and reach of the host, each beside a control on the host where the same act works.
. "$(dirname "$(readlink -f "$0")")/lib.sh"
secret=secret-$RANDOM$RANDOM$RANDOM
export SAPHAN_E2E_SECRET=$secret

program look <<'SH'
#!/bin/bash
for file in /proc/*/environ /proc/*/task/*/environ /proc/*/cmdline; do
    cat "$file" 2>/dev/null </dev/null | tr '\0' '\n'
done
ls -l /proc/[0-9]*/fd 2>/dev/null
SH
leg --read "$W" -- "$W/look"
check_not "the client's environment is found nowhere" grep -qa "$secret" "$T/out"
check "control: the same search finds it outside" bash -c "env SAPHAN_E2E_SECRET=$secret $W/look | grep -qa $secret"
leg --env SAPHAN_E2E_SECRET --read "$W" -- "$W/look"
check "control: and inside, when --env passes it" grep -qa "$secret" "$T/out"

BEFORE_DAEMON=("${BEFORE_DAEMON[@]}" DAEMON_SECRET="$secret-daemon")
if start_daemon "$T/own"; then
    ok "a daemon with a secret in its environment"
    (export SAPHAN_SOCKET=$T/own/saphan.sock; leg --read "$W" -- "$W/look")
    check_not "a secret of the daemon's environment is found nowhere" grep -qa "$secret-daemon" "$T/out"
    kill "$daemon_pid"
else
    not_ok "a daemon with a secret in its environment" "$(tail -5 "$T/own.log")"
fi

leg -- /bin/ls /proc/self/fd
equal "only 0, 1, 2 are inherited (3 is ls's own)" "0 1 2 3 " "$(output | tr '\n' ' ')"
leg -- /usr/bin/cut -z -d= -f1 /proc/self/environ
equal "the environment is the documented few" \
    "HOME LANG LOGNAME PATH SAPHAN_LEG SHELL TERM TMPDIR USER " "$(tr '\0' '\n' <"$T/out" | sort | tr '\n' ' ')"
leg -- /bin/sh -c 'grep -E "^(Cap(Inh|Prm|Eff|Bnd|Amb)|NoNewPrivs|Seccomp):" /proc/self/status | tr -s "\t\n" " "'
equal "no capability in any set, no_new_privs, a seccomp filter" \
    "CapInh: 0000000000000000 CapPrm: 0000000000000000 CapEff: 0000000000000000 CapBnd: 0000000000000000 CapAmb: 0000000000000000 NoNewPrivs: 1 Seccomp: 2 " "$(output)"
leg -- /usr/bin/id -u
equal "the leg's uid is the requester's" "$leg_uid" "$(output)"
leg -- /usr/bin/id -G
equal "and so are its groups" "$(id -G "$LEG_USER")" "$(output)"
leg -- /bin/sh -c 'readlink /proc/1/exe; cat /proc/1/environ; ls -l /proc/1/fd' 
check_not "pid 1 shows neither program nor descriptors" grep -qaE 'saphan|socket|->' "$T/out"
leg -- /bin/sh -c 'tr "\0" " " </proc/1/cmdline'
check_not "nor anything of ours in its arguments" grep -qaE '/|--' "$T/out"
leg -- /bin/sh -c 'kill -0 1 && echo signalled; kill -KILL 1; ls -d /proc/1 && echo there'
check "pid 1 survives the leg's KILL" grep -qa there "$T/out"
leg -- /bin/sh -c 'ls -d /proc/[0-9]* | wc -l'
check "no process of the host is seen" [ "$(output)" -lt 8 ]
check_not "nor can it be signalled" as_user saphan run -- /bin/sh -c "kill -0 $$"

for path in /root /var /srv /boot /run/saphan "$SAPHAN_PRIVATE" "$TESTS" /sys/kernel /tmp/saphan-e2e; do
    leg -- /bin/ls "$path"
    check_not "$path is not in the minimal view" [ "$rc" = 0 ]
done
leg -- /bin/sh -c 'cat /etc/shadow /etc/gshadow /etc/ssh/ssh_host_*_key'
equal "secrets in /etc are masked" "" "$(output)"
leg -- /bin/ls -A /home
check "/home holds nothing but the leg's own" bash -c "[ '$(output)' = leg ] || [ '$(output)' = '' ]"
for path in /etc/x /usr/x /x /proc/x /dev/x /sys/x "$W/x"; do
    leg -- /bin/sh -c "echo x >$path"
    check_not "a write to $path is refused" [ "$rc" = 0 ]
    check_not "and $path is not on the host" [ -e "$path" ]
done
leg --read "$W" -- /bin/sh -c "echo x >$W/x"
check_not "a read grant cannot be written" [ "$rc" = 0 ]
leg --write "$W" -- /bin/sh -c "echo x >$W/x"
expect "control: a write grant can" 0 GREEN
for path in /tmp/x-$$ /run/x-$$ /dev/shm/x-$$ "\$HOME/x-$$" "\$TMPDIR/y-$$"; do
    leg -- /bin/sh -c "echo x >$path && cat $path"
    expect "$path is the leg's own to write" 0 GREEN
done
check_not "and gone with it" bash -c "ls /tmp/?-$$ /run/x-$$ /dev/shm/x-$$ 2>/dev/null | grep ."
leg -- /bin/bash -c 'echo name >/proc/self/comm && read -r name </proc/self/comm && echo "$name"'
equal "a process may name itself" name "$(output)"
for file in /proc/sys/kernel/hostname /proc/sysrq-trigger /proc/sys/kernel/core_pattern /proc/self/uid_map /proc/self/oom_score_adj_x; do
    leg -- /bin/sh -c "echo x >$file"
    check_not "$file cannot be written" [ "$rc" = 0 ]
done
leg -- /bin/sh -c 'dd if=/dev/kmsg count=1; cat /proc/kcore /proc/kallsyms | head -c 10'
check_not "no kernel memory, no kernel log" grep -qa . "$T/out"
leg -- /bin/sh -c 'for d in null zero full random urandom; do [ -c /dev/$d ] || echo lacks $d; done; echo x >/dev/null; head -c4 /dev/urandom | wc -c; readlink /dev/fd /dev/stdin'
check_not "/dev holds what programs need" grep -qa lacks "$T/out"
leg -- /bin/sh -c 'ls /dev'
check_not "and no disk or terminal of the host" grep -qaE '^(sd|vd|nvme|mem|kmsg|tty[0-9]|console|kvm)' "$T/out"

# ---- sockets ----
serve() { # a listening socket on the host: PATH or @NAME or PORT; answers "reached"
    python3 - "$1" "$T/listening" <<'PY' &
import socket, sys, os
where, ready = sys.argv[1], sys.argv[2]
if where.isdigit():
    server = socket.create_server(("127.0.0.1", int(where)))
else:
    server = socket.socket(socket.AF_UNIX)
    server.bind("\0" + where[1:] if where[0] == "@" else where)
    if where[0] != "@":
        os.chmod(where, 0o777)
    server.listen(8)
open(ready, "w").close()
while True:
    client, _ = server.accept()
    client.sendall(b"reached\n")
    client.close()
PY
    server=$!
    await 10 test -e "$T/listening" && rm -f "$T/listening"
}
cat >"$W/reach.py" <<'PY'
import socket, sys
where = sys.argv[1]
if where.isdigit():
    client = socket.create_connection(("127.0.0.1", int(where)), 3)
else:
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(3)
    client.connect("\0" + where[1:] if where[0] == "@" else where)
print(client.recv(20).decode())
PY
owned "$W/reach.py"
hidden=$T/outside/door.sock # in no grant
mkdir -m 755 "$T/outside"
for where in "$hidden" "@saphan-e2e-$$" 47123; do
    serve "$where"
    equal "control: $where is reached from outside" reached "$(as_user python3 "$W/reach.py" "$where" 2>&1)"
    for grant in "--read $W" "--write $W" "--view host --read $W"; do
        # shellcheck disable=SC2086
        leg $grant -- /usr/bin/python3 "$W/reach.py" "$where"
        check_not "$where is not reached by a leg with $grant" grep -qa reached "$T/out"
        check "control: the try was made ($grant)" grep -qaE 'Error|refused|denied' "$T/err"
    done
    [ "$where" != 47123 ] || {
        leg --net host --read "$W" -- /usr/bin/python3 "$W/reach.py" "$where"
        check "control: $where is reached with --net host" grep -qa reached "$T/out"
        check "and the verdict does not claim that egress is cut" jq -se 'map(select(.event == "verdict")) | last | .egress_cut == false' "$T/json"
    }
    kill "$server"
    wait "$server" 2>/dev/null
done
# Before Landlock ABI 9 a socket in a granted folder can be reached: the claim says so in so many words.
check "sockets-shut claims nothing of sockets in the grants" bash -c "grep -q 'outside the grants' <<<'$(jq -rs 'map(select(.event == "verdict")) | last | .claims[] | select(.claim == "sockets-shut") | .meaning' "$T/json" | head -n 1)' || jq -se 'map(select(.event == \"verdict\")) | last | .egress_cut == false' '$T/json'"
leg -- /bin/sh -c 'ls /run/dbus /run/systemd /run/user /var/run/docker.sock "$SAPHAN_SOCKET" /run/saphan'
check_not "no socket of the system is in the minimal view" grep -qaE 'sock|bus' "$T/out"
leg --view host -- /bin/sh -c "ls -l $SAPHAN_PRIVATE; cat $SAPHAN_PRIVATE/saphan.sock"
check_not "saphand's own socket is not in the host view" grep -qa '^s.*saphan.sock' "$T/out"
leg --view host -- /bin/cat /var/lib/dpkg/status
check "control: the host view shows other files" grep -qa Package "$T/out"
leg --view host -- /bin/sh -c "echo x >$W/host-view"
check_not "the host view cannot be written" [ "$rc" = 0 ]
leg --view host -- /bin/sh -c 'cat /etc/shadow /etc/gshadow /etc/ssh/ssh_host_*_key'
equal "secrets are masked in the host view" "" "$(output)"

# ---- a sandbox of its own ----
leg -- /usr/bin/unshare -Ur /bin/true
check_not "unshare is refused" [ "$rc" = 0 ]
check "and told by name" bash -c "jq -se 'map(select(.event == \"denied\")) | length > 0' $T/json || grep -qa nested-sandbox $T/json"
if command -v bwrap >/dev/null; then
    leg -- /usr/bin/bwrap --ro-bind / / --unshare-all /bin/true
    check_not "bwrap is refused" [ "$rc" = 0 ]
fi
leg -- /usr/bin/python3 -c '
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
for name, number, args in (("mount", 165, (0, 0, 0, 0, 0)), ("setns", 308, (0, 0)), ("ptrace", 101, (16, 1, 0, 0)),
        ("bpf", 321, (0, 0, 0)), ("keyctl", 250, (0, 0, 0)), ("io_uring_setup", 425, (1, 0)), ("chroot", 161, (0,)),
        ("pivot_root", 155, (0, 0)), ("init_module", 175, (0, 0, 0)), ("kexec_load", 246, (0, 0, 0, 0)), ("userfaultfd", 323, (0,)),
        ("perf_event_open", 298, (0, 0, 0, 0, 0)), ("open_by_handle_at", 304, (0, 0, 0))):
    result = libc.syscall(number, *args)
    print(name, result, errno.errorcode.get(ctypes.get_errno(), "-"))
'
check_not "no call that builds or breaks walls succeeds" grep -qaE ' [0-9]+ ' "$T/out"
check "control: the calls were made" [ "$(output | grep -c -- ' -1 ')" = 13 ]

# What whoever started saphand left open reaches no program of ours, and no leg.
: >"$T/left-open"
start_daemon "$T/own" 9<"$T/left-open" || not_ok "a daemon with a descriptor more starts" "$(cat "$T/own.log")"
holders() { # PID...: which of them, and of what they started, hold it
    local pid
    for pid; do
        find "/proc/$pid/fd" -lname "$T/left-open" 2>/dev/null | grep -q . && readlink "/proc/$pid/exe"
        # shellcheck disable=SC2046
        holders $(pgrep -P "$pid")
    done
}
export SAPHAN_SOCKET=$T/own/saphan.sock
leg -- /bin/sh -c 'ls -l /proc/self/fd; sleep 0.2' &
await 10 pgrep -P "$daemon_pid" saphan-front
equal "only saphand itself holds what was left open" "$SAPHAN_BUILD/daemon/saphand" "$(holders "$daemon_pid")"
wait $!
leg -- /bin/ls -l /proc/self/fd
check_not "and no leg does" grep -q left-open "$T/out"
equal "which has three descriptors, and ls's own" 4 "$(grep -c -- '->' "$T/out")"
finish
