#!/bin/bash
# A client in another language, written from PROTOCOL.md alone: paths instead of descriptors, output
# as events, a verdict.
. "$(dirname "$(readlink -f "$0")")/lib.sh"

if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
    skip "a leg by the client in Node" "node and npm are not installed"
    finish
fi

client=$SAPHAN_BUILD/node-client
mkdir -p "$client"
cp "$TESTS"/node-client/*.mjs "$TESTS"/node-client/package*.json "$TESTS/../proto/saphan.proto" "$client"
if ! cmp -s "$client/package-lock.json" "$client/node_modules/.installed-lock"; then
    (cd "$client" && npm ci --ignore-scripts --no-audit --no-fund) >"$T/npm" 2>&1 || {
        not_ok "npm installs protobufjs" "$(tail -n 20 "$T/npm")"
        finish
    }
    cp "$client/package-lock.json" "$client/node_modules/.installed-lock"
fi
cp -r "$client" "$T/client" # where the user may read it, wherever the build is

# node_run ARG...: run.mjs as the user; its status in $rc, the verdict's JSON in $T/verdict.
node_run() {
    as_user env SAPHAN_PROTO="$T/client/saphan.proto" timeout 60 node "$T/client/run.mjs" "$@" \
        >"$T/out" 2>"$T/err"
    rc=$?
    tail -n 1 "$T/out" >"$T/verdict"
}
said() { jq -r "$1" "$T/verdict"; }

node_run --artefact report "$W" /bin/sh -c 'echo to output; echo to error >&2; echo done >report'
equal "the client's status is 0" 0 "$rc"
equal "standard output came as events" "to output" "$(head -n 1 "$T/out")"
equal "standard error came as events" "to error" "$(cat "$T/err")"
equal "the verdict is GREEN" GREEN "$(said .verdict.colour)"
equal "the artefact is on disk, the user's" "done $LEG_USER" "$(cat "$W/report") $(stat -c %U "$W/report")"
equal "claims name the rungs that backed them" true \
    "$(said '[.verdict.claims[] | (.rungs | length) > 0] | length > 0 and all')"

node_run --artefact missing "$W" /bin/true
equal "a liar that exits 0: status 112" 112 "$rc"
equal "a liar that exits 0: RED artefact-absent" "RED artefact-absent" \
    "$(said '"\(.verdict.colour) \(.verdict.reasons[0].slug)"')"

node_run "$W" /bin/sh -c 'exit 7'
equal "the program's own status" 7 "$rc"

node_run "$W" /bin/sh -c 'head -c 3000000 /dev/zero | tr "\0" x; echo'
equal "three megabytes of output come whole" 3000001 "$(head -n 1 "$T/out" | wc -c)"

node_run "$T/nowhere" /bin/true
equal "a workspace that does not exist: status 125" 125 "$rc"
equal "a workspace that does not exist: refused by name" grant-absent "$(said '.refused.reasons[0].slug')"

SAPHAN_SOCKET=$T/nobody node_run "$W" /bin/true
equal "no saphand: status 125" 125 "$rc"
finish
