#!/bin/bash
# matrix_container.sh - cells of real agent programs in a container, their own sandbox on and off, measured by
# the product itself: a Debian image with all of them in it, by a policy with Nested=allow.
# SAPHAN_MATRIX_VENDORS: some of them.
. "$(dirname "$(readlink -f "$0")")/lib.sh"
. "$(dirname "$(readlink -f "$0")")/cells.sh"
some=(${SAPHAN_MATRIX_VENDORS:-${all_vendors[@]}})
have node22 node@22
node22=$(readlink -f "$root/node_modules/.bin/node") npm_node=$root/node_modules/node/bin
needs socat bwrap

# ---- the image: a Debian root, made once, and the programs as links to what npm installed ----
debian_root
agents=$(mktemp -d "$(dirname "$debian")/agents.XXXXXX")
trap 'rm -rf "$agents"; _end' EXIT
chmod 755 "$agents"
for part in "$debian"/*; do [ "${part##*/}" = opt ] || cp -al "$part" "$agents/"; done
mkdir -p "$agents/opt" "$agents/usr/local/bin"
cp -al "$node22" "$agents/usr/local/bin/node"
for vendor in "${some[@]}"; do
    [ -n "$(package_of "$vendor")" ] || continue
    have "$vendor" "$(package_of "$vendor")"
    mkdir "$agents/opt/$vendor"
    cp -al "$root/node_modules" "$agents/opt/$vendor/"
done
have node22 node@22
policy "$LEG_USER root" Measure=yes Boundary=container 'Image=*' Image-Add=yes >"$T/plain.policy"
policy "$LEG_USER root" Measure=yes Boundary=container 'Image=*' Image-Add=yes Nested=allow >"$T/nested.policy"
start_daemon "$T/nested" || not_ok "a daemon starts" "$(cat "$T/nested.log")"
export SAPHAN_SOCKET=$T/nested/saphan.sock
check "the image of the agents is added" timeout 400 saphan image add agents "$agents"
inside=(--boundary container --image agents --user 1000:1000 --env NODE=/usr/local/bin/node)

# Those whose sandbox first makes files of its own in .claude or .git of the workspace, which are carved out
# ("bwrap: Can't create file at ...: Read-only file system", told to the model alone), do no work in it.
wanted_on() { # VENDOR: RC VERDICT WORDS
    case $1 in
    droid | claude-code) echo 112 COLLIDES SILENT ;;
    copilot) echo 112 COLLIDES SILENT ;; # no /dev/net/tun, no slirp4netns
    *) echo 0 NESTS "" ;;
    esac
}
one() { # STATE [PREPARE]
    control_of "$vendors/$vendor" "$node22"
    fresh
    "vendor_$vendor" "$1" "/opt/$vendor" /usr/local/bin/node "$W/seat"
    prepare=${2:-}
    measure "${inside[@]}" -- "$W/with-model" "${command[@]}" :: "${control[@]}"
}
its_own_files() { # in the workspace
    mkdir -p "$1"/.claude/{commands,agents,skills}
    echo '{}' | tee "$1/.claude/settings.json" >"$1/.claude/settings.local.json"
}
for vendor in "${some[@]}"; do
    can_sandbox "$vendor" || continue
    if has_sandbox "$vendor"; then
        one on
        read -r wanted_rc wanted words <<<"$(wanted_on "$vendor")"
        verdict "its sandbox on, in a container" "$wanted_rc" "$wanted" "$words"
        if [ "$vendor" = droid ]; then
            one on its_own_files
            verdict "its sandbox on, in a container, what it would make being there" 0 NESTS ""
        fi
    fi
    one off
    verdict "$(has_sandbox "$vendor" && echo "its sandbox off, ")in a container" 0 NESTS ""
    [ -z "$(package_of "$vendor")" ] || check "$vendor: the cell names its version and its image" \
        sh -c "jq -es 'map(select(.event == \"verdict\"))[0] | (.vendor_version | test(\"[0-9]\")) and (.identity | test(\"^image sha256:\"))' '$T/json'"
done

# Without Nested=allow the same sandbox is what collides, and not the image.
vendor=codex
if [[ " ${some[*]} " == *" codex "* ]]; then
    saphan matrix export >"$T/cells"
    start_daemon "$T/plain" || not_ok "a daemon starts" "$(cat "$T/plain.log")"
    export SAPHAN_SOCKET=$T/plain/saphan.sock
    check "the image is added to a saphand without Nested=allow" timeout 400 saphan image add agents "$agents"
    one on
    verdict "its sandbox on, in a container without Nested=allow" 112 COLLIDES SILENT
    export SAPHAN_SOCKET=$T/nested/saphan.sock
fi
saphan matrix show | sed 's/^/# /'
[ -z "${SAPHAN_MATRIX_PAGE:-}" ] || saphan matrix report --html "$SAPHAN_MATRIX_PAGE"
finish
