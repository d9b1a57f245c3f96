#!/bin/bash
# droid.sh - droid: settings files alone decide; on anywhere is on.
. "$(dirname "$(readlink -f "$0")")/lib.sh"
have droid droid
droid=$root/node_modules/.bin/droid
options=(--env FACTORY_AIRGAP_ENABLED=true)
settings() { # ENABLED
    seat .factory/settings.json <<JSON
{"sandbox": {"enabled": $1, "mode": "per-command"}, "customModels": [{"model": "mock", "displayName": "mock",
 "baseUrl": "http://127.0.0.1:$port/v1", "apiKey": "dummy", "provider": "generic-chat-completion-api",
 "maxOutputTokens": 4000}]}
JSON
}
run() { turn -- "$W/with-model" "$droid" exec -m custom:mock-0 --auto high "$@" "Write artefact.txt"; }
fresh
settings false
run
green "off by the seat's settings"
reported
settings true
run
refused "on by the seat's settings" nested-sandbox-requested "the seat's .factory/settings.json: sandbox.enabled = true"
mended "on by the seat's settings"
run
green "after the remedy"
workspace .factory/settings.json <<<'{"sandbox": {"enabled": true, "mode": "per-command"}}'
run
refused "on by the workspace, over the seat" nested-sandbox-requested "the workspace's .factory/settings.json"
mended "on by the workspace"
run
green "after that remedy"

unchecked
fresh
settings true
run
nested "sandbox on, not judged before" "flags=0x" "comm=" "exe="
check_not "droid: and there is no artefact" test -e "$W/ws/artefact.txt"
settings false
run
green "sandbox off at the same daemon (control)"
finish
