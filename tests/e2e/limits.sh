#!/bin/bash
# Low limits: refused by name where no leg could start, kept to the letter where one can.
. "$(dirname "$(readlink -f "$0")")/lib.sh"

for files in 1 3; do
    leg --limit files=$files -- /bin/true
    expect "files=$files" 125 REFUSED limit-below-least
done
check "and says what is enough" grep -q 'at least 4' "$T/json"
leg --limit files=4 -- /bin/sh -c 'ulimit -n; ulimit -Hn'
expect "control: files=4 starts" 0 GREEN
equal "and is what the program has" "4 4" "$(output | xargs)"
leg --limit files=10 -- /bin/bash -c 'exec 9</dev/null && echo nine; exec 10</dev/null && echo ten'
equal "files=10: ten descriptors, no more" nine "$(output)"
leg -- /bin/bash -c 'exec 9</dev/null && echo nine; exec 10</dev/null && echo ten'
equal "control: without it more" "nine ten" "$(output | xargs)"
leg --limit memory=1M -- /bin/true
expect "memory=1M" 125 REFUSED limit-below-least
leg --limit tasks=1 -- /bin/true
expect "tasks=1: a program that stays alone" 0 GREEN
leg --limit tasks=1 -- /bin/sh -c '/bin/true; echo went on'
check_not "tasks=1: one that forks does not succeed" [ "$rc" = 0 ]
leg --limit tasks=3 -- /bin/sh -c '/bin/true; echo went on'
expect "control: with room for it" 0 GREEN
equal "it goes on" "went on" "$(output)"

# A small machine's own bounds are lower than a policy's: they hold, and the leg starts.
leg --limit tasks=99999999999,files=99999999999 -- /bin/sh -c 'ulimit -n; ulimit -Hn'
expect "limits above the machine's own" 0 GREEN
BEFORE_DAEMON=(prlimit --nproc=300:300 "${BEFORE_DAEMON[@]}")
policy "$LEG_USER root" Limit-Default=tasks=4096 >"$T/small.policy"
start_daemon "$T/small" || not_ok "a daemon on a small machine starts" "$(tail -5 "$T/small.log")"
export SAPHAN_SOCKET=$T/small/saphan.sock
leg -- /bin/bash -c 'ulimit -u'
expect "a policy's standard above the machine's own" 0 GREEN
equal "the machine's holds" 300 "$(output)"
leg --limit tasks=20 -- /bin/bash -c 'ulimit -u'
equal "control: a lower one holds" 20 "$(output)"
finish
