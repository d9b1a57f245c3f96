#!/bin/bash
# codex.sh - a real agent: one turn of `codex exec` inside a leg, against a model server on the leg's own
# loopback.  With its own sandbox off: GREEN with its artefact.  With it on: it cannot nest, codex ends
# with 0 all the same, and the verdict is RED artefact-absent.
# codex makes no links of its own beneath the temporary folder: seat and workspace lie elsewhere.
E2E_BASE=/var/tmp
. "$(dirname "$(dirname "$(readlink -f "$0")")")/e2e/lib.sh"
top=$(dirname "$TESTS")
vendors=$SAPHAN_BUILD/vendors
model=$top/../shared/vendors/mock-model.mjs

if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
    skip "codex with its sandbox off: GREEN" "node and npm are not installed"
    skip "codex with its sandbox on: RED artefact-absent" "node and npm are not installed"
    finish
fi
if [ ! -e "$model" ]; then
    skip "codex with its sandbox off: GREEN" "the model server (../shared/vendors/mock-model.mjs) is not beside the tree"
    skip "codex with its sandbox on: RED artefact-absent" "the model server is not beside the tree"
    finish
fi
if [ ! -x "$vendors/node_modules/.bin/codex" ]; then
    mkdir -p "$vendors"
    if ! said=$(cd "$vendors" && npm install --no-audit --no-fund --no-update-notifier --prefix . @openai/codex 2>&1); then
        not_ok "npm installs @openai/codex" "$(tail -n 5 <<<"$said")"
        finish
    fi
fi
chmod -R a+rX "$vendors"
cp "$model" "$T/model.mjs"
program turn <<'SH'
#!/bin/bash
# turn SANDBOX-OPTION...: the model server, then one turn, in this leg.
port=47811
PORT=$port LOGF="$HOME/model.log" ARTE="$PWD/artefact.txt" node "$MODEL" >/dev/null 2>&1 &
for _ in $(seq 100); do (exec 3<>/dev/tcp/127.0.0.1/$port) 2>/dev/null && break; sleep 0.1; done
mkdir -p "$HOME/.codex"
cat >"$HOME/.codex/config.toml" <<TOML
model = "mock"
model_provider = "mock"
check_for_update_on_startup = false
[model_providers.mock]
name = "mock"
base_url = "http://127.0.0.1:$port/v1"
wire_api = "responses"
env_key = "MOCK_KEY"
TOML
MOCK_KEY=dummy "$CODEX" exec --skip-git-repo-check --disable plugins --disable apps \
    -c analytics.enabled=false -c otel.exporter=none "$@" "Write artefact.txt" </dev/null
status=$?
exit $status
SH
LEG_SECONDS=180
codex=$(readlink -f "$vendors/node_modules/.bin/codex")
turn() { # SANDBOX-OPTION...
    rm -rf "$W/ws" "$W/seat"
    mkdir -p "$W/ws" "$W/seat"
    owned "$W/ws" "$W/seat"
    leg --workspace "$W/ws" --seat "$W/seat" --read "$vendors" --read "$T/model.mjs" --read "$W/turn" \
        --artefact artefact.txt --limit wall=150s \
        --env "MODEL=$T/model.mjs" --env "CODEX=$codex" -- "$W/turn" "$@"
}
turn --dangerously-bypass-approvals-and-sandbox
expect "codex with its sandbox off: GREEN" 0 GREEN
check "and the artefact is there" test -s "$W/ws/artefact.txt"
turn -s workspace-write
check "codex with its sandbox on: RED" [ "$(colour)" = RED ]
check "whatever codex said and exited with ($rc): artefact-absent" has_reason artefact-absent
check_not "and there is no artefact" test -e "$W/ws/artefact.txt"
finish
