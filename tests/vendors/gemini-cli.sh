#!/bin/bash
# gemini-cli.sh - gemini: two sandboxes; the one around the tools is reached by settings files alone.
. "$(dirname "$(readlink -f "$0")")/lib.sh"
have gemini-cli @google/gemini-cli
gemini=$root/node_modules/.bin/gemini
options=(--env GEMINI_API_KEY=dummy --env GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:$port)
run() {
    turn -- "$W/with-model" "$gemini" -m gemini-2.5-flash --approval-mode yolo --skip-trust "$@" -p "Write artefact.txt"
}
settings() { # TOOLSANDBOXING SANDBOX
    seat .gemini/settings.json <<<"{\"security\": {\"auth\": {\"selectedType\": \"gemini-api-key\"}, \"toolSandboxing\": $1}, \"tools\": {\"sandbox\": $2}}"
}
fresh
settings false false
run
green "both off by the seat's settings"
reported
check_not "gemini-cli: and its settings were left alone" grep -q profile-rewritten "$T/json"
settings true false
run
refused "tool sandbox by the seat's settings" nested-sandbox-requested "the seat's .gemini/settings.json: security.toolSandboxing = true"
mended "tool sandbox by the seat's settings"
run
green "after the remedy"
settings false true
run
refused "container by the seat's settings" nested-sandbox-requested "tools.sandbox = true"
pasted "container by the seat's settings"
run -s
refused "--sandbox" nested-sandbox-requested "the command: --sandbox = true"
pasted "--sandbox"
seat .gemini/settings.json <<<'{ // a comment
}'
run
refused "settings that are not JSON" settings-unreadable "not JSON"

unchecked
settings true false
run
nested "sandbox on, not judged before" "flags=0x" "comm=" "exe="
check_not "gemini-cli: and there is no artefact" test -e "$W/ws/artefact.txt"
settings false false
run
green "sandbox off at the same daemon (control)"
finish
