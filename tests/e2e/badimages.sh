#!/bin/bash
# badimages.sh - images in layers, good and bad: each bad one is refused with its entry's name, the host is
# as it was, and nothing of it is kept.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

make_image=$TESTS/e2e/make_image.py
root=$T/root
mkdir -p "$root"/{bin,etc,data}
cp "$(command -v busybox)" "$root/bin/busybox"
for name in sh ls cat id stat test echo readlink; do ln -s busybox "$root/bin/$name"; done
printf 'root:x:0:0:root:/root:/bin/sh\nbob:x:1234:77:bob:/data:/bin/sh\n' >"$root/etc/passwd"
printf 'root:x:0:\nbobs:x:77:\n' >"$root/etc/group"
image() { as_user timeout 200 saphan image "$@" </dev/null; }
state=$(dirname "$SAPHAN_SOCKET")/state
store() { find "$state/images" -mindepth 2 | wc -l; }
settle() { # until nothing is left to be emptied
    for _ in $(seq 200); do
        [ -z "$(ls "$state/images/staging" 2>/dev/null)" ] && return 0
        sleep 0.05
    done
    ls "$state/images/staging"
    return 1
}

# ---- a good one ----
"$make_image" good "$T/good" "$root" && owned "$T/good"
check "an image of four layers is added" image add good "$T/good"
here=(--boundary container --image good)
leg "${here[@]}"
expect "its own command" 0 GREEN
equal "runs as it says" "the image says so" "$(output)"
leg "${here[@]}" -- sh -c 'echo $FROM_IMAGE $USER; pwd; id -u; id -g'
equal "its environment, directory and user" "yes bob /data 1234 77" "$(output | tr '\n' ' ' | sed 's/ $//')"
leg "${here[@]}" --env FROM_IMAGE=no --chdir / --user 0 -- sh -c 'echo $FROM_IMAGE; pwd; id -u'
equal "the command line stands above it" "no / 0" "$(output | tr '\n' ' ' | sed 's/ $//')"
leg "${here[@]}" -- sh -c 'test ! -e /data/taken && cat /data/kept /data/hard /data/soft /data/twice /data/replaced'
equal "whiteouts, links, what came later" "kept kept kept second new" "$(output | tr '\n' ' ' | sed 's/ $//')"
leg "${here[@]}" -- sh -c 'ls /hidden'
equal "an opaque directory hides what is below" above "$(output)"
leg "${here[@]}" -- sh -c 'stat -c "%u:%g %a" /data/bobs; cat /data/bobs; stat -c %a /bin/setuid; /bin/setuid'
equal "owners are kept; setuid is kept, and harmless" "1234:77 640 bobs 4755 1234" "$(output | tr '\n' ' ' | sed 's/ $//')"
leg "${here[@]}" -- sh -c 'for d in /proc /sys /dev /run /tmp; do test -d $d && test ! -L $d || echo $d; done; test -e /proc/self/exe && test -c /dev/null && test ! -e /dev/kept && echo contained'
equal "/proc, /dev, /sys and /run as links or files are contained" contained "$(output)"
leg "${here[@]}" -- sh -c 'cat /data/odd*name'
equal "odd names" odd "$(output)"
leg "${here[@]}" --write "$W:/data/soft/x" -- true
expect "no grant behind a link of the image" 125 REFUSED build-failed
check "no file of the store is a user's or root's" test -z "$(find "$state/images/layers" -mindepth 2 \( -uid -65536 -o -gid -65536 \) | head -3)"

# ---- shared, tar, docker-archive ----
before=$(find "$state/images/layers" -mindepth 1 -maxdepth 1 | wc -l)
tar -cf "$T/good.tar" -C "$T/good" . && owned "$T/good.tar"
check "the same as a tar file" image add again "$T/good.tar"
equal "its layers are shared" "$before" "$(find "$state/images/layers" -mindepth 1 -maxdepth 1 | wc -l)"
check "one of the two goes" image rm good
leg --boundary container --image again
expect "and the other still runs" 0 GREEN

"$make_image" tall "$T/tall" "$root" && owned "$T/tall"
check "an image of a hundred layers" image add tall "$T/tall"
leg --boundary container --image tall --user 0 -- sh -c 'ls /data; cat /data/99'
equal "stands whole" "99 99" "$(output | tr '\n' ' ' | sed 's/ $//')"
image rm tall

