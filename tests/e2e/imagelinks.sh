#!/bin/bash
# imagelinks.sh - links of an image on the way to a grant's place lead where they would inside; what they
# cannot lead to is refused by name; a link in a grant leads nowhere; the host is as it was.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

root=$T/root victim=$T/victim
mkdir -p "$root"/{bin,etc,data/real,a/b,data/h} "$victim/in" "$W/out"
cp "$(command -v busybox)" "$root/bin/busybox"
for name in sh ls cat stat touch mkdir true readlink grep; do ln -s busybox "$root/bin/$name"; done
printf 'root:x:0:0:root:/root:/bin/sh\nbob:x:1234:77:bob:/home/bob:/bin/sh\n' >"$root/etc/passwd"
echo image >"$root/data/real/file"
mkdir "$root/dev" && ln -s /data/real/file "$root/dev/null" && ln -s /data "$root/dev/shm"
ln -s /data/real "$root/abs"
ln -s ../../../../../../data/real "$root/a/b/up"
ln -s "$victim" "$root/tovictim"
ln -s ../../../../../../../../../.. "$root/a/toroot"
ln -s / "$root/toroot"
for name in proc sys dev; do ln -s /$name "$root/to$name"; done
ln -s proc/self/root "$root/magic"
ln -s /proc/self/fd "$root/fds"
ln -s loop2 "$root/loop1" && ln -s loop1 "$root/loop2"
ln -s itself "$root/itself"
ln -s /nowhere/deep "$root/dangling"
ln -s /etc/passwd "$root/tofile"
ln -s data/h "$root/home"
ln -s abs "$root/l0"
for i in $(seq 45); do ln -s "l$((i - 1))" "$root/l$i"; done
check "the image is added" timeout 60 saphan image add links "$root"
owned "$W/out"
ln -s /data/real "$W/out/link" && chown -h "$leg_uid" "$W/out/link"
before=$(tree "$victim"; ls -A / /etc | sha256sum)
box() { leg --boundary container --image links "$@"; }

# ---- contained ----
lands() { # PLACE WHERE
    box --write "$W/out:$1" -- sh -c "touch '$2/new' && ls '$2'"
    check "a grant at $1 stands at $2" test -e "$W/out/new"
    rm -f "$W/out/new"
}
lands /data/real/x /data/real/x
lands /abs/x /data/real/x
lands /abs /data/real
lands /a/b/up/x /data/real/x
lands /a/b/up /data/real
lands /toroot/data /data
lands /a/toroot/etc /etc
lands /toroot/abs/x /data/real/x
lands /dangling/x /nowhere/deep/x
lands /dangling /nowhere/deep
lands /home/bob /data/h/bob
lands /l30/x /data/real/x
lands /tovictim/in "$victim/in"
lands /tovictim "$victim"
box --write "$W/out:/tovictim/new" -- sh -c 'echo x >/tovictim/new/file'
expect "what the host has by that name is not what is found inside" 0 GREEN
rm -f "$W/out/file"
equal "and not touched" "in" "$(ls "$victim")"
echo mine >"$W/one" && owned "$W/one"
box --read "$W/one:/tofile" -- cat /etc/passwd
equal "a file where a link leads" mine "$(output)"
box --chdir /dangling -- sh -c 'readlink -f .'
equal "and the working directory" /nowhere/deep "$(output)"
box --workspace "$W/out:/abs/w" --artefact /abs/w/done -- sh -c 'mkdir /data/real/w/.git; touch /data/real/w/.codex/x; touch done'
expect "a workspace behind a link: its directory, its artefact" 0 GREEN
equal "and its carve-outs" "done link" "$(ls -A "$W/out" | tr '\n' ' ' | sed 's/ $//')"
rm -f "$W/out/done"

box --writable-root -- sh -c 'echo x >/dev/null; test -c /dev/null && test ! -L /dev/shm && touch /dev/shm/x && cat /data/real/file && ls /data'
equal "/dev/null and /dev/shm as links of the image are ours all the same" "image h real" "$(output | tr '\n' ' ' | sed 's/ $//')"

# ---- refused by name ----
refused() { # NAME ERRNO PLACE [FURTHER-GRANT...]
    local name=$1 error=$2 place=$3
    shift 3
    box --write "$W/out:$place" "$@" -- true
    if [ "$rc" = 125 ] && has_reason build-failed && grep -q "step mounts: [^:]*: $error" "$T/json"; then ok "$name: refused, $error"; else
        not_ok "$name" "wanted $error
$(told)"; fi
}
refused "a loop" ELOOP /loop1/x
refused "a loop's end" ELOOP /loop1
refused "a link to itself" ELOOP /itself
refused "too long a chain" ELOOP /l45/x
for name in proc sys dev; do
    refused "a link to /$name" EXDEV /to$name
    refused "and into it" 'E\(XDEV\|NOENT\|ROFS\)' /to$name/x
done
refused "a link to a directory of /proc" EXDEV /toproc/sys
refused "a link to a process's root" ELOOP /magic/x
refused "a link to its descriptors" ELOOP /fds/x
refused "a link to the root" EXDEV /toroot
refused "many .. to the root" EXDEV /a/toroot
refused "through a file" ENOTDIR /tofile/x
refused "a directory over a file" ENOTDIR /tofile
refused "a link in a grant" ELOOP /g/link/x --write "$W/out:/g"
refused "two grants at one place" EBUSY /abs --read "$victim:/data/real"
refused "a grant that would cover another" EBUSY /abs/x --read "$victim:/data"
box --read "$victim:/abs" --write "$W/out:/data/real/in" -- sh -c 'touch /abs/in/new'
check "one in another, whatever each is called" test -e "$W/out/new"
rm -f "$W/out/new"

equal "the host is as it was" "$before" "$(tree "$victim"; ls -A / /etc | sha256sum)"
box -- sh -c 'cat /data/real/file; ls /nowhere'
equal "and so is the image" image "$(output)"
finish
