#!/bin/bash
# How a program ends is how its leg ends: statuses, signals, exec's own failures, orphans, limits.
. "$(dirname "$(readlink -f "$0")")/lib.sh"

leg -- /bin/true
expect "exit 0 is GREEN" 0 GREEN
for status in 1 2 3 7 42 64 100 110 111 112 113 123 124 125 126 127 128 129 137 143 200 254 255; do
    leg -- /bin/sh -c "exit $status"
    expect "exit $status is the client's status" "$status" RED exit-status
done
for signal in HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT XCPU XFSZ VTALRM PROF IO PWR SYS; do
    leg -- /bin/sh -c "kill -$(kill -l $signal) \$\$; sleep 5"
    expect "SIG$signal is 128+$(kill -l $signal)" $((128 + $(kill -l $signal))) RED killed-by-signal
done

leg -- /no/such/program
expect "exec ENOENT is 127" 127 REFUSED command-not-found
leg -- no-such-program-on-path
expect "a name that PATH does not hold is 127" 127 REFUSED command-not-found
echo 'echo never' >"$W/not-executable" && owned "$W/not-executable"
leg --read "$W" -- "$W/not-executable"
expect "exec EACCES is 126" 126 REFUSED command-not-executable
printf '\0garbage' >"$W/no-format" && chmod 755 "$W/no-format" && owned "$W/no-format"
leg --read "$W" -- "$W/no-format"
expect "exec ENOEXEC is 126" 126 REFUSED command-not-executable
printf '#!/no/such/interpreter\n' | program no-interpreter
leg --read "$W" -- "$W/no-interpreter"
expect "an interpreter that is not there is 127, never the program's" 127 REFUSED command-not-found
check "and it is named" grep -q "interpreter /no/such/interpreter" "$T/client"
mkdir "$T/elsewhere" && ln -s /bin/sh "$T/elsewhere/interpreter" && chmod 755 "$T/elsewhere"
printf '#!%s\nexit 0\n' "$T/elsewhere/interpreter" | program far-interpreter
leg --read "$W" -- "$W/far-interpreter"
expect "an interpreter outside the view is 127" 127 REFUSED command-not-found
equal "and the --read that would show it, and no other, is named" "--read $T/elsewhere" \
    "$(grep -oE -- '--read [^ ]+' "$T/client" | xargs)"
leg --read "$W" --read "$T/elsewhere" -- "$W/far-interpreter"
expect "with it the program runs" 0 GREEN
leg -- "$W/no-format"
expect "a program outside the view is 127" 127 REFUSED command-not-found
check "and the --read that would show it is named" grep -q -- --read "$T/err" "$T/out"

leg --chdir /no/such/directory -- /bin/true
expect "a failing set-up is 125, never 1" 125 REFUSED directory-not-visible

leg -- /bin/sh -c '(sleep 0.2; exit 9) & exit 3'
expect "an orphan does not change the status" 3 RED exit-status
leg -- /bin/sh -c '(kill -SEGV $$) & exit 0'
check "nor does one that dies as the program does" [ "$rc" = 0 -o "$rc" = 139 ]

leg --limit wall=300ms -- /bin/sleep 30
expect "wall time is 124" 124 RED wall-time
leg --limit wall=300ms -- /bin/sh -c 'trap "" TERM INT HUP; while :; do sleep 1; done'
expect "wall time, every signal ignored" 124 RED wall-time
leg --limit output=64K -- /bin/sh -c 'yes'
check "more output than output= ends the leg" has_reason output-limit
check_not "and is not 0" [ "$rc" = 0 ]
leg --limit output=64K -- /bin/sh -c 'echo little'
expect "less output does not" 0 GREEN

printf 'through\n' >"$T/in"
found=$(cd "$W" && as_user saphan run --stdin inherit -- /bin/cat <"$T/in" 2>/dev/null)
equal "standard input goes through when asked for" through "$found"
found=$(cd "$W" && as_user saphan run -- /bin/cat <"$T/in" 2>/dev/null)
equal "and is empty when not" "" "$found"
found=$(cd "$W" && as_user saphan run -- /bin/sh -c 'echo out; echo err >&2' 2>/dev/null)
equal "standard output is the program's alone" out "$found"
found=$(cd "$W" && as_user saphan run -- /bin/sh -c 'echo err >&2' 2>&1 >/dev/null | head -n 1)
equal "standard error begins with the program's" err "$found"
finish
