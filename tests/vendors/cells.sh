# cells.sh - what the scripts of the matrix share: each vendor's turn and seat, its own sandbox on and off.
#
# vendor_V STATE ROOT NODE SEAT: sets $command, a turn of V with its sandbox on or off, its package beneath
# ROOT and node at NODE; and the settings that go with it, in SEAT.
# shellcheck shell=bash disable=SC2034,SC2154
all_vendors=(codex gemini-cli droid claude-code qwen-code copilot opencode openai-compat agent-loop proc)

package_of() {
    case $1 in
    codex) echo @openai/codex ;;
    gemini-cli) echo @google/gemini-cli ;;
    droid) echo droid ;;
    claude-code) echo @anthropic-ai/claude-code ;;
    qwen-code) echo @qwen-code/qwen-code ;;
    copilot) echo @github/copilot ;;
    opencode) echo opencode-ai ;;
    esac
}
# What is no agent program of somebody's, or has no sandbox: one cell a boundary.
has_sandbox() { case $1 in opencode | openai-compat | agent-loop | proc) return 1 ;; esac; }
# copilot's sandbox, which its control has on, opens /dev/net/tun: root's on most machines
# (SAPHAN_TEST_USER=root measures it).
can_sandbox() {
    [ "$1" = copilot ] || return 0
    needs slirp4netns iptables
    as_user test -w /dev/net/tun || { skip "copilot" "/dev/net/tun for $LEG_USER"; return 1; }
}
program_of() {
    case $1 in
    gemini-cli) echo gemini ;;
    claude-code) echo claude ;;
    qwen-code) echo qwen ;;
    *) echo "$1" ;;
    esac
}
file_in() { # SEAT FILE: from standard input
    mkdir -p "$(dirname "$1/$2")"
    cat >"$1/$2"
    owned "$1"
}
is_on() { [ "$1" = on ] && echo true || echo false; }

vendor_codex() {
    codex_settings | file_in "$4" .codex/config.toml
    options=(--env MOCK_KEY=dummy)
    command=("$2/node_modules/.bin/codex" exec)
    if [ "$1" = on ]; then command+=(-s workspace-write); else command+=(--dangerously-bypass-approvals-and-sandbox); fi
    command+=(--skip-git-repo-check --disable plugins --disable apps -c analytics.enabled=false -c otel.exporter=none "Write artefact.txt")
}
vendor_gemini-cli() {
    file_in "$4" .gemini/settings.json <<JSON
{"security": {"auth": {"selectedType": "gemini-api-key"}, "toolSandboxing": $(is_on "$1")}, "tools": {"sandbox": false}}
JSON
    options=(--env GEMINI_API_KEY=dummy --env "GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:$port")
    command=("$2/node_modules/.bin/gemini" -m gemini-2.5-flash --approval-mode yolo --skip-trust -p "Write artefact.txt")
}
vendor_droid() {
    file_in "$4" .factory/settings.json <<JSON
{"sandbox": {"enabled": $(is_on "$1"), "mode": "per-command"}, "customModels": [{"model": "mock", "displayName": "mock",
 "baseUrl": "http://127.0.0.1:$port/v1", "apiKey": "dummy", "provider": "generic-chat-completion-api", "maxOutputTokens": 4000}]}
JSON
    options=(--env FACTORY_AIRGAP_ENABLED=true)
    command=("$2/node_modules/.bin/droid" exec -m custom:mock-0 --auto high "Write artefact.txt")
}
vendor_claude-code() {
    options=(--env "ANTHROPIC_BASE_URL=http://127.0.0.1:$port" --env ANTHROPIC_API_KEY=dummy
        --env CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 --env DISABLE_AUTOUPDATER=1)
    command=("$2/node_modules/.bin/claude" -p --model claude-sonnet-4-5)
    if [ "$1" = on ]; then
        command+=(--settings '{"sandbox":{"enabled":true,"autoAllowBashIfSandboxed":true}}')
    else
        command+=(--dangerously-skip-permissions --settings '{"sandbox":{"enabled":false}}')
    fi
    command+=("Write artefact.txt")
}
vendor_qwen-code() {
    if [ "$1" = on ]; then
        echo '{"tools": {"executionSandbox": {"backend": "bwrap", "filesystem": "workspace-write", "network": "open"}}}'
    else
        echo '{}'
    fi | file_in "$4" .qwen/settings.json
    options=(--env OPENAI_API_KEY=dummy --env "OPENAI_BASE_URL=http://127.0.0.1:$port/v1" --env OPENAI_MODEL=mock)
    command=("$3" "$2/node_modules/.bin/qwen" --auth-type openai --approval-mode yolo -p "Write artefact.txt")
}
vendor_copilot() {
    options=(--env COPILOT_OFFLINE=true --env "COPILOT_PROVIDER_BASE_URL=http://127.0.0.1:$port/v1"
        --env COPILOT_MODEL=gpt-4.1 --env COPILOT_PROVIDER_API_KEY=dummy)
    command=("$2/node_modules/.bin/copilot" --allow-all-tools)
    if [ "$1" = on ]; then command+=(--sandbox); else command+=(--no-sandbox); fi
    command+=(-p "Write artefact.txt")
}
vendor_opencode() {
    file_in "$4" .config/opencode/opencode.json <<JSON
{"model": "mock/mock", "small_model": "mock/mock", "autoupdate": false,
 "provider": {"mock": {"npm": "@ai-sdk/openai-compatible", "name": "mock",
   "options": {"baseURL": "http://127.0.0.1:$port/v1", "apiKey": "dummy"}, "models": {"mock": {"name": "mock"}}}}}
JSON
    options=(--env OPENCODE_DISABLE_MODELS_FETCH=1)
    command=("$2/node_modules/.bin/opencode" run --auto "Write artefact.txt")
}
vendor_openai-compat() { options=() command=(/bin/sh -c 'echo done >artefact.txt'); }
vendor_agent-loop() { vendor_openai-compat "$@"; }
vendor_proc() { vendor_openai-compat "$@"; }

