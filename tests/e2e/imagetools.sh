#!/bin/bash
# imagetools.sh - images as umoci and skopeo write them, in each form; one of 300 MB; the same root by runc.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"
for tool in umoci skopeo runc; do
    command -v $tool >/dev/null || { skip "images as others write them" "$tool"; finish; }
done
image() { as_user timeout 200 saphan image "$@" </dev/null; }
quiet() { "$@" >"$T/said" 2>&1 </dev/null || { cat "$T/said"; return 1; }; }
copy() { quiet skopeo --insecure-policy copy -q "$@"; }
make_tar() { tar -cf "$1" -C "$2" --sort=name --owner=0 --group=0 --mtime=@1600000000 .; }

# ---- an image of three layers, by umoci ----
root=$T/root above=$T/above
mkdir -p "$root"/{bin,etc,data/gone,proc,dev,tmp} "$above/data"
cp "$(command -v busybox)" "$root/bin/busybox"
for name in sh ls cat id find sort stat sha256sum true; do ln -s busybox "$root/bin/$name"; done
printf 'root:x:0:0:root:/root:/bin/sh\nbob:x:1234:77:bob:/data:/bin/sh\n' >"$root/etc/passwd"
printf 'bobs:x:77:\n' >"$root/etc/group"
echo below >"$root/data/replaced" && echo gone >"$root/data/gone/file" && echo kept >"$root/data/kept"
ln "$root/data/kept" "$root/data/hard" && ln -s kept "$root/data/soft"
echo above >"$above/data/replaced"
make_tar "$T/below.tar" "$root" && make_tar "$T/above.tar" "$above"
layout=$T/oci
by_umoci() {
    quiet umoci init --layout "$layout" && quiet umoci new --image "$layout:one" &&
        quiet umoci raw add-layer --image "$layout:one" "$T/below.tar" &&
        quiet umoci raw add-layer --image "$layout:one" "$T/above.tar" &&
        quiet umoci insert --image "$layout:one" --opaque "$above/data" /opaque &&
        quiet umoci insert --image "$layout:one" --whiteout /data/gone &&
        quiet umoci config --image "$layout:one" --config.user bob:bobs --config.workingdir /data \
            --config.env FROM=umoci --config.env PATH=/bin --config.cmd sh --config.cmd -c --config.cmd 'echo by umoci' \
            --clear=config.entrypoint
}
check "umoci writes an image" by_umoci
owned "$layout"
look='cd / && find bin data etc opaque | sort && find data etc opaque bin -type f | sort | xargs sha256sum && stat -c "%n %u:%g %a" data/* && cat data/soft'
ln -s busybox "$root/bin/xargs" 2>/dev/null
runs() { # NAME: what it says of itself, and what is in it
    leg --boundary container --image "$1"
    equal "$1: its command" "by umoci" "$(output)"
    leg --boundary container --image "$1" -- sh -c 'id -u; id -g; pwd; echo $FROM'
    equal "$1: its user, directory and environment" "1234 77 /data umoci" "$(output | tr '\n' ' ' | sed 's/ $//')"
    leg --boundary container --image "$1" -- busybox sh -c "$look"
    equal "$1: its files" "$wanted" "$(output)"
}
check "the layout is added" image add layout "$layout"
leg --boundary container --image layout -- busybox sh -c "$look"
wanted=$(output)
check "its files are those of all layers" grep -q '^opaque/replaced' <<<"$wanted"
check_not "without what was taken away" grep -q 'data/gone' <<<"$wanted"
# The control: what umoci itself makes of it, run by runc.
bundle=$T/bundle
check "umoci unpacks it" quiet umoci unpack --image "$layout:one" "$bundle"
jq --arg look "$look" '.process.terminal = false | .process.args = ["/bin/busybox", "sh", "-c", $look]' "$bundle/config.json" >"$T/config.json" &&
    mv "$T/config.json" "$bundle/config.json"
if said=$(cd "$bundle" && timeout 60 runc run "saphan-$$" 2>"$T/runc" </dev/null); then
    equal "the control: runc shows the same files" "$wanted" "$said"
else
    skip "the control: runc shows the same files" "runc: $(tail -n 1 "$T/runc")"
fi

# ---- each form that skopeo writes ----
layers_before=$(image show --json layout | jq .layers)
form() { # NAME DESTINATION SOURCE [OPTION...]
    local name=$1 to=$2 source=$3
    shift 3
    check "skopeo writes $name" copy "$@" "oci:$layout:one" "$to"
    owned "$source"
    check "$name is added" image add "$name" "$source"
    runs "$name"
}
form oci-again "oci:$T/again:one" "$T/again"
form oci-archive "oci-archive:$T/oci.tar:one" "$T/oci.tar"
form docker-archive "docker-archive:$T/docker.tar:one:latest" "$T/docker.tar"
form zstd "oci:$T/zstd:one" "$T/zstd" --dest-compress --dest-compress-format zstd
check "its layers are zstd" grep -rq 'tar+zstd' "$T/zstd/blobs"
form plain "oci:$T/plain:one" "$T/plain" --dest-decompress
equal "however it is packed, each of them shares its layers" "$layers_before" \
    "$(find "$SAPHAN_PRIVATE/state/images/layers" -mindepth 1 -maxdepth 1 | wc -l)"
check "a cut one is refused" bash -c "head -c 1500000 $T/docker.tar >$T/cut.tar; ! SAPHAN_SOCKET=$SAPHAN_SOCKET saphan image add cut $T/cut.tar"

# ---- 300 MB ----
mkdir "$T/big" && for i in $(seq 30); do
    mkdir "$T/big/$i" && for j in $(seq 10); do head -c 1000000 /dev/urandom >"$T/big/$i/$j"; done
done
make_tar "$T/big.tar" "$T/big" && rm -r "$T/big"
check "an image with a layer of 300 MB" quiet umoci raw add-layer --image "$layout:one" --tag big "$T/big.tar"
rm "$T/big.tar" && owned "$layout"
most=0
image add big "$layout" --reference big >"$T/said" 2>&1 &
adding=$!
while kill -0 $adding 2>/dev/null; do
    for pid in $(pgrep -P "$SAPHAN_DAEMON_PID" -f saphan-unpacker); do
        now=$(awk '$1 == "VmHWM:" { print $2 }' "/proc/$pid/status" 2>/dev/null)
        [ "${now:-0}" -le $most ] || most=$now
    done
    sleep 0.05
done
check "is added" wait $adding
bound=65536
[ -z "${ASAN_OPTIONS:-}" ] || bound=1000000 # a sanitizer keeps for itself what was freed
check "in memory that does not grow with it: at most $most kB" test "$most" -gt 0 -a "$most" -lt $bound
leg --boundary container --image big -- sh -c 'ls /30 | busybox wc -l; stat -c %s /30/10'
equal "and is all there" "10 1000000" "$(output | tr '\n' ' ' | sed 's/ $//')"
finish
