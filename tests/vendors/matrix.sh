#!/bin/bash
# matrix.sh - cells of real agent programs, measured by the product itself: what is known comes out.
. "$(dirname "$(readlink -f "$0")")/lib.sh"

policy "$LEG_USER root" Measure=yes >"$T/measure.policy"
start_daemon "$T/measure" || not_ok "a daemon that lets measure starts" "$(cat "$T/measure.log")"
export SAPHAN_SOCKET=$T/measure/saphan.sock
# measure -- TURN [:: CONTROL]: the model server stands inside of the leg, and beside the control.
measure() {
    rm -f "$W/ws/artefact.txt"
    (cd "$W/ws" && as_user timeout 500 saphan matrix measure --json --vendor "$vendor" --bin "$bin" --workspace "$W/ws" \
        --seat "$W/seat" --read "$T/model.mjs" --read "$W/with-model" --artefact artefact.txt --limit wall=120s \
        --env "MODEL=$T/model.mjs" --env "PORT=$port" --env "NODE=$node" "${options[@]}" "$@" \
        </dev/null) >"$T/json" 2>"$T/err"
    rc=$?
}
verdict() { # NAME RC VERDICT WORDS
    local said
    said=$(jq -rs 'map(select(.event == "verdict"))[0] | "\(.verdict) \(.why)"' "$T/json")
    case "$rc $said" in
    "$2 $3 "*"$4"*) ok "$vendor: $1: $3" ;;
    *) not_ok "$vendor: $1: $3" "found $rc $said
$(jq -cs 'map(select(.event == "verdict"))[0].arms[4,5]' "$T/json" | head -c 4000) $(tail -c 600 "$T/err")" ;;
    esac
}

