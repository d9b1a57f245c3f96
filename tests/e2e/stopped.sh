#!/bin/bash
# A test that is stopped while it runs leaves nothing behind, in a /tmp of its own where it is alone.
. "$(dirname "$(readlink -f "$0")")/lib.sh"
cat >"$T/stop" <<'SH'
#!/bin/bash
# stop SIGNAL SCRIPT: stops SCRIPT in the middle of a leg; says what is left.
env -u SAPHAN_DAEMON_PID -u SAPHAN_DAEMON_LOG --default-signal=INT "$2" >"$3/log" 2>&1 </dev/null &
script=$!
for _ in $(seq 500); do
    began=$(compgen -G '/tmp/saphan-e2e.*/json') && [ -s "$began" ] && break
    sleep 0.02
done
echo "began ${began:+yes}"
kill "-$1" "$script" && kill "-$1" "$script" # as timeout(1) and a terminal do: more than once
wait "$script"
echo "status $?; left: $(ls -A /tmp /dev/shm | grep -v : | xargs)"
SH
cat >"$T/sleeps" <<SH
#!/bin/bash
. "$TESTS/e2e/lib.sh"
leg --workspace "\$W" -- /bin/sleep 100
SH
chmod 755 "$T/stop" "$T/sleeps"
mkdir "$T/logs" && chmod 777 "$T/logs"
for signal in TERM INT; do
    said=$("$TESTS/own-tmp" --keep "$T" "$T/stop" "$signal" "$T/sleeps" "$T/logs")
    number=$(kill -l "$signal")
    equal "SIG$signal ends it and takes all away" "began yes
status $((128 + number)); left: $(basename "$T")" "$said"
done
finish
