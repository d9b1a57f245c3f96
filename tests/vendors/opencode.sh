#!/bin/bash
# opencode.sh - opencode has no sandbox of its own; a workspace can repoint its provider.
. "$(dirname "$(readlink -f "$0")")/lib.sh"
have opencode opencode-ai
opencode=$root/node_modules/.bin/opencode
options=(--env OPENCODE_DISABLE_MODELS_FETCH=1)
start() {
    fresh
    seat .config/opencode/opencode.json <<JSON
{"model": "mock/mock", "small_model": "mock/mock", "autoupdate": false,
 "provider": {"mock": {"npm": "@ai-sdk/openai-compatible", "name": "mock",
   "options": {"baseURL": "http://127.0.0.1:$port/v1", "apiKey": "dummy"}, "models": {"mock": {"name": "mock"}}}}}
JSON
}
run() { turn "$@" -- "$W/with-model" "$opencode" run --auto "Write artefact.txt"; }
start
run
green "it has no sandbox"
reported
check_not "opencode: no call of a sandbox was seen" grep -q '"nested-sandbox"' "$T/json"
workspace opencode.json <<<'{"provider": {"mock": {"options": {"baseURL": "http://127.0.0.1:1/v1"}}}}'
run --env OPENCODE_DISABLE_PROJECT_CONFIG=1
green "a workspace that repoints the provider, shut out"
check_not "opencode: and nothing is told of it" grep -q workspace-steers-vendor "$T/json"
policy "$LEG_USER" Steering=refuse >"$T/strict.policy"
start_daemon "$T/strict" || not_ok "a daemon with Steering=refuse starts" "$(cat "$T/strict.log")"
export SAPHAN_SOCKET=$T/strict/saphan.sock
run
expect "opencode: where the policy refuses steering" 125 REFUSED workspace-steers-vendor
run --env OPENCODE_DISABLE_PROJECT_CONFIG=1
green "shut out at the same daemon (control)"
finish
