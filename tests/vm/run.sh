#!/bin/bash
# run.sh - boots Debian's cloud kernels 6.12 and 6.1 in an emulated machine (TCG, no network) with a root
# made from the build, runs the kernel tier's programs and the core of the e2e tier there, and prints
# what came over the serial console as TAP.
set -uo pipefail
here=$(dirname "$(readlink -f "$0")")
top=$(dirname "$(dirname "$here")")
build=$(readlink -f "${SAPHAN_BUILD:-$top/build}")
work=$build/vm
mkdir -p "$work"
export PYTHONDONTWRITEBYTECODE=1

fail() { # what went wrong, as the one test
    echo "not ok 1 - $1"
    echo "1..1"
    exit 1
}

image_of() { apt-cache depends "$1" 2>/dev/null | awk '/Depends: linux-image/ { print $2; exit }'; }
# kernel META: fetches (once) and unpacks what the meta package stands for; prints its version.
kernel() {
    local package
    package=$(image_of "$1")
    if [ -z "$package" ]; then # a machine whose lists were never fetched, or thrown away
        apt-get -qq update >&2
        package=$(image_of "$1")
    fi
    [ -n "$package" ] || return 1
    if [ ! -d "$work/$package" ]; then
        (cd "$work" && apt-get download -qq -o APT::Sandbox::User=root "$package" >&2 &&
            dpkg-deb -x "$package"_*.deb "$package.new" && mv "$package.new" "$package" &&
            rm -f "$package"_*.deb) || return 1
        depmod -b "$work/$package" "${package#linux-image-}" || return 1
    fi
    echo "${package#linux-image-}"
}

# initramfs VERSION: busybox, the modules that the disk and containers need, an init that goes to the disk.
initramfs() {
    local root=$work/initramfs-$1 module
    rm -rf "$root"
    mkdir -p "$root"/{bin,dev,proc,new,modules}
    cp /bin/busybox "$root/bin/busybox"
    while read -r _ module _; do
        case $module in
            *.ko.xz) xz -dc "$module" >"$root/modules/$(basename "${module%.xz}")" ;;
            *.ko) cp "$module" "$root/modules/" ;;
            *) continue ;;
        esac
        echo "insmod /modules/$(basename "${module%.xz}")" >>"$root/modules/load"
    done < <(for name in virtio_pci virtio_blk overlay; do
        modprobe --show-depends -d "$work/linux-image-$1" -S "$1" "$name"
    done | awk '$1 == "insmod" && !seen[$2]++')
    cat >"$root/init" <<'INIT'
#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t devtmpfs dev /dev
. /modules/load
mount -t ext4 /dev/vda /new || { echo "no disk"; poweroff -f; }
mount --move /dev /new/dev
exec switch_root /new /vm-init
INIT
    chmod 755 "$root/init"
    (cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) >"$work/initramfs-$1.gz"
}

# disk: an ext4 image with a merged /usr of busybox, the built programs at their own paths, their
# libraries, and the scripts that run.
disk() {
    local root=$work/root program library
    rm -rf "$root"
    mkdir -p "$root"/{usr/{bin,sbin,lib,lib64},etc,dev,proc,sys,run,tmp,var/lib,root,home,srv,vm}
    for link in bin sbin lib lib64; do ln -s "usr/$link" "$root/$link"; done
    chmod 1777 "$root/tmp"
    cp /bin/busybox "$root/usr/bin/"
    (cd "$root/usr/bin" && for applet in $(/bin/busybox --list); do [ -e "$applet" ] || ln -s busybox "$applet"; done)
    printf 'root:x:0:0:root:/root:/bin/sh\ngames:x:5:60:games:/usr/games:/bin/sh\nman:x:6:12:man:/var:/bin/sh\n' >"$root/etc/passwd"
    printf 'root:x:0:\nsaphan:x:999:\ngames:x:60:\nman:x:12:\n' >"$root/etc/group"
    printf 'passwd: files\ngroup: files\n' >"$root/etc/nsswitch.conf"
    printf 'root:secret\n' >"$root/etc/shadow"
    chmod 600 "$root/etc/shadow"
    mapfile -t programs < <(find "$build/daemon" "$build/client" "$build/tests/kernel" "$build/tests/masked" \
        -type f -perm -u+x \( -name 'saphan*' -o -name 'test_*' -o -name 'libsaphan.so*' -o -name mask \) ! -name '*.o' ! -path '*.p/*')
    programs+=("$(readlink -f "$(command -v git)")")
    for program in "${programs[@]}"; do
        install -D -m 755 "$program" "$root$program"
    done
    find "$build/client" -maxdepth 1 -name 'libsaphan.so*' -exec cp -a {} "$root$build/client/" \;
    ldd "${programs[@]}" 2>/dev/null | awk '$2 == "=>" { print $3 } $1 ~ /^\// && NF == 2 && $1 !~ /:$/ { print $1 }' |
        sort -u | while read -r library; do
        case $library in "$build"/*) continue ;; esac
        [ -f "$library" ] && install -D -m 755 "$(readlink -f "$library")" "$root/usr${library#/usr}"
    done
    install -m 755 "$here/init.sh" "$root/vm-init"
    install -m 755 "$here/inside.sh" "$root/vm/inside.sh"
    # test_programs stays out: python3, node, gcc, gdb and the like are too big for this root and too slow
    # under TCG, and what they need of a leg is no matter of the kernel's version.
    find "$build/tests/kernel" -maxdepth 1 -type f -name 'test_*' -perm -u+x ! -name test_programs 2>/dev/null |
        sort >"$root/vm/kernel-tests"
    echo "$build" >"$root/vm/build"
    rm -f "$work/root.ext4"
    mke2fs -q -t ext4 -O ^has_journal -d "$root" "$work/root.ext4" 512M || return 1
}

# Both cpus are emulated by one thread: with one each, the kernel's patching of its own code
# (static keys) was seen to be half done on the other, and the machine died of an int3.
boot() { # VERSION
    cp --sparse=always "$work/root.ext4" "$work/disk-$1.ext4"
    timeout "${VM_SECONDS:-1200}" qemu-system-x86_64 -accel tcg,thread=single -cpu max -smp 2 -m 1536 \
        -display none -monitor none -serial stdio -nic none -no-reboot \
        -kernel "$work/linux-image-$1/boot/vmlinuz-$1" -initrd "$work/initramfs-$1.gz" \
        -append "console=ttyS0 quiet panic=-1 mitigations=off vm.release=$1" \
        -drive "file=$work/disk-$1.ext4,if=virtio,format=raw,cache=unsafe" </dev/null >"$work/console-$1.log" 2>&1
    rm -f "$work/disk-$1.ext4"
}

disk >&2 || fail "a disk for the emulated machine"
results=()
for meta in linux-image-6.12-cloud-amd64 linux-image-cloud-amd64; do
    version=$(kernel "$meta") || fail "apt has $meta"
    initramfs "$version" || fail "an initramfs for $version"
    boot "$version"
    results+=("$version" "$work/console-$version.log")
done
"$here/report.py" "${results[@]}"
