#!/bin/bash
# qwen-code.sh - qwen: two sandboxes; the one around its commands is reached by settings files alone.
. "$(dirname "$(readlink -f "$0")")/lib.sh"
have node22 node@22
node22=$root npm_node=$root/node_modules/node/bin
have qwen-code @qwen-code/qwen-code
qwen=$root/node_modules/.bin/qwen
node=$node22/node_modules/.bin/node
options=(--read "$node22" --env OPENAI_API_KEY=dummy --env "OPENAI_BASE_URL=http://127.0.0.1:$port/v1"
    --env OPENAI_MODEL=mock)
run() {
    turn -- "$W/with-model" "$node" "$qwen" --auth-type openai --approval-mode yolo "$@" -p "Write artefact.txt"
}
on='{"tools": {"executionSandbox": {"backend": "bwrap", "filesystem": "workspace-write", "network": "open"}}}'
fresh
run
green "no switch, no file"
reported
seat .qwen/settings.json <<<"$on"
run
refused "execution sandbox by the seat's settings" nested-sandbox-requested "tools.executionSandbox = object"
mended "execution sandbox by the seat's settings"
run
green "after the remedy"
check "qwen-code: it rewrites its settings, and that is told" grep -q profile-rewritten "$T/json"
fresh
run --sandbox
refused "--sandbox" nested-sandbox-requested "the command: --sandbox = true"
pasted "--sandbox"

unchecked
fresh
seat .qwen/settings.json <<<"$on"
run
nested "sandbox on, not judged before" "flags=0x" "comm=" "exe="
check_not "qwen-code: and there is no artefact" test -e "$W/ws/artefact.txt"
fresh
run
green "sandbox off at the same daemon (control)"
finish
