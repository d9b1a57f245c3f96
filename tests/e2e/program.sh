#!/bin/bash
# program.sh - a vendor's program found through search path, links and node_modules: what it needs to see
# becomes read grants by itself, and what the leg could write on the way to it is refused by name.
. "$(dirname "$(readlink -f "$0")")/lib.sh"
mkdir -p "$T/vendors"
for name in parrot sparrow; do
    printf '[vendor]\nName=%s\nProgram=parrot\nSandbox=none\n' $name >"$T/vendors/$name.vendor"
done
echo Package=yes >>"$T/vendors/parrot.vendor"
printf '[vendor]\nName=macaw\nProgram=macaw\nVersion=--version\nMeasured=1.2 2026-11-30\nSandbox=on\nPackage=yes\n[switch cage]\nFlag=--free\nOff=true\n' >"$T/vendors/macaw.vendor"
serve() { # NAME POLICY...
    printf '%s\n' "${@:2}" >"$T/$1.policy"
    start_daemon "$T/$1" --vendors "$T/vendors" || not_ok "the daemon $1 starts" "$(cat "$T/$1.log")"
    export SAPHAN_SOCKET=$T/$1/saphan.sock
}
# An installation as a package manager makes it: a link in bin, the package and its sibling in node_modules, an
# interpreter with a tree of its own that only PATH knows.
install_at() { # DIR
    mkdir -p "$1/bin" "$1/lib/node_modules/parrot" "$1/lib/node_modules/seed" "$1/rt/bin" "$1/rt/lib/node_modules"
    ln -sfn ../lib/node_modules/parrot/parrot.sh "$1/bin/parrot"
    ln -sfn rt "$1/current"
    printf '#!/usr/bin/env crackle\ncat "$(dirname "$(readlink -f "$0")")/../seed/words"\n%s\n' '[ -z "${TRY:-}" ] || eval "$TRY"' \
        >"$1/lib/node_modules/parrot/parrot.sh"
    echo polly >"$1/lib/node_modules/seed/words"
    printf '#!/bin/sh\n. "$(dirname "$0")/../share"\nexec sh "$@"\n' >"$1/rt/bin/crackle"
    echo : >"$1/rt/share"
    chmod 755 "$1/lib/node_modules/parrot/parrot.sh" "$1/rt/bin/crackle"
}
install_at "$W/app"
owned "$W/app"
mkdir "$W/ws" && owned "$W/ws"
path() { echo "PATH=$1/bin:$1/current/bin:/usr/bin:/bin"; }
granted() { jq -r 'select(.event == "note" and ((.detail // "") | startswith("granted by itself"))) | .subject' "$T/json" | sort | tr '\n' ' '; }
detail_has() { # REASON TEXT
    jq -rs "$_judged | .reasons[] | select(.reason == \"$1\") | .detail" "$T/json" | grep -qF -- "$2" || { told; return 1; }
}
serve plain "$(policy "$LEG_USER root")"
leg --vendor parrot --env "$(path "$W/app")" -- parrot
expect "found by PATH, through a link, nothing granted by hand: GREEN" 0 GREEN
equal "and it read its package's sibling" polly "$(output)"
equal "its package and its interpreter's tree were granted, and that is told" \
    "$W/app/lib/node_modules $W/app/rt " "$(granted)"
