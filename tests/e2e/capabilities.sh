#!/bin/bash
# capabilities.sh - no capability unless the policy lists it and the request names it; each act beside a
# control without it; over the leg's own, never over what is another's in a grant.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

root=$T/root
mkdir -p "$root"/{bin,etc,data,usr}
cp "$(command -v busybox)" "$root/bin/busybox"
for name in sh ls cat id chown chmod stat touch grep mkdir ln rm true; do ln -s busybox "$root/bin/$name"; done
ln -s usr/lib "$root/lib" && ln -s usr/lib64 "$root/lib64"
printf 'root:x:0:0:root:/root:/bin/sh\n' >"$root/etc/passwd"
all="CAP_CHOWN CAP_DAC_OVERRIDE CAP_FOWNER CAP_FSETID CAP_NET_BIND_SERVICE"
policy "$LEG_USER root" 'Boundary=domain container' 'Image=*' Image-Add=yes Capabilities="$all" Nested=allow >"$T/all.policy"
policy "$LEG_USER root" 'Boundary=domain container' 'Image=*' Image-Add=yes Capabilities=CAP_CHOWN >"$T/one.policy"
policy "$LEG_USER root" 'Boundary=domain container' 'Image=*' Image-Add=yes >"$T/none.policy"
for name in all one none; do
    start_daemon "$T/$name" || not_ok "a daemon starts" "$(cat "$T/$name.log")"
    check "the image is added ($name)" env SAPHAN_SOCKET="$T/$name/saphan.sock" timeout 60 saphan image add small "$root"
done
box() { leg --boundary container --image small "$@"; }
with() { export SAPHAN_SOCKET=$T/$1/saphan.sock; }
claims() { jq -r 'select(.event == "verdict") | .claims[].claim' "$T/json" | grep -qx "$1"; }
sets='for s in Inh Prm Eff Bnd Amb; do grep Cap$s /proc/self/status; done'
plain() { tr -s '\t ' ' ' <"$T/out" | sed 's/^Cap//' | tr '\n' ';'; }

# ---- refused by name ----
with none
box --capability CAP_CHOWN -- true
expect "where the policy lists none" 125 REFUSED capability-not-allowed
with one
box --capability CAP_FOWNER -- true
expect "where it lists another" 125 REFUSED capability-not-allowed
check "with what was asked and what is let" grep -q 'asked: CAP_FOWNER; .* lets: CAP_CHOWN' "$T/json"
box --capability CAP_CHOWN --capability CAP_FOWNER -- true
expect "one of two" 125 REFUSED capability-not-allowed
with all
for name in CAP_SYS_ADMIN CAP_SETUID CAP_KILL CAP_NET_ADMIN CAP_SETFCAP cap_chown CHOWN CAP_CHOWN= 0 ALL; do
    box --capability "$name" -- true
    expect "no leg can have $name" 125 REFUSED capability-unknown
done
leg --capability CAP_CHOWN -- true
expect "a domain has none" 125 REFUSED image-needed
for name in CAP_SYS_ADMIN ALL chown; do
    policy "$LEG_USER" 'Boundary=container' Capabilities=$name >"$T/bad.policy"
    check_not "a policy cannot list $name" start_daemon "$T/bad"
done

check "saphan status tells what may be asked for" bash -c "saphan status | grep -q 'capabilities: CAP_CHOWN'"

# ---- the sets ----
with one
box -- sh -c "$sets"
equal "nothing asked: every set is empty" "Inh: 0000000000000000;Prm: 0000000000000000;Eff: 0000000000000000;Bnd: 0000000000000000;Amb: 0000000000000000;" "$(plain)"
check "and that is claimed" claims no-privilege
with all
for user in 0:0 1000:1000; do
    box --user $user --capability CAP_CHOWN --capability CAP_NET_BIND_SERVICE -- sh -c "sh -c '$sets'"
    equal "$user: exactly what was asked, over every exec" "Inh: 0000000000000401;Prm: 0000000000000401;Eff: 0000000000000401;Bnd: 0000000000000401;Amb: 0000000000000401;" "$(plain)"
done
with one
box --capability CAP_CHOWN -- true
check "but privilege-listed" claims privilege-listed
check_not "and not no-privilege" claims no-privilege
with all

