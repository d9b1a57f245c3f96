# fish completion for saphan(1)

function __saphan_verb
    set -l words (commandline -opc)
    test (count $words) -ge 2; and contains -- $words[2] $argv
end

function __saphan_run_options
    __saphan_verb run; and not contains -- -- (commandline -opc)
end

function __saphan_legs
    saphan legs --all 2>/dev/null | awk 'NR > 1 { print $1 "\t" $3 }'
end

function __saphan_images
    saphan image list 2>/dev/null | awk 'NR > 1 { print $1 }'
end

complete -c saphan -n __fish_use_subcommand -f -a run -d 'run a command confined'
complete -c saphan -n __fish_use_subcommand -f -a legs -d 'the legs that run'
complete -c saphan -n __fish_use_subcommand -f -a leg -d 'one leg'
complete -c saphan -n __fish_use_subcommand -f -a status -d 'daemon, machine and rules'
complete -c saphan -n __fish_use_subcommand -f -a why -d 'what decides for a path'
complete -c saphan -n __fish_use_subcommand -f -a machine -d 'rungs of this machine'
complete -c saphan -n __fish_use_subcommand -f -a matrix -d 'what vendors do inside boundaries'
complete -c saphan -n __fish_use_subcommand -f -a image -d 'root file systems for containers'
complete -c saphan -n __fish_use_subcommand -f -a explain -d 'what a reason means'
complete -c saphan -n __fish_use_subcommand -f -l version -d 'version'
complete -c saphan -l help -d 'help'

complete -c saphan -n __saphan_run_options -l workspace -x -a '(__fish_complete_directories)' -d 'write but for the carve-outs'
complete -c saphan -n __saphan_run_options -l read -r -F -d 'read and execute'
complete -c saphan -n __saphan_run_options -l write -r -F -d 'read and write'
complete -c saphan -n __saphan_run_options -l carve-out -r -F -d 'keep read-only'
complete -c saphan -n __saphan_run_options -l seat -x -a '(__fish_complete_directories)' -d 'write; HOME'
complete -c saphan -n __saphan_run_options -l chdir -x -a '(__fish_complete_directories)' -d 'start there'
complete -c saphan -n __saphan_run_options -l git -d 'let the leg commit'
complete -c saphan -n __saphan_run_options -l artefact -r -F -d 'a file the leg must leave'
complete -c saphan -n __saphan_run_options -l net -x -a 'none door landlock-net cgroup-bpf host' -d 'the network'
complete -c saphan -n __saphan_run_options -l allow -x -d 'a host that the door lets'
complete -c saphan -n __saphan_run_options -l forward -x -d 'a fixed way out'
complete -c saphan -n __saphan_run_options -l view -x -a 'minimal host' -d 'the files'
complete -c saphan -n __saphan_run_options -l limit -x -a 'tasks= memory= cpu= wall= output= files=' -d 'what it may use up'
complete -c saphan -n __saphan_run_options -l env -x -a '(set -nx)' -d 'set in its environment'
complete -c saphan -n __saphan_run_options -l stdin -x -a 'none inherit' -d 'standard input'
complete -c saphan -n __saphan_run_options -l keep-output -d 'keep the output'
complete -c saphan -n __saphan_run_options -l detach -d 'end once it is accepted'
complete -c saphan -n __saphan_run_options -l boundary -x -a 'domain container' -d 'the boundary'
complete -c saphan -n __saphan_run_options -l image -x -a '(__saphan_images)' -d 'the image of the container'
complete -c saphan -n __saphan_run_options -l user -x -d 'USER or USER:GROUP of the image'
complete -c saphan -n __saphan_run_options -l hostname -x -d 'the name of the container'
complete -c saphan -n __saphan_run_options -l writable-root -d 'let it write to the image, in memory'
complete -c saphan -n __saphan_run_options -l transport -x -a local -d 'where it runs'
complete -c saphan -n __saphan_run_options -l capability -x -a 'CAP_CHOWN CAP_DAC_OVERRIDE CAP_FOWNER CAP_FSETID CAP_NET_BIND_SERVICE' -d 'what it holds over its own'
complete -c saphan -n __saphan_run_options -l vendor -x -a proc -d 'the profile'
complete -c saphan -n __saphan_run_options -l json -d 'one JSON object a line'
complete -c saphan -n '__saphan_verb run; and contains -- -- (commandline -opc)' -a '(__fish_complete_subcommand --fcs-skip=3)'

complete -c saphan -n '__saphan_verb legs' -f -l all -d 'those that ended, too'
complete -c saphan -n '__saphan_verb legs' -f -l json -d 'one JSON object a line'
complete -c saphan -n '__saphan_verb leg' -f -a 'show logs kill allow deny (__saphan_legs)'
complete -c saphan -n '__saphan_verb leg' -f -l follow -d 'until it ends'
complete -c saphan -n __fish_use_subcommand -f -a image -d 'images for containers'
complete -c saphan -n '__saphan_verb image' -a 'add list show rm gc'
complete -c saphan -n '__saphan_verb image' -l reference -x -d 'which of several'
complete -c saphan -n '__saphan_verb machine' -f -a 'show probe-confinement'
complete -c saphan -n '__saphan_verb machine' -f -l json -d 'JSON lines'
complete -c saphan -n '__saphan_verb matrix' -f -a 'measure show history export import report'
complete -c saphan -n '__saphan_verb matrix' -l vendor -x -d 'vendor'
complete -c saphan -n '__saphan_verb matrix' -l html -r -F -d 'page'
complete -c saphan -n '__saphan_verb matrix' -l markdown -r -F -d 'page'
complete -c saphan -n '__saphan_verb matrix' -l bin -r -F -d 'program'
complete -c saphan -n '__saphan_verb matrix' -l json -d 'JSON lines'
complete -c saphan -n '__saphan_verb image' -a 'add list show rm gc (__saphan_images)'
complete -c saphan -n '__saphan_verb image' -l reference -x -d 'which of them'
complete -c saphan -n '__saphan_verb image' -l json -d 'JSON lines'
complete -c saphan -n '__saphan_verb explain' -f -a '(saphan explain 2>/dev/null | awk \'{ print $1 }\')'
complete -c saphan -n '__saphan_verb status legs leg machine explain' -f
