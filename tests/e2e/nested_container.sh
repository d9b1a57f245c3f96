#!/bin/bash
# nested_container.sh - Nested=allow in a container: what a sandbox needs is let through, and all else of the
# boundary still refuses, from the leg and from a sandbox of its own; without it, and in a domain, it is refused.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

root=$T/root
mkdir -p "$root"/{bin,etc,data,usr,ro}
cp "$(command -v busybox)" "$root/bin/busybox"
for name in sh ls cat true; do ln -s busybox "$root/bin/$name"; done
ln -s usr/lib "$root/lib" && ln -s usr/lib64 "$root/lib64"
printf 'root:x:0:0:root:/root:/bin/sh\n' >"$root/etc/passwd"
echo image >"$root/data/file"
mkdir "$W/ro" && echo mine >"$W/ro/file" && owned "$W/ro"
cp "$TESTS/e2e/nestedinside.py" "$T/nestedinside.py"
for name in nested plain; do
    extra=()
    [ "$name" = plain ] || extra=(Nested=allow 'Capabilities=CAP_CHOWN CAP_DAC_OVERRIDE CAP_FOWNER CAP_FSETID CAP_NET_BIND_SERVICE')
    policy "$LEG_USER root" Boundary=container 'Image=*' Image-Add=yes "${extra[@]}" >"$T/$name.policy"
    start_daemon "$T/$name" || not_ok "a daemon starts" "$(cat "$T/$name.log")"
    check "the image is added ($name)" env SAPHAN_SOCKET="$T/$name/saphan.sock" timeout 60 saphan image add small "$root"
done
sleep 1000 & canary=$!
inside() { # USER [OPTION...]: the attempts, in $T/out
    leg --boundary container --image small --user "$@" --read /usr:/usr --read "$W/ro:/ro" --read "$T/nestedinside.py:/try.py" \
        --limit tasks=200,wall=60s -- /usr/bin/python3 /try.py "$canary"
}
said() { awk -v name="$1" '$1 == name { $1 = ""; print substr($0, 2) }' "$T/out"; }
is() { # NAME RESULT|RESULT...
    case "|$2|" in *"|$(said "$1")|"*) ok "$user: $1: $(said "$1")" ;; *) not_ok "$user: $1" "wanted $2
found $(said "$1")" ;; esac
}

export SAPHAN_SOCKET=$T/nested/saphan.sock
capabilities=()
for name in CHOWN DAC_OVERRIDE FOWNER FSETID NET_BIND_SERVICE; do capabilities+=(--capability "CAP_$name"); done
for user in 0:0 1000:1000 0:0+capabilities 1000:1000+capabilities; do
    case $user in
    *+capabilities) inside "${user%+*}" "${capabilities[@]}" ;;
    *) inside "$user" ;;
    esac
    expect "$user: the attempts ran to their end" 0 GREEN
    # What a sandbox needs (the control: the same calls with a right to them).
    is landlock ok
    ats=("")
    if [ "${user%+*}" = 0:0 ]; then # the kernel lets nobody without CAP_SETFCAP map root of the namespace above
        is userns EPERM
    else
        ats+=(nested.)
        for name in userns proc-in-pid-namespace nested.own-tmpfs nested.own-write nested.own-bind; do is "$name" ok; done
    fi
    for at in "${ats[@]}"; do
        is "${at}write-root" "EROFS|EACCES"
        is "${at}write-image" "EROFS|EACCES"
        is "${at}write-read-grant" "EROFS|EACCES"
        is "${at}write-sysctl" "EACCES|EPERM|EROFS"
        is "${at}write-sysrq" "EACCES|EPERM|EROFS|ENOENT"
        is "${at}read-kcore" "EACCES|EPERM|ENOENT"
        is "${at}read-kmsg" "EACCES|EPERM|ENOENT"
        is "${at}pid1-root" "EACCES|EPERM"
        is "${at}pid1-mem" "EACCES|EPERM"
        is "${at}kill-pid1" EPERM
        is "${at}trace-pid1" EPERM
        is "${at}kill-outside" ESRCH
        for kind in user mnt pid net ipc uts cgroup; do is "${at}setns-$kind" "EACCES|EPERM"; done
        is "${at}device-node" EPERM
        is "${at}null-node" EPERM
        case $at$user in # to an id of its own range
        *+capabilities) is "${at}chown-outside" "ok|EPERM|EINVAL" ;;
        *) is "${at}chown-outside" "EPERM|EINVAL" ;;
        esac
        for name in bpf keyctl io_uring perf userfaultfd open-by-handle module; do is "$at$name" EPERM; done
        for name in packet-socket vsock netlink-audit; do is "$at$name" "EPERM|EAFNOSUPPORT"; done
        is "${at}egress" "ENETUNREACH|EHOSTUNREACH|EADDRNOTAVAIL"
    done
    is map-foreign-ids EPERM
    [ "${user%+*}" != 0:0 ] || continue
    is nested.bind-stays-read-only EROFS
    for name in bind-remount root-remount grant-remount dev-remount; do is "nested.$name" EPERM; done
    for name in umount-grant umount-proc umount-root; do is "nested.$name" "EINVAL|EPERM|EBUSY"; done
    for name in ext4 debugfs tracefs securityfs configfs devtmpfs; do is "nested.mount-$name" "EPERM|ENODEV|ENOTBLK|EINVAL|ENOENT"; done
    [ -z "$(said nested.cgroup-kill)" ] || { is nested.cgroup-kill "EACCES|EPERM"; is nested.cgroup-make "EACCES|EPERM"; }
    is nested.crowd "EAGAIN at many"
done
check "the canary outside lives" kill -0 "$canary"
leg --boundary container --image small --read /usr:/usr -- cat /data/file
equal "the image is as it was" image "$(output)"

export SAPHAN_SOCKET=$T/plain/saphan.sock user=0:0
inside 0:0
expect "without Nested=allow it is RED" 112 RED nested-sandbox
is userns EPERM
is landlock EPERM
export SAPHAN_SOCKET=$T/nested/saphan.sock
leg -- unshare -U true
check "and in a domain of the same policy" has_reason nested-sandbox
finish
