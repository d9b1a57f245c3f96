#!/bin/bash
# copilot.sh - copilot: --no-sandbox outranks its settings file, and must be given.
. "$(dirname "$(readlink -f "$0")")/lib.sh"
have copilot @github/copilot
copilot=$root/node_modules/.bin/copilot
needs slirp4netns iptables
options=(--env COPILOT_OFFLINE=true --env COPILOT_PROVIDER_BASE_URL=http://127.0.0.1:$port/v1
    --env COPILOT_MODEL=gpt-4.1 --env COPILOT_PROVIDER_API_KEY=dummy)
run() { turn -- "$W/with-model" "$copilot" --allow-all-tools "$@" -p "Write artefact.txt"; }
fresh
seat .copilot/settings.json <<<'{"sandbox": {"enabled": true}}'
run --no-sandbox
green "--no-sandbox over the seat's settings"
reported
run
refused "no switch" nested-sandbox-requested "files that a leg can change"
pasted "no switch"
run --sandbox
refused "--sandbox" nested-sandbox-requested "the command: --sandbox = true"
pasted "--sandbox"

unchecked
# iptables lies where an ordinary user's PATH does not lead; the one that speaks nftables opens a netlink
# socket even for its version, which a leg is refused (and told).
mkdir "$W/legacy"
for tool in iptables iptables-restore ip6tables ip6tables-restore; do
    ln -s "/usr/sbin/${tool/tables/tables-legacy}" "$W/legacy/$tool"
done
owned "$W/legacy"
options+=(--read "$W/legacy" --env "PATH=$W/legacy:/usr/local/bin:/usr/bin:/bin")
run --sandbox
if has_reason nested-sandbox; then
    nested "sandbox on, not judged before" "flags=0x" "comm=" "exe="
else
    # Where it finds no slirp4netns, iptables or /dev/net/tun it stops before its first such call.
    check "copilot: sandbox on, not judged before: RED" [ "$(colour)" = RED ]
    check "copilot: sandbox on, not judged before: it made no call, and names what it lacks" \
        grep -qE 'slirp4netns|iptables|net/tun' "$T/out" "$T/err"
fi
check_not "copilot: and there is no artefact" test -e "$W/ws/artefact.txt"
run --no-sandbox
green "sandbox off at the same daemon (control)"
finish
