#!/bin/bash
# `saphan why` against what really happens: for each path of a table a leg reads and writes there, and what
# `why` says of the very leg must be that.
export E2E_BASE=${E2E_BASE:-/var/tmp}
. "$(dirname "$(readlink -f "$0")")/lib.sh"
mkdir -p "$W"/{ws/{.git,.vscode,keep,sub},rd/deep,wr,seat}
for file in ws/{a,.git/config,.vscode/settings,keep/a,sub/a} rd/{a,deep/a} wr/a seat/a; do echo content >"$W/$file"; done
for place in ws rd wr; do printf '#!/bin/sh\necho ran\n' >"$W/$place/prog" && chmod 755 "$W/$place/prog"; done
ln -s keep "$W/ws/.agents" && ln -s "$W/ws/sub/held" "$W/ws/.claude" && mkdir "$W/ws/sub/held" && echo content >"$W/ws/sub/held/a"
owned "$W"
table=("$W"/ws{,/a,/new,/sub,/sub/a,/.git,/.git/config,/.git/new,/.codex,/.codex/new,/.vscode,/.vscode/settings,/keep,/keep/a,/keep/new,/sub/held,/sub/held/a,/sub/held/new}
    "$W"/rd{,/a,/new,/deep,/deep/a} "$W"/wr{,/a,/new} "$W"/seat{,/a,/new} "$W" "$W/elsewhere" "$T" "$T/json" / /var /var/tmp
    /tmp /tmp/new /run /run/new /dev/shm /dev/shm/new /dev /dev/new /usr /usr/bin /usr/bin/true /usr/new /bin /bin/true /lib /etc
    /etc/passwd /etc/new /etc/shadow /srv /home /proc /proc/version /sys /boot /nowhere /nowhere/deep /run/home /run/new)
program act <<'SH'
#!/usr/bin/python3 -I
import os, sys
def reads(path):
    try:
        if os.path.isdir(path):
            os.listdir(path)
            return True
        with open(path, "rb") as file:
            return len(file.read(1)) > 0
    except OSError:
        return False
def writes(path):
    try:
        if os.path.isdir(path):
            new = os.path.join(path, "made-by-the-test")
            os.close(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
            os.unlink(new)
        elif os.path.exists(path):
            os.close(os.open(path, os.O_WRONLY))
        else:
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
            os.unlink(path)
        return True
    except OSError:
        return False
for path in sys.stdin.read().splitlines():
    print("yes" if reads(path) else "no", "yes" if writes(path) else "no", int(os.path.exists(path)), path)
SH
compare() { # NAME AS OPTION...: each path of the table, done and asked
    local name=$1 user=$2 id read write there path said n=0 wrong=""
    shift 2
    printf '%s\n' "${table[@]}" >"$T/table"
    (cd "$W" && as "$user" saphan run --json --stdin inherit "$@" --read "$W/act" -- "$W/act" <"$T/table") >"$T/json" 2>"$T/client"
    rc=$?
    _written stdout >"$T/out"
    id=$(jq -rs 'map(select(.event == "accepted"))[0].leg' "$T/json")
    while read -r read write there path; do
        said=$(as "$user" saphan why --json "$id" "$path") || { wrong="$wrong
$path: not said"; continue; }
        n=$((n + 1))
        # What is not there cannot be read, whatever the boundary says; what depends is looked at below.
        if [ "$there" = 1 ] && [ "$(jq -r 'if .read then "yes" else "no" end' <<<"$said")" != "$read" ] ||
            [ "$(jq -r 'if .depends then "'"$write"'" elif .write then "yes" else "no" end' <<<"$said")" != "$write" ]; then
            wrong="$wrong
$path: read $read, write $write, there $there; said $(jq -c '[.read, .write, .decider, .area]' <<<"$said")"
        fi
    done <"$T/out"
    if [ -z "$wrong" ] && [ "$n" = ${#table[@]} ]; then ok "$name: what $n paths did is what why says"; else
        not_ok "$name: what $n of ${#table[@]} paths did is what why says" "$wrong
$(head -c 600 "$T/client")"; fi
}
grants=(--workspace "$W/ws" --carve-out "$W/ws/keep" --read "$W/rd" --write "$W/wr")
compare "minimal view" "$LEG_USER" "${grants[@]}"
id=$(jq -rs 'map(select(.event == "accepted"))[0].leg' "$T/json")
decider() { saphan why --json "$id" "$1" | jq -r '[.decider, .area // "-"] | join(" ")'; }
equal "a carve-out decides by its name" "carve-out $W/ws/.git" "$(decider "$W/ws/.git/config")"
equal "an absent one too" "carve-out $W/ws/.codex" "$(decider "$W/ws/.codex")"
equal "one that holds if it was there says so" true "$(saphan why --json "$id" "$W/ws/.vscode" | jq .depends)"
equal "a grant decides by its name" "read-grant $W/rd" "$(decider "$W/rd/deep/a")"
equal "no rule is an answer" "none -" "$(decider /nowhere)"
equal "a link of the root leads where it leads" "system /usr" "$(decider /bin/true)"
equal "a mask decides" "mask /etc/shadow" "$(decider /etc/shadow)"
check "for people" bash -c "saphan why $id $W/rd/a | grep -q '^decided by: read-grant $W/rd$'"
compare "with a seat" "$LEG_USER" "${grants[@]}" --seat "$W/seat"
compare "a grant in a grant" "$LEG_USER" --read "$W" --write "$W/ws/sub" --write "$W/wr"
compare "host view" "$LEG_USER" --view host "${grants[@]}"
leg -- /bin/sh -c 'echo x >/dev/null && echo name >/proc/self/comm && ! echo x >/dev/new && ! echo x >/proc/new'
expect "of /dev and /proc what is there can be written, and nothing be made" 0 GREEN
leg --workspace "$W/ws" -- /bin/sh -c "! echo x >$W/ws/.vscode/settings && echo x >$W/ws/.gemini && rm $W/ws/.gemini"
expect "a carve-out that holds if it was there: .vscode does, .gemini does not" 0 GREEN
leg --read "$W/rd" --write "$W/wr" -- /bin/sh -c "$W/rd/prog; $W/wr/prog"
equal "execute: a read and a write grant do" "ran ran " "$(output | tr '\n' ' ')"
id=$(jq -rs 'map(select(.event == "accepted"))[0].leg' "$T/json")
equal "and why says so" "true true" "$(echo $(as_user saphan why --json "$id" "$W/rd/prog" | jq .execute) $(as_user saphan why --json "$id" "$W/wr/prog" | jq .execute))"
check "its owner may ask" as_user saphan why "$id" /
check_not "another user may not" as "$OTHER_USER" saphan why "$id" /
for bad in "x /" "0 /" "$id relative" "$id" "$id /a/../b" "$id / /" "99999 /"; do
    # shellcheck disable=SC2086
    saphan why $bad >"$T/said" 2>&1
    equal "why $bad: 125" 125 $?
done
finish
