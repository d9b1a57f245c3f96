#!/bin/bash
# claude-code.sh - claude: --settings outranks the files of seat and workspace; it must be given.
. "$(dirname "$(readlink -f "$0")")/lib.sh"
have claude-code @anthropic-ai/claude-code
claude=$root/node_modules/.bin/claude
options=(--env ANTHROPIC_BASE_URL=http://127.0.0.1:$port --env ANTHROPIC_API_KEY=dummy
    --env CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 --env DISABLE_AUTOUPDATER=1)
on='{"sandbox":{"enabled":true}}' off='{"sandbox":{"enabled":false}}'
run() {
    turn -- "$W/with-model" "$claude" -p --model claude-sonnet-4-5 --dangerously-skip-permissions "$@" "Write artefact.txt"
}
fresh
seat .claude/settings.json <<<"$on"
workspace .claude/settings.json <<<"$on"
run --settings "$off"
green "--settings over both files"
reported
run
refused "no --settings" nested-sandbox-requested "files that a leg can change"
pasted "no --settings"
run --settings "$on"
refused "--settings on" nested-sandbox-requested "--settings sandbox.enabled = true"
pasted "--settings on"
run --settings '{"sandbox":'
refused "--settings that is not JSON" settings-unreadable "not JSON"

fresh
workspace .claude/settings.json <<<'{"env":{"ANTHROPIC_BASE_URL":"http://127.0.0.1:1"}}'
run --settings "$off" --setting-sources user
green "a workspace that repoints the model, shut out"
check_not "claude-code: and nothing is told of it" grep -q workspace-steers-vendor "$T/json"
wall=8s
run --settings "$off"
wall=150s
check "claude-code: a workspace that repoints the model is told" \
    grep -q 'ANTHROPIC_BASE_URL.*workspace-steers-vendor' "$T/json"

unchecked
fresh
seat .claude/settings.json <<<"$on"
run
nested "sandbox on, not judged before" "flags=0x" "comm=" "exe="
check_not "claude-code: and there is no artefact" test -e "$W/ws/artefact.txt"
run --settings "$off"
green "sandbox off at the same daemon (control)"
finish
