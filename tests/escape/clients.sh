#!/bin/bash
# Hostile clients: what they do to hold saphand up, to have a verdict lost, to get at its own files.
. "$(dirname "$(readlink -f "$0")")/../e2e/lib.sh"
exec_tap() { # SCRIPT: python TAP becomes ours
    local line
    while IFS= read -r line; do
        case $line in
        "ok "*" # skip "*) skip "${line#*- }" "${line##* # skip }" ;;
        "ok "*) ok "${line#*- }" ;;
        "not ok "*) not_ok "${line#*- }" ;;
        "#"*) echo "$line" ;;
        1..*) planned=${line#1..} ;;
        esac
    done < <(timeout 300 python3 "$TESTS/escape/$1" "$W" "$leg_uid" "$leg_gid" 2>&1 </dev/null | sed 's/^\(Traceback.*\|[A-Za-z]*Error.*\|  .*\)/# \1/')
    [ -n "${planned:-}" ] || not_ok "$1 came to its end"
    planned=
}
for script in hang.py vanish.py descriptors.py floods.py race.py host_view.py errands.py kills.py; do exec_tap $script; done
finish