# ---- bad ones ----
victim=$T/victim
mkdir "$victim" && echo whole >"$victim/file"
tree_before=$(tree "$victim"; ls -la /etc | sha256sum)
settle
nothing=$(store)
bad() { # CASE REASON NAME
    "$make_image" "$1" "$T/$1" "$root" && owned "$T/$1"
    local said rc=0
    said=$(image add bad "$T/$1" 2>&1) || rc=$?
    if [ "$rc" = 125 ] && grep -q "$2" <<<"$said" && grep -qF -- "$3" <<<"$said"; then ok "bad: $1"; else
        not_ok "bad: $1" "rc=$rc, wanted $2 with $3
$said"; fi
    rm -rf "${T:?}/$1"
}
bad through-link image-entry out/evil
bad through-deep-link image-entry a/up/tmp/evil
bad whiteout-through-link image-entry out/.wh.passwd
bad opaque-through-link image-entry out/.wh..wh..opq
bad link-then-directory image-entry out/sub
bad hard-link-up image-entry ../../etc/shadow
bad hard-link-absolute image-entry /etc/shadow
bad hard-link-below image-entry etc/shadow
bad dot-dot image-entry ../evil
bad dot-dot-inside image-entry ../evil
bad absolute image-entry /evil
bad device image-entry null
bad block-device image-entry sda
bad whiteout-of-nothing image-entry .wh.
bad whiteout-of-up image-entry .wh...
bad whiteout-unknown image-entry .wh..wh.aufs
bad owner image-entry 1073741824
bad root-is-a-link image-entry ./
bad wrong-digest image- layer
bad wrong-content image-digest layer
bad truncated image-incomplete layer
bad truncated-size image- layer
bad missing image-incomplete layer
bad foreign image-foreign s390x
bad media-type image-media-type squashfs
bad config-type image-media-type helm
bad not-compressed image-incomplete layer
bad bomb image-too-big zeros
bad too-tall image-too-big '101 layers'
bad too-deep image-too-big 'deeper than 200'
"$make_image" deepest "$T/deepest" "$root" && owned "$T/deepest"
check "one as deep as may be is added" image add deepest "$T/deepest"
check "and removed" image rm deepest
rm -rf "$T/deepest"
echo '{"imageLayoutVersion": "1.0.0"}' >"$T/x" && mkdir "$T/half" && cp "$T/x" "$T/half/oci-layout" && owned "$T/half"
check_not "a layout without an index" image add bad "$T/half"
head -c 100000 /dev/urandom >"$T/noise" && owned "$T/noise"
check_not "noise" image add bad "$T/noise"
mkdir "$T/empty" && owned "$T/empty"
check_not "an empty directory" image add bad "$T/empty"
check_not "a FIFO" sh -c "mkfifo $T/fifo; timeout 5 saphan image add bad $T/fifo"
mkdir -m 700 "$T/closed" && mkdir "$T/closed/bin"
check_not "what the requester may not read" image add bad "$T/closed"
for name in -x .x /x "a b" "a;b" "$(printf 'a\nb')" "" "$(head -c 200 /dev/zero | tr '\0' a)"; do
    check_not "no image is called '${name:0:12}'" image add -- "$name" "$T/good"
done

# Of a million tiny entries, and of what stands behind a tar's end, no more is read than the rule lets.
policy "$LEG_USER" Boundary=container 'Image=*' Image-Add=yes Image-Bytes=16M Image-Entries=10000 >"$T/small.policy"
start_daemon "$T/small" || not_ok "a daemon starts" "$(cat "$T/small.log")"
large=$SAPHAN_SOCKET
export SAPHAN_SOCKET=$T/small/saphan.sock
bad many image-too-big d/
bad tail-bomb image-too-big layer
bad bomb image-too-big zeros
none_staged() { [ -z "$(ls "$T/small/state/images/staging")" ]; }
check "and nothing of them stays" await 20 none_staged
equal "nor is listed" "" "$(image list --json)"
export SAPHAN_SOCKET=$large

check "all of it is gone again" settle
equal "the store is as it was" "$nothing" "$(store)"
equal "and so is the host" "$tree_before" "$(tree "$victim"; ls -la /etc | sha256sum)"
equal "no bad image is listed" again "$(image list --json | jq -r .name)"
finish
