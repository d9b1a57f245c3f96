# bash completion for saphan(1)
# shellcheck shell=bash disable=SC2207

_saphan_legs() {
    saphan legs "$@" 2>/dev/null | awk 'NR > 1 { print $1 }'
}

_saphan_run() {
    local word=$1 before=$2
    case $before in
    --workspace | --seat | --chdir)
        COMPREPLY=($(compgen -d -- "$word"))
        ;;
    --read | --write | --carve-out | --artefact)
        COMPREPLY=($(compgen -f -- "$word"))
        ;;
    --net) COMPREPLY=($(compgen -W "none door landlock-net cgroup-bpf host" -- "$word")) ;;
    --view) COMPREPLY=($(compgen -W "minimal host" -- "$word")) ;;
    --stdin) COMPREPLY=($(compgen -W "none inherit" -- "$word")) ;;
    --boundary) COMPREPLY=($(compgen -W "domain container" -- "$word")) ;;
    --image) COMPREPLY=($(compgen -W "$(saphan image list 2>/dev/null | awk 'NR > 1 { print $1 }')" -- "$word")) ;;
    --transport) COMPREPLY=($(compgen -W "local" -- "$word")) ;;
    --user | --hostname) ;;
    --capability) COMPREPLY=($(compgen -W "CAP_CHOWN CAP_DAC_OVERRIDE CAP_FOWNER CAP_FSETID CAP_NET_BIND_SERVICE" -- "$word")) ;;
    --vendor) COMPREPLY=($(compgen -W "proc" -- "$word")) ;;
    --env) COMPREPLY=($(compgen -v -- "$word")) ;;
    --limit)
        compopt -o nospace
        COMPREPLY=($(compgen -W "tasks= memory= cpu= wall= output= files=" -- "$word"))
        ;;
    *)
        COMPREPLY=($(compgen -W "--workspace --read --write --carve-out --seat --chdir --git
            --artefact --net --allow --forward --view --limit --env --stdin --keep-output --detach --boundary --image --user --hostname --writable-root --capability --transport --vendor
            --json --help --" -- "$word"))
        ;;
    esac
}

_saphan() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} i
    COMPREPLY=()
    if [ "$COMP_CWORD" = 1 ]; then
        COMPREPLY=($(compgen -W "run legs leg status machine matrix image why explain --help --version" -- "$word"))
        return
    fi
    case ${COMP_WORDS[1]} in
    run)
        # Behind "--" it is the program's command line.
        for ((i = 2; i < COMP_CWORD; i++)); do
            if [ "${COMP_WORDS[i]}" = -- ]; then
                if [ "$i" = $((COMP_CWORD - 1)) ]; then
                    COMPREPLY=($(compgen -c -- "$word"))
                else
                    COMPREPLY=($(compgen -f -- "$word"))
                fi
                return
            fi
        done
        _saphan_run "$word" "$before"
        ;;
    image)
        case $COMP_CWORD in
        2) COMPREPLY=($(compgen -W "add list show rm gc --help" -- "$word")) ;;
        3) COMPREPLY=($(compgen -W "$(saphan image list 2>/dev/null | awk 'NR > 1 { print $1 }')" -- "$word")) ;;
        *) COMPREPLY=($(compgen -f -- "$word")) ;;
        esac
        ;;
    legs) COMPREPLY=($(compgen -W "--all --json --help" -- "$word")) ;;
    leg)
        case $COMP_CWORD in
        2) COMPREPLY=($(compgen -W "show logs kill allow deny --help" -- "$word")) ;;
        3)
            if [ "$before" = kill ]; then
                COMPREPLY=($(compgen -W "$(_saphan_legs)" -- "$word"))
            else
                COMPREPLY=($(compgen -W "$(_saphan_legs --all)" -- "$word"))
            fi
            ;;
        *) [ "${COMP_WORDS[2]}" != logs ] || COMPREPLY=($(compgen -W "--follow" -- "$word")) ;;
        esac
        ;;
    status) COMPREPLY=($(compgen -W "--help" -- "$word")) ;;
    matrix)
        if [ "$COMP_CWORD" = 2 ]; then
            COMPREPLY=($(compgen -W "measure show history export import report --help" -- "$word"))
        else
            case ${COMP_WORDS[2]} in
            measure) COMPREPLY=($(compgen -W "--bin --vendor --boundary --workspace --artefact --json --" -- "$word")) ;;
            report) COMPREPLY=($(compgen -W "--html --markdown" -- "$word")) ;;
            import) COMPREPLY=($(compgen -f -- "$word")) ;;
            *) COMPREPLY=($(compgen -W "--json --vendor --help" -- "$word")) ;;
            esac
        fi
        ;;
    machine) COMPREPLY=($(compgen -W "show probe-confinement --json --help" -- "$word")) ;;
    image)
        case $COMP_CWORD in
        2) COMPREPLY=($(compgen -W "add list show rm gc --help" -- "$word")) ;;
        *) COMPREPLY=($(compgen -W "$(saphan image list 2>/dev/null | awk 'NR > 1 { print $1 }')
            --reference --json --help" -- "$word") $(compgen -f -- "$word")) ;;
        esac
        ;;
    explain)
        COMPREPLY=($(compgen -W "$(saphan explain 2>/dev/null | awk '{ print $1 }') --help" \
            -- "$word"))
        ;;
    esac
}

complete -F _saphan saphan
