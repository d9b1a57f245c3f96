#!/bin/bash
# matrix.sh - cells of real agent programs in a domain, measured by the product itself: what is known comes
# out.  SAPHAN_MATRIX_VENDORS: some of them.
. "$(dirname "$(readlink -f "$0")")/lib.sh"
. "$(dirname "$(readlink -f "$0")")/cells.sh"

policy "$LEG_USER root" Measure=yes >"$T/measure.policy"
start_daemon "$T/measure" || not_ok "a daemon that lets measure starts" "$(cat "$T/measure.log")"
export SAPHAN_SOCKET=$T/measure/saphan.sock
have node22 node@22
node22=$(readlink -f "$root/node_modules/.bin/node") npm_node=$root/node_modules/node/bin
needs socat bwrap

# What the vendor's own sandbox says when a domain refuses it.
collides_with() { case $1 in codex | gemini-cli | droid) echo SILENT ;; esac; }
for vendor in ${SAPHAN_MATRIX_VENDORS:-${all_vendors[@]}}; do
    can_sandbox "$vendor" || continue
    bin=/bin/sh root=/ node=$node22
    if [ -n "$(package_of "$vendor")" ]; then
        have "$vendor" "$(package_of "$vendor")"
        bin=$root/node_modules/.bin/$(program_of "$vendor") node=$node22
    fi
    fresh
    with=(--bin "$bin" --read "$(dirname "$(dirname "$node22")")" --env "NODE=$node22")
    if has_sandbox "$vendor"; then
        "vendor_$vendor" on "$root" "$node22" "$W/seat"
        measure "${with[@]}" -- "$W/with-model" "${command[@]}"
        verdict "its sandbox on, inside a domain" 112 COLLIDES "$(collides_with "$vendor")"
        check "$vendor: and outside of it the same turn passes" \
            sh -c "jq -es 'map(select(.event == \"verdict\"))[0].arms[5].outcome == \"held\"' '$T/json'"
        fresh
    fi
    control_of "$root" "$node22"
    "vendor_$vendor" off "$root" "$node22" "$W/seat"
    if [ "$vendor" = codex ]; then
        measure "${with[@]}" -- "$W/with-model" "${command[@]}"
        verdict "its bypass without a boundary is refused" 113 INDETERMINATE "bypass-without-boundary"
    fi
    measure "${with[@]}" -- "$W/with-model" "${command[@]}" :: "${control[@]}"
    verdict "$(has_sandbox "$vendor" && echo "its sandbox off, ")inside a domain" 0 NESTS ""
    [ -z "$(package_of "$vendor")" ] || check "$vendor: the cell has its version and its hash" \
        sh -c "jq -es 'map(select(.event == \"verdict\"))[0] | (.vendor_version | test(\"[0-9]\")) and (.sha256 | length) == 64' '$T/json'"
done
saphan matrix show | sed 's/^/# /'
[ -z "${SAPHAN_MATRIX_PAGE:-}" ] || saphan matrix report --html "$SAPHAN_MATRIX_PAGE"
finish