mkdir -p "$W/app/lib/node_modules/.bin" && ln -s ../parrot/parrot.sh "$W/app/lib/node_modules/.bin/parrot" && owned "$W/app"
leg --vendor parrot --env "$(path "$W/app")" -- "$W/app/lib/node_modules/.bin/parrot"
expect "by a link within the package" 0 GREEN
leg --vendor sparrow --env "$(path "$W/app")" -- parrot
expect "control: without Package=yes the leg sees no such program" 127 REFUSED command-not-found
leg --vendor parrot --env "$(path "$W/app")" -- "$W/app/bin/parrot"
expect "by its absolute path" 0 GREEN
leg --vendor parrot --env "$(path "$W/app")" --read "$W/app" --chdir "$W/app/lib" -- ../bin/parrot
expect "by a relative one" 0 GREEN
equal "what the requester granted is not granted again" "" "$(granted)"
leg --vendor parrot --env PATH=/usr/bin:/bin -- "$W/app/current/bin/crackle" "$W/app/bin/parrot"
expect "an interpreter that the command gives" 0 GREEN
equal "is the one that is granted" "$W/app/lib/node_modules $W/app/rt " "$(granted)"
id=$(jq -rs 'map(select(.event == "accepted"))[0].leg' "$T/json")
check "leg show tells of them" bash -c "saphan leg show $id | grep -q 'granted by itself: read, the package'"
check "and why says that the grant decides" bash -c "saphan why $id $W/app/lib/node_modules/seed/words | grep -q 'read grant'"
(cd "$W" && as_user saphan run --vendor parrot --env "$(path "$W/app")" -- parrot) >"$T/text" 2>&1 </dev/null
check "people are told too" grep -qF "note: $W/app/lib/node_modules: granted by itself: read" "$T/text"
mkdir "$W/home" && printf '#!/bin/sh\nexit 0\n' >"$W/home/parrot" && chmod 755 "$W/home/parrot" && echo '{}' >"$W/package.json" && owned "$W"
leg --vendor parrot -- "$W/home/parrot"
expect "a single file" 0 GREEN
rm "$W/package.json"

# ---- the policy's ceiling ----
serve narrow "$(policy "$LEG_USER" | sed "s|^Read=.*|Read=$W/ws $W/app/rt|")"
leg --vendor parrot --env "$(path "$W/app")" -- parrot
expect "a package outside the read ceiling" 125 REFUSED grant-outside-ceiling
check "is named, and what it is" detail_has grant-outside-ceiling "needed: read $W/app/lib/node_modules, the package"
serve wide "$(policy "$LEG_USER" | sed "s|^Read=.*|Read=$W/app|")"
leg --vendor parrot --env "$(path "$W/app")" -- parrot
expect "control: within it" 0 GREEN

# ---- custody ----
export SAPHAN_SOCKET=$T/plain/saphan.sock
refused() { # NAME PATH ARG...
    local name=$1 path=$2
    shift 2
    leg --vendor parrot "$@"
    expect "$name" 125 REFUSED custody-vendor-writable
    check "$name: it is named" detail_has custody-vendor-writable "$path: on the way"
}
refused "the program itself, in a write grant" "$W/app/lib/node_modules/parrot/parrot.sh" \
    --env "$(path "$W/app")" --write "$W/app/lib" -- parrot
refused "its folder alone" "$W/app/lib/node_modules/parrot/parrot.sh" \
    --env "$(path "$W/app")" --write "$W/app/lib/node_modules/parrot" -- parrot
refused "the link that leads to it" "$W/app/bin/parrot" --env "$(path "$W/app")" --write "$W/app/bin" -- parrot
refused "its interpreter" "$W/app/rt/bin/crackle" --env "$(path "$W/app")" --write "$W/app/rt" -- parrot
refused "a link in the way to its interpreter, by a directory that is not normal" "$W/app/current" \
    --env "$(path "$W/app")" --write "$W/app" --read "$W/app/lib" --read "$W/app/rt" --read "$W/app/bin" \
    --chdir "$W/app/./lib" -- ../bin/parrot
install_at "$W/ws/own" && owned "$W/ws"
refused "an installation in the workspace" "$W/ws/own/rt/bin/crackle" --env "$(path "$W/ws/own")" \
    --workspace "$W/ws" -- "$W/ws/own/bin/parrot"
check "control: the leg of another vendor's profile writes there" as_user test -w "$W/ws/own/bin"
leg --workspace "$W/ws" -- /bin/sh -c "echo '#!/bin/sh' >$W/ws/own/lib/node_modules/parrot/parrot.sh"
expect "control: such a leg could have written it" 0 GREEN
check "control: and did" [ "$(cat "$W/ws/own/lib/node_modules/parrot/parrot.sh")" = '#!/bin/sh' ]
mkdir "$T/root" && install_at "$T/root/app"
leg --vendor parrot --env "$(path "$T/root/app")" --write "$T/root" -- parrot
expect "control: a write grant whose requester may not write there is no danger" 0 GREEN
chmod 1777 "$T/root"
leg --vendor parrot --env "$(path "$T/root/app")" --write "$T/root" -- parrot
expect "nor is a folder with the sticky bit, whose entry is another's" 0 GREEN
chmod 777 "$T/root"
refused "without that bit" "$T/root" --env "$(path "$T/root/app")" --write "$T/root" -- parrot
chmod 755 "$T/root"
chown "$leg_uid" "$T/root/app/lib/node_modules/parrot/parrot.sh"
chmod 555 "$T/root/app/lib/node_modules/parrot/parrot.sh"
refused "a file that it owns and has only to chmod" "$T/root/app/lib/node_modules/parrot/parrot.sh" \
    --env "$(path "$T/root/app")" --write "$T/root" -- parrot

