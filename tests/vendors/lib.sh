# lib.sh - what every test of a real agent program sources: the program, a model server, turns.
#
# Programs are installed from npm once, into $SAPHAN_VENDORS (default /var/cache/saphan-tests/vendors),
# and stay there.  A turn runs in a leg: a wrapper starts the model server on the leg's own loopback,
# then becomes the vendor's command.  The turn uses the shell tool: some vendors write files in their
# own process, which their sandbox does not cover.
# What such a program leaves in /tmp, as the control of a cell too, goes with a /tmp of the script's own.
# shellcheck shell=bash disable=SC2034,SC2154
if [ -z "${SAPHAN_DAEMON_PID:-}${OWN_TMP:-}" ]; then
    export OWN_TMP=1
    keep=()
    for path in "${SAPHAN_VENDORS:-}" "${SAPHAN_IMAGES:-}" "${SAPHAN_MODEL:-}" "${SAPHAN_DAEMON_LOG:+$(dirname "$SAPHAN_DAEMON_LOG")}" \
        "${SAPHAN_MATRIX_PAGE:+$(dirname "$SAPHAN_MATRIX_PAGE")}"; do
        [ -z "$path" ] || keep+=(--keep "$path")
    done
    exec "$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")/own-tmp" "${keep[@]}" "$(readlink -f "$0")" "$@"
fi
# Seats lie outside the temporary folder: codex makes no links of its own beneath it.
E2E_BASE=/var/tmp
. "$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")/e2e/lib.sh"
vendors=${SAPHAN_VENDORS:-/var/cache/saphan-tests/vendors}
model=${SAPHAN_MODEL:-$TESTS/vendors/model.mjs}
LEG_SECONDS=180
port=47811

# not_measured WHY [OUTPUT]: this program cannot be had or run here; the rest of the script is left out.
not_measured() {
    printf '%s\n' "${2:-}" | tail -n 20 | sed 's/^/# /'
    skip "$vendor: not measured" "$1"
    finish
}

# have VENDOR PACKAGE: installs it if it is not there.  Sets $vendor, $root.  $npm_node: the folder of the
# node that it is for, where it is not the host's.
have() {
    local said
    vendor=$1 root=$vendors/$1
    command -v node >/dev/null && command -v npm >/dev/null || not_measured "node and npm are not installed"
    if [ ! -e "$root/node_modules/.bin" ]; then
        mkdir -p "$root"
        [ -e "$root/package.json" ] || echo '{"private": true}' >"$root/package.json"
        said=$(cd "$root" && PATH="${npm_node:+$npm_node:}$PATH" timeout 500 npm install --no-audit --no-fund --no-update-notifier "$2" 2>&1 </dev/null) ||
            not_measured "npm could not install $2" "$said"
    fi
    chmod -R a+rX "$root"
    cp "$model" "$T/model.mjs"
    program with-model <<'SH'
#!/bin/bash
# with-model COMMAND...: the model server, then the vendor's command, in this leg.
[ -z "${SETUP:-}" ] || . "$SETUP"
PORT=$PORT LOGF=/tmp/model.log ARTE="$PWD/artefact.txt" "$NODE" "$MODEL" >/dev/null 2>&1 &
for _ in $(seq 200); do (exec 3<>/dev/tcp/127.0.0.1/$PORT) 2>/dev/null && break; sleep 0.05; done
exec "$@"
SH
    options=() node=$(readlink -f "$(command -v node)")
}

# needs TOOL...: what the vendor's own sandbox wants of the machine, by the machine's package manager.
needs() {
    local tool said
    for tool; do
        command -v "$tool" >/dev/null && continue
        said=$(DEBIAN_FRONTEND=noninteractive timeout 300 apt-get install -y --no-install-recommends "$tool" 2>&1 </dev/null) ||
            echo "# $tool cannot be had: $(printf '%s\n' "$said" | tail -n 1)"
    done
}

# debian_root: a Debian root, made once; sets $debian.  procps and socat: droid and claude's sandboxes want them.
debian_root() {
    local said
    debian=${SAPHAN_IMAGES:-/var/cache/saphan-tests/images}/bookworm
    [ ! -e "$debian.made" ] || return 0
    command -v mmdebstrap >/dev/null || not_measured "mmdebstrap is not installed"
    rm -rf "$debian" && mkdir -p "$(dirname "$debian")"
    said=$(timeout 900 mmdebstrap --variant=minbase \
        --include=git,ca-certificates,nodejs,bubblewrap,socat,procps,python3-minimal bookworm "$debian" 2>&1 </dev/null) ||
        not_measured "mmdebstrap could not make a root" "$said"
    touch "$debian.made"
}