# measure [SAPHAN-OPTION...] -- TURN [:: CONTROL]: one cell of $vendor.  The model server stands inside of the
# leg, and beside the control.  A fresh workspace for each: what one turn leaves steers no other; $prepare is
# called with it.
measure() {
    rm -rf "$W/ws" && mkdir "$W/ws" && git -C "$W/ws" init -q
    [ -z "${prepare:-}" ] || "$prepare" "$W/ws"
    owned "$W/ws"
    (cd "$W/ws" && as_user timeout 300 saphan matrix measure --json --vendor "$vendor" --workspace "$W/ws" \
        --seat "$W/seat" --read "$T/model.mjs" --read "$W/with-model" --artefact artefact.txt --limit wall=100s \
        --env "MODEL=$T/model.mjs" --env "PORT=$port" "${options[@]}" "$@" </dev/null) >"$T/json" 2>"$T/err"
    rc=$?
}
found() { jq -rs 'map(select(.event == "verdict"))[0] | "\(.verdict) \(.why)"' "$T/json"; }
verdict() { # NAME RC VERDICT WORDS
    local said
    said=$(found)
    case "$rc $said" in
    "$2 $3 "*"$4"*) ok "$vendor: $1: $3" ;;
    *) not_ok "$vendor: $1: $3" "found $rc $said
$(jq -cs 'map(select(.event == "verdict"))[0].arms[4,5]' "$T/json" | head -c 4000) $(tail -c 600 "$T/err")" ;;
    esac
}
# The control of a turn whose sandbox is off has it on: with a seat of its own, for settings may decide it.
control_of() { # ROOT NODE: sets $control
    local state=off
    ! has_sandbox "$vendor" || state=on
    rm -rf "$W/other" && mkdir "$W/other" && owned "$W/other"
    "vendor_$vendor" $state "$1" "$2" "$W/other"
    control=(env "HOME=$W/other" "NODE=$2" "$W/with-model" "${command[@]}")
}
