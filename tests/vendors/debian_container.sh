#!/bin/bash
# debian_container.sh - what people run in a Debian image: apt-get, npm, git, python3, a C build; with a
# capability a package is really installed, into the leg's own memory.
. "$(dirname "$(readlink -f "$0")")/lib.sh"
vendor=debian
command -v mmdebstrap >/dev/null || not_measured "mmdebstrap is not installed"
command -v npm >/dev/null || not_measured "npm is not installed"

# ---- a Debian root, made once, with the host's node and npm ----
tools=${SAPHAN_IMAGES:-/var/cache/saphan-tests/images}/tools
if [ ! -e "$tools.made" ]; then
    fresh=$(mkdir -p "${tools%/*}" && mktemp -d "$tools.XXXXXX")
    said=$(timeout 900 mmdebstrap --variant=minbase --skip=cleanup/apt/lists \
        --include=gcc,libc6-dev,make,git,python3-minimal,ca-certificates bookworm "$fresh" 2>&1 </dev/null) ||
        not_measured "mmdebstrap could not make a root" "$said"
    mkdir -p "$fresh/opt/node/lib/node_modules" "$fresh/opt/node/bin"
    cp "$(readlink -f "$(command -v node)")" "$fresh/opt/node/bin/node"
    cp -a "$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")" "$fresh/opt/node/lib/node_modules/npm"
    ln -s ../lib/node_modules/npm/bin/npm-cli.js "$fresh/opt/node/bin/npm"
    chmod -R a+rX "$fresh/opt/node"
    rm -rf "$tools" && mv "$fresh" "$tools" && touch "$tools.made"
fi
policy "$LEG_USER root" Boundary=container 'Image=*' Image-Add=yes \
    'Capabilities=CAP_CHOWN CAP_DAC_OVERRIDE CAP_FOWNER CAP_FSETID' >"$T/d.policy"
start_daemon "$T/d" || not_ok "a daemon starts" "$(cat "$T/d.log")"
export SAPHAN_SOCKET=$T/d/saphan.sock
check "the Debian root is added" timeout 300 saphan image add debian "$tools"
box() { leg --boundary container --image debian "$@"; }
work() { box --user 1000:1000 --workspace "$W:/work" --env PATH=/opt/node/bin:/usr/bin:/bin "$@"; }

# ---- apt-get ----
for user in 0:0 1000:1000; do
    box --user $user -- apt-get --simulate install hello
    expect "$user: apt-get --simulate" 0 GREEN
    check "$user: and what it would do" grep -q '^Inst hello' "$T/out"
done
mkdir -p "$T/deb/DEBIAN" "$T/deb/usr/bin" "$T/deb/var/lib/greeter"
printf '%s\n' 'Package: greeter' 'Version: 1' 'Architecture: all' 'Maintainer: a <a@b>' 'Depends: make' 'Description: greets' >"$T/deb/DEBIAN/control"
printf '#!/bin/sh\nchown www-data:www-data /var/lib/greeter\n' >"$T/deb/DEBIAN/postinst"
printf '#!/bin/sh\nstat -c "greetings of %%U" /var/lib/greeter\n' >"$T/deb/usr/bin/greeter"
chmod 755 "$T/deb/DEBIAN/postinst" "$T/deb/usr/bin/greeter" && dpkg-deb --root-owner-group -b "$T/deb" "$T/greeter.deb" >/dev/null
install='apt-get -qq -o APT::Sandbox::User=root install /greeter.deb && greeter'
asks=()
for name in CHOWN DAC_OVERRIDE FOWNER FSETID; do asks+=(--capability "CAP_$name"); done
box --writable-root --read "$T/greeter.deb:/greeter.deb" -- sh -c "$install"
check_not "control: without a capability no package can be installed" grep -q greetings "$T/out"
box --writable-root "${asks[@]}" --read "$T/greeter.deb:/greeter.deb" -- sh -c "$install"
expect "with those over files one is" 0 GREEN
check "and runs, with its files given away" grep -qx 'greetings of www-data' "$T/out"
box -- sh -c 'command -v greeter'
expect "the image is as it was" 127 RED
check_not "and there is no such program in it" grep -q greeter "$T/out"

# ---- git, python3, C ----
work --artefact /work/repo/a -- sh -c 'cd /work && git init -q repo && cd repo && echo a >a && git add a &&
    git -c user.name=a -c user.email=a@b commit -qm one && git clone -q /work/repo /work/clone && git -C /work/clone log --oneline | wc -l'
expect "git" 0 GREEN
equal "a commit, cloned" 1 "$(output | tr -d ' ')"
work -- python3 -c 'import os, subprocess, tempfile; f = tempfile.NamedTemporaryFile(); print(os.cpu_count() >= 1, subprocess.run(["true"]).returncode, os.path.exists(f.name))'
equal "python3" "True 0 True" "$(output)"
cat >"$W/main.c" <<'C'
#include <stdio.h>
#include <pthread.h>
static void *run(void *number) { *(int *)number = 42; return NULL; }
int main(void) { pthread_t thread; int number = 0; pthread_create(&thread, NULL, run, &number); pthread_join(thread, NULL); printf("%d\n", number); return 0; }
C
printf 'main: main.c\n\tgcc -O2 -Wall -o main main.c -lpthread\n' >"$W/Makefile" && owned "$W/main.c" "$W/Makefile"
work --artefact /work/main -- sh -c 'make -s && ./main'
expect "a C build" 0 GREEN
equal "and what it built" 42 "$(output)"

# ---- npm ----
mkdir -p "$W/pkg" "$W/app"
echo '{"name": "pkg", "version": "1.0.0", "bin": {"say": "say.js"}}' >"$W/pkg/package.json"
printf '#!/usr/bin/env node\nconsole.log("said", require("os").cpus().length > 0);\n' >"$W/pkg/say.js" && chmod 755 "$W/pkg/say.js"
echo '{"name": "app", "version": "1.0.0", "private": true, "scripts": {"test": "say"}}' >"$W/app/package.json"
owned "$W/pkg" "$W/app"
work --chdir /work/app --artefact /work/app/node_modules/pkg/package.json -- sh -c \
    'tar=$(cd /work/pkg && npm pack --silent) && npm install --offline --no-audit --no-fund --silent "/work/pkg/$tar" && npm test --silent'
expect "npm packs, installs and runs" 0 GREEN
equal "and what it ran" "said true" "$(output)"
finish
