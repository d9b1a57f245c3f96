#!/bin/bash
# images.sh - an image added from a root directory, listed, run in a container, removed.
export SAPHAN_ALLOW="games man"
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

root=$T/root
mkdir -p "$root"/{bin,etc,home,proc,data}
cp "$(command -v busybox)" "$root/bin/busybox"
for name in sh ls cat id touch hostname ps env true mkdir ln rm stat chmod readlink grep; do
    ln -s busybox "$root/bin/$name"
done
printf 'root:x:0:0:root:/root:/bin/sh\nbob:x:1234:77:bob:/home:/bin/sh\nbad:x:-1:0::/:/bin/sh\n' >"$root/etc/passwd"
printf 'root:x:0:\nbobs:x:77:\ncrew:x:88:\n' >"$root/etc/group"
echo kept >"$root/data/file"
owned "$root"
image() { as_user timeout 60 saphan image "$@" </dev/null; }

check "a root directory is added" image add small "$root"
equal "it is listed" small "$(image list --json | jq -r .name)"
equal "its layer is counted" 1 "$(image show --json small | jq .layers)"
equal "others see it where the policy lets them run it" 1 "$(as "$OTHER_USER" saphan image list --json | grep -c small)"
check_not "a name that is taken stays its owner's" as "$OTHER_USER" saphan image add small "$root"

mkdir "$W/out" && owned "$W/out"
here=(--boundary container --image small)
leg "${here[@]}" --write "$W/out:/out" --artefact /out/x -- sh -c 'echo hi >/out/x'
expect "a leg in it leaves its artefact through a grant" 0 GREEN
leg "${here[@]}" --net landlock-net -- true
expect "a wall that a container does not have is refused by its name" 125 REFUSED net-unavailable
equal "as the requester" "$leg_uid:$leg_gid" "$(stat -c %u:%g "$W/out/x")"

leg "${here[@]}" -- sh -c 'id -u; id -g; hostname; ls /'
equal "root by number, a name of its own, the image's files" \
    "0 0 leg- bin data dev etc home proc run sys tmp" \
    "$(output | sed 's/^leg-.*/leg-/' | tr '\n' ' ' | sed 's/ $//')"
leg "${here[@]}" -- sh -c 'touch /new || exit 3'
expect "the root is read-only" 3 RED exit-status
leg "${here[@]}" --writable-root -- sh -c 'touch /new && rm /data/file && ls /new && ! ls /data/file 2>/dev/null'
expect "unless it is asked for writable" 0 GREEN
leg "${here[@]}" -- sh -c 'cat /data/file'
equal "which changes nothing of the image" kept "$(output)"

leg "${here[@]}" --user bob -- sh -c 'id -u; id -g; echo $USER'
equal "a user by its name in the image" "1234 77 bob" "$(output | tr '\n' ' ' | sed 's/ $//')"
leg "${here[@]}" --user 1234:crew -- sh -c 'id -u; id -g'
equal "by number and group" "1234 88" "$(output | tr '\n' ' ' | sed 's/ $//')"
for user in 01 0x1 -1 +1 "1 " " 1" "1:" ":1" 1:0x0 65536 4294967295 nobody-here bad bob: bob:none 65533 "bob;id"; do
    leg "${here[@]}" --user "$user" -- true
    expect "the user '$user' is none" 125 REFUSED user-unknown
done
leg "${here[@]}" --user bob --write "$W/out:/out" --artefact /out/y -- sh -c 'stat -c %u:%g /out; echo hi >/out/y'
expect "whatever the user, a grant is the requester's" 0 GREEN
equal "and looks like the leg's own" 1234:77 "$(output)"
equal "and what is made is the requester's" "$leg_uid" "$(stat -c %u "$W/out/y")"

leg "${here[@]}" -- sh -c 'cat /sys/devices/system/cpu/online /sys/devices/system/cpu/possible; grep Cpus_allowed_list /proc/self/status'
equal "its /sys tells the cpus that it may run on" "1 3" \
    "$(sed 's/.*:[[:space:]]*//' "$T/out" | sort -u | wc -l) $(grep -c . "$T/out")"
leg "${here[@]}" -- sh -c 'ls /sys /sys/fs/cgroup /sys/devices /sys/devices/system /sys/devices/system/cpu'
equal "and nothing else" "/sys/devices/system/cpu: /sys/devices/system: /sys/devices: /sys/fs/cgroup: /sys: cpu devices fs online possible present system" \
    "$(grep . "$T/out" | LC_ALL=C sort | tr '\n' ' ' | sed 's/ $//')"
check "where the host's tells of its devices (control)" test -e /sys/class -a -e /sys/kernel
leg "${here[@]}" -- sh -c 'echo 0 >/sys/devices/system/cpu/online || echo x >/sys/new || mkdir /sys/fs/cgroup/x || chmod 777 /sys || exit 3'
expect "and is read-only, to root too" 3 RED exit-status

leg --boundary container -- true
expect "a container needs an image" 125 REFUSED image-needed
leg --image small -- true
expect "a domain has none" 125 REFUSED image-needed
leg "${here[@]}" --view host -- true
expect "a container has no host view" 125 REFUSED view-unavailable
leg --boundary container --image none-such -- true
expect "an image that is not there" 125 REFUSED image-unknown
for place in / /proc /proc/x /sys/y /dev /dev/shm/z; do
    leg "${here[@]}" --write "$W/out:$place" -- true
    expect "no grant at $place" 125 REFUSED grant-target
done
for transport in ssh://there docker LOCAL tcp://127.0.0.1; do
    leg "${here[@]}" --transport "$transport" -- touch /out/z
    expect "the transport $transport is refused by name" 125 REFUSED transport-unavailable
done
leg "${here[@]}" --transport local -- true
expect "local is this one" 0 GREEN
leg "${here[@]}"
expect "an image without a command runs none" 125 REFUSED image-no-command

check "it is removed" image rm small
equal "and is gone" "" "$(image list --json)"
leg "${here[@]}" -- true
expect "for legs too" 125 REFUSED image-unknown
finish
