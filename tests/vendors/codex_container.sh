#!/bin/bash
# codex_container.sh - codex with its own sandbox ON: inside a Debian image whose policy says Nested=allow it
# does its work, and everything else of the boundary holds; in a domain, and where nothing is said, refused.
. "$(dirname "$(readlink -f "$0")")/lib.sh"
have codex @openai/codex

# ---- a Debian root, made once, with codex in it ----
debian_root
if [ ! -e "$debian/opt/codex/node_modules" ]; then
    mkdir -p "$debian/opt/codex" && cp -a "$root/node_modules" "$debian/opt/codex/"
fi
codex=/opt/codex/node_modules/.bin/codex
policy "$LEG_USER root" 'Boundary=container' 'Image=*' 'Image-Add=yes' 'Nested=allow' >"$T/nested.policy"
policy "$LEG_USER root" 'Boundary=container' 'Image=*' 'Image-Add=yes' >"$T/plain.policy"
policy "$LEG_USER root" 'Boundary=container' 'Image=*' 'Image-Add=yes' Test-Only-Start-With-Nested-Sandbox=yes >"$T/late.policy"
for name in nested plain late; do
    start_daemon "$T/$name" || not_ok "a daemon starts" "$(cat "$T/$name.log")"
    check "the Debian root is added ($name)" env SAPHAN_SOCKET="$T/$name/saphan.sock" timeout 200 saphan image add debian "$debian"
done
with() { export SAPHAN_SOCKET=$T/$1/saphan.sock; }

start() {
    fresh
    codex_settings | seat .codex/config.toml
}
node=/usr/bin/node
options=(--env MOCK_KEY=dummy)
arguments=(--skip-git-repo-check --disable plugins --disable apps -c analytics.enabled=false -c otel.exporter=none)
inside=(--boundary container --image debian --user 1000:1000)
run() { # [SAPHAN-OPTION...] : codex with its sandbox on
    turn "$@" -- "$W/with-model" "$codex" exec -s workspace-write "${arguments[@]}" "Write artefact.txt"
}

with nested
start
run "${inside[@]}"
green "sandbox ON in a container with Nested=allow"
check_not "codex: and nothing was told of a refused sandbox" grep -q nested-sandbox "$T/json"
start
run "${inside[@]}" --user 0
refused "sandbox ON as root of the image" nested-sandbox-requested "give --user"
start
run
refused "sandbox ON in a domain of the same policy" nested-sandbox-requested "-s = workspace-write"
with plain
start
run "${inside[@]}"
refused "sandbox ON in a container without Nested=allow" nested-sandbox-requested "-s = workspace-write"
start
turn "${inside[@]}" -- "$W/with-model" "$codex" exec --dangerously-bypass-approvals-and-sandbox "${arguments[@]}" "Write artefact.txt"
green "its bypass in a container"
with late
start
run "${inside[@]}"
nested "sandbox ON, found out while it runs (control: it is on)" "flags=0x" "comm=" "exe="
finish