# ---- its version, said by itself in a leg ----
mkdir "$W/macaw" && cat >"$W/macaw/macaw" <<'SH2'
#!/bin/sh
if [ "$1" = --version ]; then
    [ -z "$TRACE" ] || echo seen >"$TRACE"
    touch /etc/macaw /var/tmp/macaw "$(dirname "$0")/mark" 2>/dev/null
    echo "macaw 1.2 in leg ${SAPHAN_LEG:-none}$(printf '\033[31m')"
    echo more
fi
exit 0
SH2
chmod 755 "$W/macaw/macaw" && owned "$W/macaw"
serve versions "$(policy "$LEG_USER root")"
legs_of_version() { saphan legs --all --json | jq -s '[.. | objects | select(.argv? and (.argv | index("--version")))] | length'; }
version() { jq -r 'select(.event == "note" and ((.detail // "") | startswith("macaw "))) | .detail' "$T/json"; }
leg --vendor macaw -- "$W/macaw/macaw" --free
expect "a vendor whose profile says how to ask its version" 0 GREEN
sum=$(sha256sum <"$W/macaw/macaw" | cut -d ' ' -f 1)
check "what it says is told, escaped, with the binary's hash and what its profile was measured on" \
    grep -qE "^macaw says it is macaw 1.2 in leg [0-9]+.x1b.31m, sha256 $sum; its profile was measured on it: 1.2 2026-11-30\$" <(version)
said_in=$(version | sed -n 's/.*in leg \([0-9]*\).*/\1/p')
check "it was said in a leg of its own" [ "$said_in" != "$(jq -rs 'map(select(.event == "accepted"))[0].leg' "$T/json")" ]
check "which has its row" bash -c "saphan leg show $said_in | grep -q -- '--version'"
check_not "and could write nothing" test -e "$W/macaw/mark" -o -e /etc/macaw -o -e /var/tmp/macaw
equal "asked once" 1 "$(legs_of_version)"
leg --vendor macaw -- "$W/macaw/macaw" --free
check "the next leg is told the same" grep -q "in leg $said_in" <(version)
equal "without asking again" 1 "$(legs_of_version)"
leg --vendor macaw -- "$W/macaw/macaw"
expect "a leg that is refused asks nothing" 125 REFUSED nested-sandbox-requested
cp "$W/macaw/macaw" "$W/macaw/new" && sed -i 's/1\.2/1.3/' "$W/macaw/new" && mv "$W/macaw/new" "$W/macaw/macaw" && owned "$W/macaw"
pids=()
for i in 1 2 3; do
    (cd "$W" && as_user saphan run --json --vendor macaw -- "$W/macaw/macaw" --free) >"$T/json.$i" 2>&1 </dev/null &
    pids+=($!)
done
wait "${pids[@]}"
check "another binary is asked again, by three legs at once" bash -c "for i in 1 2 3; do grep -q 'macaw 1.3 in leg .* measured on another: 1.2' $T/json.\$i || exit 1; done"
equal "once" 2 "$(legs_of_version)"
printf '#!/bin/sh\n[ "$1" != --version ] || exit 3\n' >"$W/macaw/macaw"
leg --vendor macaw -- "$W/macaw/macaw" --free
expect "one that cannot say it runs all the same" 0 GREEN
check "and why it is not known is told" grep -q '^macaw did not say its version: exit-status, sha256' <(version)
printf '#!/bin/sh\nunshare --user true; echo macaw 9\n' >"$W/macaw/macaw"
leg --vendor macaw -- "$W/macaw/macaw" --free
check "one that builds a sandbox to say it is not believed" grep -q '^macaw did not say its version: nested-sandbox' <(version)
finish
