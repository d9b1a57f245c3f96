#!/bin/bash
# A verdict is earned: each way in which a turn can promise a file and not leave it has its own reason.
. "$(dirname "$(readlink -f "$0")")/lib.sh"
A=$W/artefact

fresh() { rm -rf "$A"; }
turn() { # OPTIONS COMMAND: a leg in the workspace with one artefact
    local script=$1
    shift
    leg --workspace "$W" "$@" -- /bin/sh -c "$script"
}

fresh; turn 'echo done >artefact' --artefact "$A"
expect "written: GREEN" 0 GREEN
equal "and it is there, the user's" "$leg_uid:$leg_gid" "$(stat -c %u:%g "$A" 2>&1)"
check "its size and sha256 are told" jq -se --arg sha "$(sha256sum <"$A" | cut -d' ' -f1)" \
    'map(select(.event == "artefact")) | length == 1 and (tostring | contains($sha))' "$T/json"
fresh; turn 'echo done >artefact' --artefact artefact
expect "a path relative to the leg's directory" 0 GREEN
fresh; turn 'mkdir -p d/e; echo done >d/e/f' --artefact d/e/f
expect "a path in folders that the turn makes" 0 GREEN
rm -rf "$W/d"
fresh; turn 'printf 12345 >artefact' --artefact "$A,min-size=5"
expect "min-size met" 0 GREEN
fresh; turn 'printf x >artefact' --artefact "$A,sha256=$(printf x | sha256sum | cut -d' ' -f1)"
expect "sha256 met" 0 GREEN

fresh; turn true --artefact "$A"
expect "wrote nothing, exit 0" 112 RED artefact-absent
fresh; turn 'exit 3' --artefact "$A"
expect "wrote nothing, exit 3: the status stays" 3 RED artefact-absent
check "and both reasons stand" has_reason exit-status
fresh; turn 'echo done >artefact; exit 3' --artefact "$A"
expect "written, exit 3" 3 RED exit-status
check_not "and nothing is said of the artefact" has_reason artefact-absent
fresh; turn ': >artefact' --artefact "$A,min-size=1"
expect "empty where min-size says not" 112 RED artefact-too-small
fresh; turn 'printf 1234 >artefact' --artefact "$A,min-size=5"
expect "a byte too small" 112 RED artefact-too-small
fresh; echo old >"$A"; owned "$A"; turn true --artefact "$A"
expect "the old file untouched" 112 RED artefact-unchanged
fresh; echo old >"$A"; owned "$A"; turn 'cat artefact >/dev/null' --artefact "$A"
expect "the old file read only" 112 RED artefact-unchanged
fresh; echo old >"$A"; owned "$A"; turn 'echo new >artefact' --artefact "$A"
expect "control: the old file written anew" 0 GREEN
fresh; turn 'echo done >artefact; rm artefact' --artefact "$A"
expect "written, then deleted" 112 RED artefact-absent
fresh; turn 'echo done >artefact' --artefact "$A,sha256=$(printf x | sha256sum | cut -d' ' -f1)"
expect "another content than promised" 112 RED artefact-wrong-hash
fresh; turn '(sleep 1; echo late >artefact) & exit 0' --artefact "$A"
expect "written by an orphan after the end" 112 RED artefact-absent
sleep 1.2
check_not "which the end of the leg has ended" [ -e "$A" ]

fresh; turn 'ln -s /etc/passwd artefact' --artefact "$A"
expect "a symlink to a file" 112 RED artefact-not-regular
fresh; turn 'ln -s /root/secret artefact' --artefact "$A"
expect "a symlink to what the user may not read" 112 RED artefact-not-regular
fresh; turn 'echo done >real; ln -s real artefact' --artefact "$A"
expect "a symlink within the grant" 112 RED artefact-not-regular
rm -f "$W/real"
fresh; turn 'mkdir elsewhere; echo done >elsewhere/f; ln -s elsewhere d' --artefact d/f
check_not "a folder of the path that is a symlink is not followed" [ "$(colour)" = GREEN ]
rm -rf "$W/d" "$W/elsewhere"
fresh
LEG_SECONDS=20 turn 'mkfifo artefact' --artefact "$A"
expect "a FIFO does not hang the checker" 112 RED artefact-not-regular
fresh; turn 'mkdir artefact' --artefact "$A"
expect "a folder" 112 RED artefact-not-regular
fresh; mkdir "$A"; owned "$A"; turn 'python3 -c "import socket; socket.socket(socket.AF_UNIX).bind(\"artefact/s\")"' --artefact artefact/s
expect "a socket" 112 RED artefact-not-regular

fresh; turn 'echo done >/tmp/artefact' --artefact /tmp/artefact
check "only in a private tmpfs: refused, or RED with its own reason" \
    bash -c "[ $rc = 125 ] || [ $rc = 112 ]"
check "and the reason says so" bash -c "case ',$(reasons),' in *,artefact-outside-grants,*|*,artefact-private,*) ;; *) false ;; esac"
check_not "nothing of it is on the host" [ -e /tmp/artefact ]
fresh; turn true --artefact ../outside
expect "an artefact by .." 125 REFUSED artefact
fresh; turn true --artefact "$T/outside"
expect "an artefact outside the grants" 125 REFUSED artefact-outside-grants

fresh; turn 'echo 1 >artefact; echo 2 >b' --artefact "$A" --artefact b
expect "two artefacts, both there" 0 GREEN
rm -f "$W/b"; fresh; turn 'echo 1 >artefact' --artefact "$A" --artefact b
expect "two artefacts, one there" 112 RED artefact-absent
fresh; turn 'head -c 50000000 /dev/zero >artefact' --artefact "$A,sha256=$(head -c 50000000 /dev/zero | sha256sum | cut -d' ' -f1)"
expect "fifty megabytes, hashed" 0 GREEN

# A file in a folder that the requester may not read is the requester's own loss, and no one else's gain.
fresh; turn 'echo done >artefact; chmod 000 artefact' --artefact "$A,min-size=1"
check "a file made unreadable still has a verdict" [ "$rc" = 0 -o "$rc" = 112 -o "$rc" = 125 ]
finish
