#!/bin/bash
# completions.sh SAPHAN - bash, zsh and fish load their completion files, complete verbs and options,
# and know every option of saphan run and every verb that its help names.
set -u
saphan=$1
files=$(dirname "$(dirname "$(dirname "$(readlink -f "$0")")")")/packaging/completions
n=0
# result NAME WANTED SAID: good when SAID has the line WANTED (one space at its end at most).
result() {
    n=$((n + 1))
    if grep -qxE -- "$2 ?" <<<"$3"; then echo "ok $n - $1"; else
        printf '%s\n' "$3" | tail -n 20 | sed 's/^/# /'
        echo "not ok $n - $1"
    fi
}

in_bash() { # WORD...: the last one is completed
    bash --norc -c '. "$1" || exit 1; shift; COMP_WORDS=(saphan "$@") COMP_CWORD=$#
        _saphan 2>&1; printf "%s\n" "${COMPREPLY[@]}"' - "$files/saphan.bash" "$@"
}
in_fish() {
    fish --no-config -c 'source $argv[1]; or exit 1; complete -C "saphan $argv[2..]"' "$files/saphan.fish" "$*" 2>&1 |
        cut -f 1
}
# An interactive zsh in a pty; its saphan prints the words it is called with, once they are completed.
in_zsh() {
    ZDOTDIR=/nowhere timeout 30 zsh -f -c '
        zmodload zsh/zpty
        zpty z zsh -f -i
        zpty -w z "PS1= PS2= fpath=(${(q)1} \$fpath); unsetopt zle_bracketed_paste; autoload -Uz compinit; compinit -u -D"
        zpty -w z "saphan() { print -r -- \"WORDS: \$*\" }; print LOADED-\${_comps[saphan]}"
        zpty -r z said "*LOADED-_saphan*" || exit 1
        zpty -w z "saphan $2"$'"'\t'"'
        zpty -r z said "*"$'"'\n'"'"WORDS:*"$'"'\n'"' || exit 1
        print -r -- "${said##*WORDS: }"' - "$files" "$*" 2>&1 | tr -d '\r'
}

verbs=$("$saphan" --help | sed -nE "s/^(usage:)? +saphan ([a-z]+) .*/\2/p" | sort -u)
options=$("$saphan" run --help | grep -oE -- '--[a-z][a-z-]+' | sort -u)
[ -n "$verbs" ] && [ -n "$options" ] || { echo "not ok 1 - the help can be read"; echo "1..1"; exit; }
for shell in bash zsh fish; do
    result "$shell: a verb" "explain" "$("in_$shell" exp)"
    result "$shell: an option of run" ".*--workspace" "$("in_$shell" run --works)"
    result "$shell: a value" ".*minimal" "$("in_$shell" run --view mini)"
    file=$(find "$files" -name "*saphan$([ $shell = zsh ] || echo ".$shell")")
    for verb in $verbs; do
        result "$shell knows the verb $verb" yes "$(grep -qwE -- "$verb" "$file" && echo yes)"
    done
    for option in $options; do
        # fish writes an option without its dashes.
        result "$shell knows $option" yes "$(grep -qE -- "(--|-l )${option#--}([^a-z-]|$)" "$file" && echo yes)"
    done
done
echo "1..$n"
