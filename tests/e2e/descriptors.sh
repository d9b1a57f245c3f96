#!/bin/bash
# A saphand that runs out of descriptors: whoever asks hears that, whatever they lacked for, and not that their
# request was at fault.
. "$(dirname "$(readlink -f "$0")")/lib.sh"
LEG_SECONDS=20
start_daemon "$T/own" || not_ok "a daemon of its own" "$(cat "$T/own.log")"
export SAPHAN_SOCKET=$T/own/saphan.sock
mkdir "$W/ws" && : >"$W/file" && owned "$W"
may_hold() { prlimit --pid "$daemon_pid" --nofile="$1:"; } # descriptors below this number
asked=(--workspace "$W/ws" --read "$W/file" -- /bin/true)
leg "${asked[@]}"
expect "control: a leg" 0 GREEN
highest=$(find "/proc/$daemon_pid/fd" -mindepth 1 -printf '%f\n' | sort -n | tail -n 1)

# From enough down to none, which is when not even connections are served, three times: each shortage is another step's.
declare -A steps=()
wrong="" unserved=0
for ((limit = highest + 20; limit > 3 && unserved < 3; limit--)); do
    may_hold "$limit"
    leg "${asked[@]}"
    unserved=$(($(reasons | grep -cx connection) ? unserved + 1 : 0))
    case $rc,$(colour),$(reasons) in
    0,GREEN,) steps[none]=1 ;;
    125,REFUSED,out-of-resources)
        step=$(jq -rs "$_judged | .reasons[0].detail" "$T/json")
        steps[$step]=1
        [[ $step == *EMFILE* ]] || wrong+="$limit: $step
"
        ;;
    125,*,connection) # none for the connection itself
        grep -qE 'too many connections|ended the connection' "$T/client" || wrong+="$limit: $(told)
" ;;
    *) wrong+="$limit: $(told)
" ;;
    esac
done
if [ -z "$wrong" ]; then ok "each is out-of-resources, with its errno"; else not_ok "each is out-of-resources, with its errno" "$wrong"; fi
printf '# %s\n' "${!steps[@]}"
check "control: with enough it started" [ -n "${steps[none]:-}" ]
check "and it was refused for descriptors that came with the request" \
    grep -q "the request's descriptors" <<<"${!steps[*]}"
check "and for others" [ ${#steps[@]} -gt 3 ]

# Connections: so many that no front can be had, or none can be accepted.
cat >"$T/hold.py" <<'PY'
import collections, os, select, socket, sys, time
said, held, poll = collections.Counter(), {}, select.poll()
for _ in range(40):
    one = socket.socket(socket.AF_UNIX)
    one.settimeout(10)
    one.connect(os.environ["SAPHAN_SOCKET"])
    held[one.fileno()] = one
    poll.register(one, select.POLLIN)
deadline = time.monotonic() + float(sys.argv[1])
while time.monotonic() < deadline and not said[bytes(4)]:
    for fd, _ in poll.poll(100):
        said[held[fd].recv(4)] += 1
        poll.unregister(fd)
print(said[bytes(4)])
PY
may_hold 4096
equal "control: 40 connections" 0 "$(python3 "$T/hold.py" 1)"
may_hold $((limit + 19)) # the scan's end: of the 40 some find none
busy=$(python3 "$T/hold.py" 20)
check "where there are no descriptors for them, some are told to come again ($busy)" [ "$busy" -gt 0 ]
may_hold 4096
leg "${asked[@]}"
expect "and when there are some again, legs start" 0 GREEN
finish
