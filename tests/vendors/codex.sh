#!/bin/bash
# codex.sh - codex: what outranks what is shown by the refusals and the turns that follow the remedy.
. "$(dirname "$(readlink -f "$0")")/lib.sh"
have codex @openai/codex
codex=$root/node_modules/.bin/codex
start() {
    fresh
    codex_settings "" "${1:-}" | seat .codex/config.toml
}
options=(--env MOCK_KEY=dummy)
run() { # WORD...: behind `codex exec`
    turn -- "$W/with-model" "$codex" exec "$@" --skip-git-repo-check --disable plugins --disable apps \
        -c analytics.enabled=false -c otel.exporter=none "Write artefact.txt"
}
start 'sandbox_mode = "read-only"'
run --dangerously-bypass-approvals-and-sandbox
green "bypass over sandbox_mode of the seat"
reported
start
run -s workspace-write
refused "-s workspace-write" nested-sandbox-requested "the command: -s = workspace-write"
pasted "-s workspace-write"
start
run
refused "no switch" nested-sandbox-requested "on by default"
pasted "no switch"
start
run -s danger-full-access -c sandbox_mode=read-only
green "-s danger-full-access over -c sandbox_mode"
run -s workspace-write -c sandbox_mode=danger-full-access
refused "-s over -c" nested-sandbox-requested "-s = workspace-write"
start
turn --boundary none -- "$codex" exec --dangerously-bypass-approvals-and-sandbox hello
expect "codex: its bypass without a boundary" 125 REFUSED bypass-without-boundary
turn -- /bin/true
expect "codex: a command without its program" 125 REFUSED vendor-not-in-command

unchecked
start
run -s workspace-write
nested "sandbox on, not judged before" clone "flags=0x" "comm=" "exe="
check_not "codex: and there is no artefact" test -e "$W/ws/artefact.txt"
start
run -s danger-full-access
green "sandbox off at the same daemon (control)"
finish
