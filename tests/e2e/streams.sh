#!/bin/bash
# The standard streams by name: /dev/stdin, /dev/stdout and /dev/stderr of a leg, whatever they are.
. "$(dirname "$(readlink -f "$0")")/lib.sh"
program by_name <<'SH'
#!/bin/sh
echo out >/dev/stdout && echo more >>/dev/stdout && echo err >/dev/stderr
SH
# as_shell WORDS: in the user's own shell, so that the pipes are its own; $1 is the program, $2 its folder.
as_shell() { (cd "$W" && as_user timeout 60 sh -c "$1" - "$W/by_name" "$W") </dev/null; }

equal "output is a pipe of the caller's" "out more" "$(as_shell 'saphan run --read "$2" -- "$1" 2>/dev/null | cat' | xargs)"
equal "so is standard error" err "$(as_shell 'saphan run --read "$2" -- "$1" 2>&1 >/dev/null | head -n 1')"
leg --read "$W" -- "$W/by_name"
equal "output is events" "out more" "$(output | xargs)"
leg --read "$W" --limit output=1M -- "$W/by_name"
equal "output is counted" "out more" "$(output | xargs)"
leg --read "$W" --keep-output -- "$W/by_name"
id=$(jq -r 'select(.event == "accepted") | .leg' "$T/json" | head -n 1)
equal "output is kept" "out more" "$(as_user saphan leg logs "$id" 2>/dev/null | xargs)"
leg --keep-output --limit output=1000 -- /bin/sh -c 'seq 1000; echo err >&2'
id=$(jq -r 'select(.event == "accepted") | .leg' "$T/json" | head -n 1)
as_user saphan leg logs "$id" >"$T/kept" 2>"$T/said"
equal "kept are the head and the tail, within output=" "1 1000 500" \
    "$(head -n 1 "$T/kept") $(tail -n 1 "$T/kept") $(stat -c %s "$T/kept")"
check "and what is missing is said" grep -q '3393 bytes of standard output were not kept' "$T/said"
check "in the verdict too" grep -q 'the middle was cut' "$T/json"
leg --keep-output --limit wall=2s -- /bin/sh -c 'echo before; exec sleep 600'
check "a killed leg's verdict says what was kept of it" grep -q 'stdout 7 bytes' "$T/json"
equal "input is a pipe" hello "$(as_shell 'echo hello | saphan run --stdin inherit -- /bin/cat /dev/stdin 2>/dev/null')"
equal "and cannot be opened for writing" refused "$(as_shell \
    'echo hello | saphan run --stdin inherit -- /bin/sh -c "(echo x >/proc/self/fd/0) 2>/dev/null || echo refused" 2>/dev/null')"
equal "nor output for reading" refused "$(as_shell \
    'saphan run -- /bin/sh -c "(exec 9</dev/stdout) 2>/dev/null || echo refused" 2>/dev/null | cat')"

# A leg that says GREEN itself and leaves the terminal writing unseen (SGR 8), or in line drawing: what is said of
# it can be read all the same.
terminal() { # TERM: what of the last line stands behind the leg's own bytes, up to the verdict
    (cd "$W" && as_user env TERM="$1" NO_COLOR=1 script -qefc "saphan run -- /bin/sh -c \"printf 'saphan: GREEN\\\\n\\\\033[8m\\\\033(0\\\\016END'; exit 3\"" /dev/null </dev/null) |
        tr -d '\r\n' | sed -n 's/.*END\(.*\)saphan: exit-status.*/\1/p' | od -An -c | tr -s ' '
}
equal "a terminal that a leg left unreadable is made readable before the verdict" " 033 [ 0 m 033 ( B 017" "$(terminal xterm)"
equal "control: one that has no such thing gets none of it" "" "$(terminal dumb)"

# A file that the caller has open is written through the descriptor alone: it may be open for appending
# only, and it lies outside the leg's view.
as_user sh -c 'echo before >"$1"' - "$W/log"
as_user sh -c 'cd "$1" && exec timeout 60 saphan run -- /bin/sh -c "echo through; echo anew >/dev/stdout" >>log 2>/dev/null </dev/null' - "$W"
equal "a file is written, and not opened anew" "before through" "$(xargs <"$W/log")"
finish
