#!/bin/bash
# packaging/quickstart as the README has it: the tour, a shell that follows what it says at its end, again over
# a running daemon whose program was built anew, and --stop.
. "$(dirname "$(readlink -f "$0")")/lib.sh"
quickstart=$(dirname "$TESTS")/packaging/quickstart
private=$SAPHAN_BUILD/private
runs() { # PID: it is there, and is not just unburied
    [ -e "/proc/$1/exe" ] && ! grep -q '^State:.*Z' "/proc/$1/status"
}
# Root, where the tree is closed to others.
caller=$LEG_USER
as_user test -x "$SAPHAN_BUILD/client/saphan" || caller=root
quick() { # [ARG]: as the user who called sudo, sets $rc
    SUDO_USER=$caller timeout 120 "$quickstart" "$@" >"$T/said" 2>&1 </dev/null
    rc=$?
}

quick
equal "the tour goes as it says" 0 "$rc" || cat "$T/said"
for word in 'GREEN; exit 0' 'RED artefact-absent; exit 0' 'RED exit-status; exit 2' 'REFUSED boundary-none'; do
    check "it shows: $word" grep -q "$word" "$T/said"
done
first=$(cat "$private/pid")
check "the daemon stays" runs "$first"
paste=$(grep '^ *export SAPHAN_SOCKET=' "$T/said")
followed() { # COMMAND...: in a shell into which that line was pasted, in the tour's folder
    as "$caller" env -u SAPHAN_SOCKET bash -c "cd '$SAPHAN_BUILD/tour' && $paste && exec \"\$@\" 2>&1" - "$@"
}
check "what it ends with serves a shell" followed saphan run --workspace . --artefact mine -- sh -c 'echo 1 >mine'
mkdir -p "$T/root/bin" && chmod 755 "$T/root" && cp /bin/sh "$T/root/bin/"
check "and lets what the README tries: an image" followed saphan image add quick "$T/root"
check "a door" followed saphan run --net door --allow example.org -- true
check "the machine measured" followed saphan machine probe-confinement

# As a build does: another file by the same name.
cp -p "$SAPHAN_BUILD/daemon/saphand" "$SAPHAN_BUILD/daemon/saphand.anew"
mv "$SAPHAN_BUILD/daemon/saphand.anew" "$SAPHAN_BUILD/daemon/saphand"
quick
equal "again, over a daemon whose program was built anew" 0 "$rc"
check_not "that one is gone" runs "$first"
second=$(cat "$private/pid")
check "another is there" runs "$second"
quick --stop
equal "--stop" 0 "$rc"
check_not "ends it" runs "$second"
quick --stop
equal "--stop again has nothing to do" 0 "$rc"
rm -rf "$private" "$SAPHAN_BUILD/tour"
finish