# leg: as in e2e, and each line of $T/json is stamped with when it came: $T/stamps.
leg() {
    (cd "$W" && as_user timeout -k 5 "${LEG_SECONDS:-60}" saphan run --json "$@" </dev/null 2>"$T/client"
        echo $? >"$T/rc") | python3 -u -c '
import sys, time
with open(sys.argv[1], "w") as stamps:
    for line in sys.stdin:
        stamps.write("%d\n" % (time.time_ns() // 1000000))
        sys.stdout.write(line)' "$T/stamps" >"$T/json"
    rc=$(cat "$T/rc")
    _written stdout >"$T/out"
    { _written stderr; cat "$T/client"; } >"$T/err"
}
# From the call (when pid 1 of the leg had it: it stood still until then) to the client, in milliseconds.
told_after() {
    paste -d ' ' "$T/stamps" "$T/json" | sed -n 's/^\([0-9]*\) \({.*"event":"denied".*"nested-sandbox".*\)/\1 \2/p' | head -n 1 |
        { read -r came event && echo $((came - $(jq -r .first_ms <<<"$event"))); }
}

# fresh: an empty seat and workspace, a git repository, the user's.  What files of settings the test
# wants, it puts there then.
fresh() {
    rm -rf "$W/ws" "$W/seat"
    mkdir -p "$W/ws" "$W/seat"
    git -C "$W/ws" init -q
    owned "$W/ws" "$W/seat"
}
seat() { # FILE: from standard input
    mkdir -p "$(dirname "$W/seat/$1")"
    cat >"$W/seat/$1"
    owned "$W/seat"
}
workspace() { # FILE: from standard input
    mkdir -p "$(dirname "$W/ws/$1")"
    cat >"$W/ws/$1"
    owned "$W/ws"
}

codex_settings() { # [BASE-URL [FIRST-LINE]]: on standard output
    cat <<TOML
${2:-}
model = "mock"
model_provider = "mock"
check_for_update_on_startup = false
[model_providers.mock]
name = "mock"
base_url = "${1:-http://127.0.0.1:$port/v1}"
wire_api = "responses"
env_key = "MOCK_KEY"
TOML
}

# turn [SAPHAN-OPTION...] -- COMMAND...: one turn of the vendor in a leg.
turn() {
    rm -f "$W/ws/artefact.txt"
    leg --vendor "$vendor" --workspace "$W/ws" --seat "$W/seat" --read "$T/model.mjs" \
        --read "$W/with-model" --artefact artefact.txt --limit "wall=${wall:-150s}" --env "MODEL=$T/model.mjs" \
        --env "PORT=$port" --env "NODE=$node" "${options[@]}" "$@"
}

# remedy: what the refusal said to give to saphan run, as it stands there.
remedy() { jq -rs "$_judged | .reasons[0].detail" "$T/json" | sed -n 's/.*; give saphan run: //p'; }
detail() { jq -rs "$_judged | (.reasons // []) | map(select(.reason == \"$1\")) | .[0].detail // \"\"" "$T/json"; }
detail_has() { # REASON TEXT
    case "$(detail "$1")" in *"$2"*) ;; *) detail "$1"; return 1 ;; esac
}

# reported: the last turn's report holds the vendor's version, its package and whether a permission file reached it.
reported() {
    local notes
    notes=$(jq -r 'select(.event == "note") | (.subject // "") + " " + (.detail // "")' "$T/json")
    check "$vendor: its version is told" grep -E "$vendor says it is .*, sha256 [0-9a-f]{64}; its profile was measured on" <<<"$notes"
    grep -o "$vendor says it is .*" <<<"$notes" | sed 's/^/# /'
    check "$vendor: its package was granted by itself" grep -F "$root/node_modules granted by itself: read" <<<"$notes"
    check "$vendor: and whether a permission file reached it" grep -E "permission file reached $vendor" <<<"$notes"
}

# green NAME: of the last turn; with the artefact on disk.
green() {
    expect "$vendor: $1: GREEN" 0 GREEN
    check "$vendor: $1: and the artefact is there" test -s "$W/ws/artefact.txt"
}
# refused NAME REASON TEXT: of the last turn, and its detail says TEXT.
refused() {
    expect "$vendor: $1: REFUSED $2" 125 REFUSED "$2"
    check "$vendor: $1: and it names where" detail_has "$2" "$3"
    check_not "$vendor: $1: and nothing ran" test -e "$W/ws/artefact.txt"
}
# pasted NAME: the remedy of the last refusal, pasted as it stands.
pasted() {
    local words
    words=$(remedy)
    [ -n "$words" ] || not_ok "$vendor: $1: there is a remedy" "$(told)"
    eval "turn $words"
    green "$1: the pasted remedy works"
}

# mended NAME: what the last refusal said to run first is run; the caller then tries again.
mended() {
    local words
    words=$(detail nested-sandbox-requested | sed -n 's/.*; first run: //p')
    [ -n "$words" ] || not_ok "$vendor: $1: there is a remedy" "$(told)"
    check "$vendor: $1: the remedy can be run" as_user sh -c "$words"
}

# unchecked: from here on, turns go to a daemon whose policy does not judge before the start.
unchecked() {
    policy "$LEG_USER" Test-Only-Start-With-Nested-Sandbox=yes >"$T/unchecked.policy"
    start_daemon "$T/unchecked" || not_ok "a daemon without the check starts" "$(cat "$T/unchecked.log")"
    export SAPHAN_SOCKET=$T/unchecked/saphan.sock
}
# nested NAME TEXT...: RED nested-sandbox, and its detail names the call and the program.
nested() {
    local name=$1 text
    shift
    check "$vendor: $name: RED" [ "$(colour)" = RED ]
    if has_reason nested-sandbox; then
        ok "$vendor: $name: nested-sandbox, whatever it said and exited with ($rc)"
    else
        not_ok "$vendor: $name: nested-sandbox" "$(told)"
    fi
    for text; do check "$vendor: $name: and it names $text" detail_has nested-sandbox "$text"; done
    echo "# $vendor: $name: told $(told_after) ms after the call"
    check "$vendor: $name: within a second of the call" [ "$(told_after)" -lt 1000 ]
}
