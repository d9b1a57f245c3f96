#!/bin/bash
# door_container.sh - the three networks of a leg in a container: none, its door, the host's.
# All of it, the daemon too, is in a network namespace of this test's own, where 11.22.33.44 is "the world".
# shellcheck source-path=SCRIPTDIR source=door_world.bash
. "$(dirname "$0")/door_world.bash"
open_world
check "an image with the host's programs is added" host_image host
box() { leg --boundary container --image host --read /usr "$@"; }
events() { jq -r "select(.event == \"$1\") | $2" "$T/json"; }
denied() { events denied '.subject + " " + .reason' | sort -u | paste -sd, ; }
fetch='curl -s -m 5 -o /dev/null -w %{http_code}'

for user in 0:0 1000:1000; do
    door() { box --user "$user" --net door "$@"; }
    door --allow api.example.test --read "$T/ca.pem" -- curl -s -m 5 --cacert "$T/ca.pem" https://api.example.test/hello
    expect "$user: a host on the list is reached" 0 GREEN
    equal "$user: and it is that host" "hello from api.example.test" "$(output)"
    equal "$user: the connection is told" "api.example.test:443" "$(events connected .subject)"
    check "$user: egress goes by the list" grep -q egress-listed "$T/json"
    door --allow '*.example.test:80' -- sh -c "$fetch http://deep.under.example.test/; $fetch http://other.test/; $fetch https://deep.under.example.test/"
    equal "$user: another host, another port are refused" 200403000 "$(output)"
    equal "$user: and told" "deep.under.example.test:443 host-not-listed,other.test:80 host-not-listed" "$(denied)"
    door --allow api.example.test:80 -- sh -c "$fetch --noproxy '*' http://11.22.33.44/ || echo no; ip -o addr 2>/dev/null | wc -l; ls /sys/class 2>&1 | head -1"
    check "$user: past the door there is nothing" grep -q '^000no' "$T/out"
done
box --net door --allow other.test -- true
expect "what the policy does not cover is refused" 125 REFUSED host-outside-ceiling
box --net door --allow api.example.test:80 --capability CAP_NET_BIND_SERVICE -- true
expect "nor is a capability let where the policy lists none" 125 REFUSED capability-not-allowed
box --net door --forward 9000=api.example.test:80 -- curl -s -m 5 -H 'Host: api.example.test' http://127.0.0.1:9000/f
equal "a forward leads to its one target" "hello from api.example.test" "$(output)"

box -- sh -c "$fetch http://11.22.33.44/ || echo no"
equal "net none: nothing is reached" 000no "$(output)"
check "and that is claimed" grep -q egress-cut "$T/json"
box --net host -- sh -c "$fetch http://11.22.33.44/"
equal "control: net host reaches it" 200 "$(output)"
equal "and egress is not claimed to be cut" false "$(events verdict .egress_cut)"
finish
