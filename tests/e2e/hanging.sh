#!/bin/bash
# A grant whose file system does not answer: `saphan run` says what it waits for, and can be interrupted.
. "$(dirname "$(readlink -f "$0")")/lib.sh"
if [ ! -e /dev/fuse ]; then
    skip "a file system that does not answer" "/dev/fuse"
    finish
fi
mkfifo "$T/stop" && mkdir "$T/hang" "$W/granted" && owned "$W"
"$TESTS/escape/fuse_hang.py" "$T/hang" "$leg_uid" "$leg_gid" <"$T/stop" >"$T/asked" &
server=$!
exec 7>"$T/stop"
check "control: a file system that does not answer is there" await 10 grep -q mounted "$T/asked"

leg --read "$W/granted" -- /bin/true
expect "control: one that answers" 0 GREEN
check_not "is not waited for" grep -q 'waiting for' "$T/client"
leg --read "$W/absent" -- /bin/true
expect "and that a path is not there is an answer" 125 REFUSED open-grants

# begin NAME OPTION...: a run in the background, with signals as in a terminal.  Sets $run; says it in $T/NAME.
begin() {
    local name=$1
    shift
    (cd "$W" && exec setpriv --reuid "$LEG_USER" --regid "$leg_gid" --init-groups -- \
        env --default-signal=INT HOME="$W" saphan run "$@" -- /bin/true </dev/null >/dev/null 2>"$T/$name") 7>&- &
    run=$!
}
gone() { ! kill -0 "$1" 2>/dev/null; }
begin said --read "$W/granted" --read "$T/hang/x"
check "what does not answer is named" await 20 grep -q "waiting for $T/hang/x: its file system does not answer" "$T/said"
check "control: it was asked" grep -q asked "$T/asked"
check "and waited for" kill -0 "$run"
kill -INT "$run"
check "an interrupt ends it" await 10 gone "$run"
wait "$run" 2>/dev/null
equal "as it ends a program" 130 $?

begin chdir --read "$W/granted" --chdir "$T/hang/y"
check "so with the directory to run in" await 20 grep -q "waiting for $T/hang/y" "$T/chdir"
exec 7>&- # the server goes, and with it what it held
wait "$server" "$run"
equal "when the file system is gone it goes on, and says so" 125 $?
check "by its name" grep -q "$T/hang/y" "$T/chdir"
finish
