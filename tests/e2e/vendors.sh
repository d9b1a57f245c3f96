#!/bin/bash
# vendors.sh - an invented vendor, which is one file: what its profile refuses, tells and lets pass.
. "$(dirname "$(readlink -f "$0")")/lib.sh"
mkdir -p "$T/vendors"
cat >"$T/vendors/parrot.vendor" <<'INI'
[vendor]
Name=parrot
Program=parrot
Measured=1.0 2026-11-30
Sandbox=on
Bypass=--fly
Remedy=--cage off
Moves-Settings=PARROT_HOME
Settings-File=.parrot/settings.json
Permission-File=.parrot/permissions
[switch drop-in]
Settings=DROPIN/*.json
Key=cage.closed
On=true
Ignore=false
[switch nest]
Settings=workspace:.parrot/nest.json
Key=nest
On=true
Ignore=false
[switch cage]
Flag=--cage
Takes=value
On=closed
Off=off
[switch file]
Settings=home:.parrot/settings.json
Key=cage.closed
On=true
Off=false
[probe look]
Call=unshare
Flags=0x50000000
Comm=unshare
[budget seeds]
Flag=--seeds
Exit=53
[budget water]
Flag=--water
Exit=54
Uncertain=yes
[steer song]
File=.parrot/song.json
Key=song.words
Does=changes the song
Shut-Flag=--deaf
Remedy=add --deaf
INI
sed -i "s|DROPIN|$T/parrot.d|" "$T/vendors/parrot.vendor"
SAPHAN_VENDOR_ARGS=(--vendors "$T/vendors")
serve() { # NAME [POLICY-LINE...]: from here on, that daemon is asked
    local name=$1
    shift
    policy "$LEG_USER root" "$@" >"$T/$name.policy"
    start_daemon "$T/$name" "${SAPHAN_VENDOR_ARGS[@]}" || not_ok "the daemon $name starts" "$(cat "$T/$name.log")"
    export SAPHAN_SOCKET=$T/$name/saphan.sock
}
program parrot <<'SH'
#!/bin/sh
[ -z "$TRY" ] || eval "$TRY"
exit 0
SH
fresh() {
    rm -rf "$W/ws" "$W/seat"
    mkdir -p "$W/ws/.parrot" "$W/seat/.parrot"
    owned "$W/ws" "$W/seat"
}
sing() { # TRY [WORD...]
    local try=$1
    shift
    leg --vendor parrot --workspace "$W/ws" --seat "$W/seat" --read "$W/parrot" --env "TRY=$try" -- "$W/parrot" "$@"
}
told_of() { # EVENT REASON TEXT
    jq -se --arg e "$1" --arg r "$2" --arg t "$3" \
        'map(select(.event == $e and (.reason // "") == $r and ((.detail // "") + (.subject // "") | contains($t)))) | length > 0' \
        "$T/json" >/dev/null || { told; return 1; }
}

serve plain
fresh
leg --vendor magpie -- /bin/true
expect "a vendor without a profile" 125 REFUSED vendor-unknown
check "and those that there are are named" grep -q "there are: [a-z]" "$T/json" "$T/client"
sing "" --cage off
expect "its switch off" 0 GREEN
sing ""
expect "no switch: its default is on" 125 REFUSED nested-sandbox-requested
sing "" --cage half
expect "a value that its profile does not know" 125 REFUSED nested-sandbox-requested
echo '{"cage": {"closed": false}}' >"$W/seat/.parrot/settings.json"
owned "$W/seat"
sing ""
expect "off by the seat's file" 0 GREEN
echo '{"cage": {"closed": true}}' >"$W/seat/.parrot/settings.json"
sing ""
expect "on by the seat's file" 125 REFUSED nested-sandbox-requested
echo '{"cage": ' >"$W/seat/.parrot/settings.json"
sing ""
expect "a file that is not JSON" 125 REFUSED settings-unreadable
chmod 000 "$W/seat/.parrot/settings.json"
sing ""
expect "a file that its owner may not read" 125 REFUSED settings-unreadable
sing "" --cage off
expect "which a switch outranks" 0 GREEN
rm -f "$W/seat/.parrot/settings.json" && ln -s /etc/hostname "$W/seat/.parrot/settings.json"
sing ""
expect "a link that leads out of the seat" 125 REFUSED settings-unreadable
rm -f "$W/seat/.parrot/settings.json" && mkfifo "$W/seat/.parrot/settings.json"
sing ""
expect "a FIFO in its place: no hang" 125 REFUSED settings-unreadable
fresh
leg --vendor parrot --boundary none --seat "$W/seat" -- "$W/parrot" --fly --cage off
expect "its bypass without a boundary" 125 REFUSED bypass-without-boundary
leg --vendor parrot --seat "$W/seat" -- /bin/true
expect "a command without its program" 125 REFUSED vendor-not-in-command
leg --vendor parrot --seat "$W/seat" --env PARROT_HOME=/tmp -- "$W/parrot"
expect "a variable that moves the settings" 125 REFUSED settings-unreadable

# -- a drop-in directory: every file in it --
mkdir "$T/parrot.d"
echo '{"cage": {"closed": false}}' >"$T/parrot.d/10.json"
echo '{"cage": {"closed": true}}' >"$T/parrot.d/20.conf"
sing "" --cage off
expect "off by a drop-in; what is no .json is none" 0 GREEN
echo '{"cage": {"closed": true}}' >"$T/parrot.d/20.json"
sing "" --cage off
expect "two that say otherwise: not guessed" 125 REFUSED settings-unreadable
rm "$T/parrot.d/10.json"
sing "" --cage off
expect "on by a drop-in" 125 REFUSED nested-sandbox-requested
echo '{' >"$T/parrot.d/20.json"
sing "" --cage off
expect "one that is not JSON" 125 REFUSED settings-unreadable
rm -r "$T/parrot.d"

# -- where a vendor looks: the leg's directory and all above it that a grant shows --
mkdir -p "$W/out/ws/sub/.parrot" "$W/out/.parrot" && owned "$W/out"
deep() { # ARG...: in $W/out/ws/sub
    leg --vendor parrot --workspace "$W/out/ws" --seat "$W/seat" --read "$W/parrot" --chdir "$W/out/ws/sub" "$@" -- "$W/parrot" --cage off
}
echo '{"song": {"words": "x"}}' >"$W/out/.parrot/song.json"
deep
check_not "a file above the grant's root is not seen by the leg, nor told" grep -q workspace-steers-vendor "$T/json"
deep --read "$W/out"
check "a grant that shows it" told_of note workspace-steers-vendor "$W/out/.parrot/song.json: song.words"
echo '{"song": {"words": "y"}}' >"$W/out/ws/sub/.parrot/song.json"
deep
check "one in the leg's directory" told_of note workspace-steers-vendor "$W/out/ws/sub/.parrot/song.json: song.words = y"
echo '{"nest": false}' >"$W/out/ws/sub/.parrot/nest.json"
deep
expect "a switch of the workspace, off in the leg's directory" 0 GREEN
mkdir -p "$W/out/ws/.parrot" && echo '{"nest": true}' >"$W/out/ws/.parrot/nest.json"
deep
expect "and on above it" 125 REFUSED nested-sandbox-requested
check "with the place" bash -c "jq -rs 'map(select(.event == \"refused\"))[0].reasons[0].detail' $T/json | grep -q \"the workspace's .parrot/nest.json: nest = true\""
mv "$W/out/ws/.parrot/nest.json" "$W/out/.parrot/nest.json"
deep --read "$W/out"
check "and where it is not the workspace, that place" grep -qF "$W/out/.parrot/nest.json: nest = true" "$T/json"
rm -r "$W/out"

# -- the seat home: writable as far as the profile needs --
printf '[vendor]\nName=finch\nProgram=finch\nSandbox=none\nHome-Writable=.finch .cache/finch\nSettings-File=.finch/settings.json\n' >"$T/vendors/finch.vendor"
serve finch
cp "$W/parrot" "$W/finch" && owned "$W/finch"
peck() { # TRY [SAPHAN-OPTION...]
    local try=$1
    shift
    leg --vendor finch --workspace "$W/ws" --seat "$W/seat" --read "$W/finch" --env "TRY=$try" "$@" -- "$W/finch"
}
fresh
rm -r "$W/seat/.parrot"
peck 'true' --boundary none
check_not "a leg that is refused makes nothing in the seat" test -e "$W/seat/.finch"
peck 'echo x >~/.finch/x && echo y >~/.cache/finch/y; for f in ~/z ~/.cache/z ~/.finch/../w; do ! echo >$f; done 2>&1; ! mkdir ~/d; ! mv ~/.finch ~/e; ! chmod 777 ~'
expect "what the profile names can be written, even where it was not there" 0 GREEN
equal "nothing else can" ".cache .cache/finch .cache/finch/y .finch .finch/x" "$(cd "$W/seat" && find . -mindepth 1 | sed 's|^./||' | sort | tr '\n' ' ' | sed 's/ $//')"
equal "what was made is the requester's own" "$leg_uid 700" "$(stat -c '%u %a' "$W/seat/.finch")"
check "and it is told, with what it costs" told_of note "" "the seat home, writable in .finch, .cache/finch: this leg can change the settings"
check "and that the parts were granted" told_of note "" "$W/seat/.finch"
sing 'echo z >~/z' --cage off
check "control: of a profile that names nothing the whole is writable" test -s "$W/seat/z"
check "and that is told" told_of note "" "the seat home, writable as a whole"
rm "$W/seat/z"
mkdir -p "$W/ws/.parrot" && echo all >"$W/ws/.parrot/permissions" && owned "$W/ws"
peck true
check "a grant written for one vendor reaches no other, and the report says no more" told_of note "" "no permission file reached finch: its profile knows of none that it reads"
check_not "not even its name" grep -q parrot/permissions "$T/json"
rm "$W/ws/.parrot/permissions"
peck 'echo "{}" >~/.finch/settings.json'
check "a settings file in a part that was made: told" told_of note profile-rewritten "created: before absent"
peck 'echo a >~/.finch/a' --artefact "$W/seat/.finch/a"
expect "an artefact in a part" 0 GREEN
peck 'echo a >~/.finch/a' --artefact "$W/seat/a"
expect "none can be outside of them" 125 REFUSED artefact-outside-grants
mv "$W/seat/.finch" "$W/seat/real" && ln -s real "$W/seat/.finch"
peck 'echo l >~/.finch/l'
check "a link of the user's to a part within the seat is followed" test -s "$W/seat/real/l"
ln -sfn "$W/ws" "$W/seat/.finch"
peck 'true'
expect "one that leads out is refused" 125 REFUSED build-failed
check "by its name" grep -q '.finch of the seat home: EXDEV' "$T/json"
policy "$LEG_USER root" | sed "s|^Write=.*|Write=$W/ws $W/seat/.cache|" >"$T/ceiling.policy"
start_daemon "$T/ceiling" --vendors "$T/vendors" || not_ok "the daemon ceiling starts" "$(cat "$T/ceiling.log")"
SAPHAN_SOCKET=$T/ceiling/saphan.sock
rm "$W/seat/.finch"
peck 'true'
expect "a part outside the policy's write ceiling" 125 REFUSED grant-outside-ceiling
check "is named" grep -qF "needed: write $W/seat/.finch, what the vendor's program writes of its home" "$T/json"
SAPHAN_SOCKET=$T/plain/saphan.sock
rm "$T/vendors/finch.vendor"

# -- its own budgets --
sing 'exit 53' --cage off
expect "a status that is a budget's" 53 RED vendor-budget
check "with its name and what sets it" bash -c "jq -rs '$_judged | .reasons[] | select(.reason == \"vendor-budget\") | .detail' $T/json | grep -q 'status 53 is a budget of parrot: seeds; set by --seeds'"
sing 'exit 54' --cage off
check "one that means other things too: nothing is said" bash -c "! grep -q budget $T/json"
sing 'exit 54' --cage off --water=3
expect "with the flag that sets it it is no reason" 54 RED exit-status
check "but told as what it may be" told_of note "" "status 54 may mean a budget of parrot: water"
sing 'exit 1' --cage off
check_not "control: another status" grep -q budget "$T/json"

# -- caught while running --
sing 'unshare --user --net true' --cage off
expect "the probe that its profile lists: nothing RED" 0 GREEN
check "and it is told" told_of denied nested-probe unshare
sing 'unshare --user --pid true; true' --cage off
expect "another call that builds a sandbox, and exit 0" 112 RED nested-sandbox
check "and the call and its program are told" told_of denied nested-sandbox comm=unshare
sing 'unshare --user --net true; unshare --mount true; true' --cage off
expect "a probe and another call" 112 RED nested-sandbox

# -- files --
fresh
echo ask >"$W/ws/.parrot/permissions"
sing "" --cage off
check "a permission file that reached it is told" told_of note "" "a permission file reached parrot: sha256 $(sha256sum <"$W/ws/.parrot/permissions" | cut -d ' ' -f 1)"
rm "$W/ws/.parrot/permissions"
sing "" --cage off
check "that none did is told too" told_of note "" "no permission file reached parrot: none lies where it looks"
check "and the seat's trade-off, where it is granted" told_of note "" "$W/seat"
leg -- /bin/true
check_not "control: of no vendor nothing is said" grep -q '"note"' "$T/json"
echo '{"song": {"words": "x"}}' >"$W/ws/.parrot/song.json"
sing "" --cage off
check "a workspace that steers it is told" told_of note workspace-steers-vendor "song.words"
sing "" --cage off --deaf
check_not "and is not where the command shuts it out" grep -q workspace-steers-vendor "$T/json"
rm "$W/ws/.parrot/song.json"
sing 'echo "{\"song\": {\"words\": \"y\"}}" >.parrot/song.json' --cage off
check "a leg that makes such a file is told" told_of note workspace-steers-vendor "created"
sing 'echo "{}" >"$HOME/.parrot/settings.json"' --cage off
expect "a leg that makes a settings file: a note" 0 GREEN
check "with what it was and is" told_of note profile-rewritten "created: before absent, now"
sing 'echo "{ }" >"$HOME/.parrot/settings.json"' --cage off
check "rewritten: told" told_of note profile-rewritten "rewritten: before"
sing 'true' --cage off
check_not "left alone: not told" grep -q profile-rewritten "$T/json"
sing 'rm "$HOME/.parrot/settings.json"' --cage off
check "removed: told" told_of note profile-rewritten "removed: before"

# -- what a policy says --
rm -f "$W/ws/.parrot/song.json"
serve strict Nested=kill Steering=refuse Profile-Rewritten=red
sing 'unshare --user --pid true; sleep 30' --cage off
check "Nested=kill: ended at once" [ "$(jq -s 'map(select(.event == "verdict")) | .[0].wall_us < 5000000' "$T/json")" = true ]
check "and RED nested-sandbox" has_reason nested-sandbox
echo '{"song": {"words": "x"}}' >"$W/ws/.parrot/song.json"
sing "" --cage off
expect "Steering=refuse" 125 REFUSED workspace-steers-vendor
sing "" --cage off --deaf
expect "shut out (control)" 0 GREEN
rm "$W/ws/.parrot/song.json"
sing 'echo "{}" >"$HOME/.parrot/settings.json"' --cage off
expect "Profile-Rewritten=red" 112 RED profile-rewritten
serve lenient Nested=note
sing 'unshare --user --pid true; true' --cage off
expect "Nested=note: for what copes" 0 GREEN
check "and it is told all the same" told_of denied nested-sandbox comm=unshare

# -- a profile that is wrong --
printf '[vendor]\nName=bad\nColour=red\n' >"$T/vendors/bad.vendor"
policy root >"$T/bad.policy"
mkdir -p "$T/bad"
check_not "saphand --check refuses a profile with an unknown key" "$SAPHAN_BUILD/daemon/saphand" --check \
    --private "$T/bad" --policy "$T/bad.policy" --libexec "$SAPHAN_BUILD/daemon" --vendors "$T/vendors"
finish