# both NAME WORDS: TURN with the sandbox on collides; off, with ON as its control, it nests.  ON and OFF are
# arrays: whole commands.  Settings that decide stand in $W/seat, those of the control of OFF in $W/other.
both() { # COLLIDES-WORDS
    measure -- "${on[@]}"
    verdict "its sandbox on, inside a domain" 112 COLLIDES "$1"
    check "$vendor: and outside of it the same turn passes" \
        sh -c "jq -es 'map(select(.event == \"verdict\"))[0].arms[5].outcome == \"held\"' '$T/json'"
    [ ${#off[@]} = 0 ] && return
    [ -e "$W/other" ] && mv "$W/seat" "$W/first" && mv "$W/other" "$W/seat" && mv "$W/first" "$W/other"
    measure -- "${off[@]}" :: env "HOME=$([ -e "$W/other" ] && echo "$W/other" || echo "$W/seat")" "${on[@]}"
    verdict "its sandbox off, inside a domain" 0 NESTS ""
    check "$vendor: the cell has its version" \
        sh -c "jq -es 'map(select(.event == \"verdict\"))[0].vendor_version | test(\"[0-9]\")' '$T/json'"
}
other() { # FILE: of the seat that the control of OFF has; from standard input
    mkdir -p "$(dirname "$W/other/$1")"
    cat >"$W/other/$1"
    owned "$W/other"
}
clean() { rm -rf "$W/other" "$W/first"; fresh; }
served=("$W/with-model")

# ---- codex ----
have codex @openai/codex
bin=$root/node_modules/.bin/codex
clean
seat .codex/config.toml <<TOML
model = "mock"
model_provider = "mock"
check_for_update_on_startup = false
[model_providers.mock]
name = "mock"
base_url = "http://127.0.0.1:$port/v1"
wire_api = "responses"
env_key = "MOCK_KEY"
TOML
options=(--env MOCK_KEY=dummy)
rest=(--skip-git-repo-check --disable plugins --disable apps -c analytics.enabled=false -c otel.exporter=none "Write artefact.txt")
on=("${served[@]}" "$bin" exec -s workspace-write "${rest[@]}")
off=("${served[@]}" "$bin" exec --dangerously-bypass-approvals-and-sandbox "${rest[@]}")
measure -- "${off[@]}"
verdict "its bypass without a boundary is refused" 113 INDETERMINATE "bypass-without-boundary"
both SILENT

# ---- gemini-cli ----
have gemini-cli @google/gemini-cli
bin=$root/node_modules/.bin/gemini
clean
options=(--env GEMINI_API_KEY=dummy --env GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:$port)
settings() { echo "{\"security\": {\"auth\": {\"selectedType\": \"gemini-api-key\"}, \"toolSandboxing\": $1}, \"tools\": {\"sandbox\": false}}"; }
settings true | seat .gemini/settings.json
settings false | other .gemini/settings.json
on=("${served[@]}" "$bin" -m gemini-2.5-flash --approval-mode yolo --skip-trust -p "Write artefact.txt")
off=("${on[@]}")
both SILENT

# ---- droid ----
needs socat bwrap
have droid droid
bin=$root/node_modules/.bin/droid
clean
options=(--env FACTORY_AIRGAP_ENABLED=true)
settings() {
    cat <<JSON
{"sandbox": {"enabled": $1, "mode": "per-command"}, "customModels": [{"model": "mock", "displayName": "mock",
 "baseUrl": "http://127.0.0.1:$port/v1", "apiKey": "dummy", "provider": "generic-chat-completion-api", "maxOutputTokens": 4000}]}
JSON
}
settings true | seat .factory/settings.json
settings false | other .factory/settings.json
on=("${served[@]}" "$bin" exec -m custom:mock-0 --auto high "Write artefact.txt")
off=("${on[@]}")
both SILENT

# ---- claude-code ----
needs socat bwrap
have claude-code @anthropic-ai/claude-code
bin=$root/node_modules/.bin/claude
clean
options=(--env ANTHROPIC_BASE_URL=http://127.0.0.1:$port --env ANTHROPIC_API_KEY=dummy
    --env CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 --env DISABLE_AUTOUPDATER=1)
claude=("${served[@]}" "$bin" -p --model claude-sonnet-4-5)
on=("${claude[@]}" --settings '{"sandbox":{"enabled":true,"autoAllowBashIfSandboxed":true}}' "Write artefact.txt")
off=("${claude[@]}" --dangerously-skip-permissions --settings '{"sandbox":{"enabled":false}}' "Write artefact.txt")
both ""

# ---- qwen-code ----
have node22 node@22
node22=$root
have qwen-code @qwen-code/qwen-code
bin=$root/node_modules/.bin/qwen node=$node22/node_modules/.bin/node
clean
options=(--read "$node22" --env OPENAI_API_KEY=dummy --env "OPENAI_BASE_URL=http://127.0.0.1:$port/v1" --env OPENAI_MODEL=mock)
seat .qwen/settings.json <<<'{"tools": {"executionSandbox": {"backend": "bwrap", "filesystem": "workspace-write", "network": "open"}}}'
other .qwen/settings.json <<<'{}'
on=("${served[@]}" "$node" "$bin" --auth-type openai --approval-mode yolo -p "Write artefact.txt")
off=("${on[@]}")
both ""

# ---- those without a sandbox of their own ----
have opencode opencode-ai
bin=$root/node_modules/.bin/opencode
clean
options=(--env OPENCODE_DISABLE_MODELS_FETCH=1)
seat .config/opencode/opencode.json <<JSON
{"model": "mock/mock", "small_model": "mock/mock", "autoupdate": false,
 "provider": {"mock": {"npm": "@ai-sdk/openai-compatible", "name": "mock",
   "options": {"baseURL": "http://127.0.0.1:$port/v1", "apiKey": "dummy"}, "models": {"mock": {"name": "mock"}}}}}
JSON
measure -- "${served[@]}" "$bin" run --auto "Write artefact.txt"
verdict "inside a domain" 0 NESTS ""
for vendor in openai-compat agent-loop proc; do
    clean
    bin=/bin/sh options=()
    measure -- /bin/sh -c 'echo done >artefact.txt'
    verdict "inside a domain" 0 NESTS ""
done
saphan matrix show | sed 's/^/# /'
[ -z "${SAPHAN_MATRIX_PAGE:-}" ] || saphan matrix report --html "$SAPHAN_MATRIX_PAGE"
finish
