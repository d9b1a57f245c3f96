# door_world.bash - the world outside of the legs: sourced first, it starts the script again in a network namespace of
# its own, and sources lib.sh; a script that has one of its own (vendors) sources this behind that.
# shellcheck shell=bash
if [ -z "${DOOR_WORLD:-}" ]; then
    export DOOR_WORLD=1
    exec unshare -n -- "$(readlink -f "$0")" "$@"
fi
# shellcheck source-path=SCRIPTDIR source=lib.sh
declare -F start_daemon >/dev/null || . "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"
POLICY_HOSTS=${POLICY_HOSTS:-'*.example.test:* example.test:* 127.0.0.1:8000'}

open_world() { # [CONFIG-LINE...]: servers, a resolver, and a daemon whose policy lets doors be asked for
    ip link set lo up && ip address add 11.22.33.44/32 dev lo
    openssl req -x509 -newkey rsa:2048 -nodes -keyout "$T/key.pem" -out "$T/ca.pem" -days 2 -subj /CN=test \
        -addext 'subjectAltName=DNS:api.example.test,DNS:*.example.test,DNS:other.test' 2>/dev/null
    cat "$T/key.pem" "$T/ca.pem" >"$T/server.pem"
    : >"$T/http.log" >"$T/tls.log"
    "$TESTS/e2e/door_servers.py" "$T" </dev/null >"$T/servers.log" 2>&1 &
    await 10 test -e "$T/ready" || { cat "$T/servers.log"; exit 1; }
    printf '%s\n' '[saphand]' Resolver=127.0.0.1 "$@" >"$T/conf"
    policy "$LEG_USER root" "Net=door landlock-net cgroup-bpf" "Host=$POLICY_HOSTS" "Forward-Unix=$T/unix" \
        Boundary=container 'Image=*' Image-Add=yes >"$T/door.policy"
    start_daemon "$T/door" --config "$T/conf" || { cat "$T/door.log"; exit 1; }
    export SAPHAN_SOCKET=$T/door/saphan.sock
}
