# attacks.bash - what more than one script here runs.  $prefix stands before the names of its tests.
# shellcheck shell=bash
prefix=

exec_tap() { # SCRIPT: python TAP becomes ours
    local line planned=
    while IFS= read -r line; do
        case $line in
        "ok "*" # skip "*) skip "$prefix${line#*- }" "${line##* # skip }" ;;
        "ok "*) ok "$prefix${line#*- }" ;;
        "not ok "*) not_ok "$prefix${line#*- }" ;;
        "#"*) echo "$line" ;;
        1..*) planned=${line#1..} ;;
        esac
    done < <(timeout 300 python3 "$TESTS/escape/$1" "$W" "$leg_uid" "$leg_gid" 2>&1 </dev/null | sed 's/^\(Traceback.*\|[A-Za-z]*Error.*\|  .*\)/# \1/')
    [ -n "$planned" ] || not_ok "$prefix$1 came to its end"
}

# unjudgeable_artefacts [OPTION...]: with these options of `saphan run`.
unjudgeable_artefacts() {
    local options=("$@") digest
    digest=$(printf x | sha256sum | cut -c1-64)
    try() { # NAME RC COLOUR REASON ARTEFACT SCRIPT
        leg "${options[@]}" --workspace "$W" --artefact "$5" -- /bin/sh -c "$6"
        expect "$prefix$1" "$2" "$3" "$4"
        chmod -R u+rwx "$W"
        find "$W" -mindepth 1 -delete
    }
    try "control: an artefact" 0 GREEN "" a 'echo x >a'
    try "in a folder that was shut" 112 RED artefact-unreadable d/a 'mkdir d; echo x >d/a; chmod 000 d'
    try "in a workspace that was shut" 112 RED artefact-unreadable a 'echo x >a; chmod 000 .'
    try "unreadable, and its hash was asked for" 112 RED artefact-unreadable "a,sha256=$digest" 'printf x >a; chmod 000 a'
    try "beneath a link to the system" 112 RED artefact-not-regular d/passwd 'ln -s /etc d'
    try "a socket" 112 RED artefact-not-regular a 'python3 -c "import socket; socket.socket(1).bind(\"a\")"'
    try "written by one that was left behind" 112 RED artefact-absent a '(setsid sh -c "sleep 0.3; echo x >a" &) ; exit 0'
    try "a path through a file" 112 RED artefact-absent a/b 'echo x >a'
}