# ---- each, and its control ----
can() { # NAME CAPABILITY COMMAND
    box --user 1000:1000 -- sh -c "$3"
    check_not "control: $1 without it" test "$rc" = 0
    box --user 1000:1000 --capability "$2" -- sh -c "$3"
    expect "$1 with $2" 0 GREEN
}
can "a file is given away" CAP_CHOWN 'touch /tmp/a && chown 55:66 /tmp/a && test "$(stat -c %u:%g /tmp/a)" = 55:66'
can "a closed directory is opened" CAP_DAC_OVERRIDE 'mkdir -m 0 /tmp/d && touch /tmp/d/x'
can "another's file of the scratch is changed" CAP_FOWNER 'chmod 700 /tmp'
bind='import socket; s = socket.socket(); s.bind(("127.0.0.1", 80))'
for capability in "" CAP_NET_BIND_SERVICE; do
    box --user 1000:1000 --read /usr:/usr ${capability:+--capability $capability} -- /usr/bin/python3 -c "$bind"
    if [ -z "$capability" ]; then expect "control: a low port without it" 1 RED exit-status; else expect "a low port with $capability" 0 GREEN; fi
done
box --user 1000:1000 --net host --read /usr:/usr --capability CAP_NET_BIND_SERVICE -- /usr/bin/python3 -c "${bind//80/81}"
check "but with net host a low port is the host's, not the leg's own" grep -q PermissionError "$T/err"
asks=(--user 1000:1000 --capability CAP_CHOWN)
setgid='touch /tmp/s && chown :66 /tmp/s && chmod 2775 /tmp/s && stat -c %a /tmp/s'
box "${asks[@]}" -- sh -c "$setgid"
equal "control: setgid for another group without it" 775 "$(output)"
box "${asks[@]}" --capability CAP_FSETID -- sh -c "$setgid"
equal "setgid for another group with CAP_FSETID" 2775 "$(output)"
asks=()
for name in $all; do asks+=(--capability "$name"); done
box --writable-root "${asks[@]}" -- sh -c 'chown 55:66 /data && touch /data/x && stat -c %u:%g /data'
equal "the image's files, in its own memory" 55:66 "$(output)"
box -- stat -c %u:%g /data
equal "and the image is as it was" 0:0 "$(output)"

# ---- a grant: what is another's stays another's ----
mkdir "$W/mine" "$T/theirs" && echo mine >"$W/mine/file" && owned "$W/mine"
echo root >"$W/mine/root" && chmod 600 "$W/mine/root"
echo other >"$W/mine/other" && chown "$OTHER_USER" "$W/mine/other" && chmod 600 "$W/mine/other"
echo group >"$W/mine/group" && chown "$LEG_USER:$(id -g "$OTHER_USER")" "$W/mine/group"
chmod 666 "$W/mine/root"
before=$(tree "$W/mine" | grep -v "^\. ")
for user in 0:0 1000:1000; do
    for act in 'cat /m/other' 'chown 0 /m/other' 'chmod 777 /m/other' 'echo x >>/m/root' 'chmod 777 /m/root' 'chown 0:0 /m/root' \
        'chown 77 /m/file' 'chown :77 /m/file' 'ln /m/other /m/link' 'touch -d @1 /m/root' 'chmod 4777 /m/other'; do
        box --user $user "${asks[@]}" --write "$W/mine:/m" -- sh -c "$act"
        check_not "$user with all of them: $act" test "$rc" = 0
    done
    box --user $user "${asks[@]}" --write "$W/mine:/m" -- sh -c 'cat /m/file; echo x >/m/new; stat -c %u /m/new; rm /m/new'
    equal "$user: what is the requester's is the leg's" "mine ${user%:*}" "$(output | tr '\n' ' ' | sed 's/ $//')"
done
equal "the grant is as it was" "$before" "$(tree "$W/mine" | grep -v "^\. ")"
# The control: the same without a capability, where another's file that everybody may write can be.
box --user 1000:1000 --write "$W/mine:/m" -- sh -c 'echo x >>/m/root'
expect "control: what everybody may write, without a capability" 0 GREEN

# ---- a workspace's carve-outs ----
box --user 1000:1000 "${asks[@]}" --workspace "$W/mine:/m" -- sh -c 'rm -r /m/.git; mkdir /m/.git/x; touch /m/.codex/x; chmod 777 /m/.git; touch /m/fine'
check "a workspace can be worked in" test -e "$W/mine/fine"
check_not "a carve-out that does not exist cannot come to be" test -e "$W/mine/.git"
equal "and nothing of ours stays" "" "$(ls -A "$W/mine" | grep '^\.')"
finish
