#!/bin/bash
# Policy files: what is wrong with one is said with its line, and no daemon starts on it.
. "$(dirname "$(readlink -f "$0")")/lib.sh"
own=$T/own
daemon=("$SAPHAN_BUILD/daemon/saphand" --libexec "$SAPHAN_BUILD/daemon")
[ "$(stat -c %u "${daemon[0]}")" = 0 ] || daemon+=(--custodian "$(stat -c %u "${daemon[0]}")")

# wrong NAME PATTERN: the policy in $own.policy is refused by --check and at start
wrong() {
    local said status
    mkdir -p "$own"
    said=$(timeout 20 "${daemon[@]}" --private "$own" --policy "$own.policy" --check 2>&1)
    status=$?
    if [ $status != 0 ] && grep -qE "$2" <<<"$said"; then ok "--check: $1"; else not_ok "--check: $1" "status $status, wanted /$2/: $said"; fi
    if start_daemon "$own"; then not_ok "no start: $1"; kill "$daemon_pid"; else ok "no start: $1"; fi
}
good() { policy "$LEG_USER" "$@" >"$own.policy"; }

good
mkdir -p "$own"
check "control: --check of a good policy" "${daemon[@]}" --private "$own" --policy "$own.policy" --check
if start_daemon "$own"; then ok "control: a start with it"; else not_ok "control: a start with it" "$(tail -3 "$own.log")"; fi
kill "$daemon_pid"; wait "$daemon_pid" 2>/dev/null
: >"$own.policy"; wrong "an empty file" 'empty|no rule'
printf '# only a comment\n' >"$own.policy"; wrong "only a comment" 'empty|no rule|section'
good Nonsense=1; wrong "an unknown key" 'Nonsense'
{ policy "$LEG_USER"; echo '[deny x]'; } >"$own.policy"; wrong "an unknown section" 'section'
good Boundary=none; wrong "a boundary of none" 'unconfined|none'
good Read=relative; wrong "a relative ceiling" 'relative'
good Limit-Ceiling=memory=-1; wrong "a limit of -1" 'memory'
good Require-Rung=no-such-rung; wrong "a rung that is none" 'no-such-rung'
for user in 01 0x1 -1 1:0 +1 ' ' no-such-user-here; do
    policy "$user" >"$own.policy"; wrong "User=$user" "User|user|${user// /value}"
done
rm "$own.policy"; mkdir "$own.policy"; wrong "a folder in its place" 'policy'; rmdir "$own.policy"
echo x >"$own.policy.gone"; ln -s /no/such/file "$own.policy"; wrong "a dangling link" 'policy'; rm "$own.policy"
good; chmod 666 "$own.policy"; wrong "a file that everyone may write" 'custody|writable|other'
good; chown "$LEG_USER" "$own.policy"; wrong "a file of someone else" 'custody|owner|root'
rm -f "$own.policy"

# ---- what a policy says is what is done ----
mkdir -p "$T/in" "$T/out-of" && owned "$T/in" "$T/out-of"
printf '%s\n' '[allow narrow]' "User=$LEG_USER" Boundary=domain View=minimal Net=none Vendor=proc "Read=/usr $T/in" \
    "Write=$T/in" Limit-Ceiling=wall=10s Limit-Default=wall=5s Legs-At-Once=2 >"$own.policy"
chown root: "$own.policy"; chmod 644 "$own.policy"
start_daemon "$own" || not_ok "a narrow policy" "$(tail -3 "$own.log")"
export SAPHAN_SOCKET=$own/saphan.sock
leg --write "$T/in" -- /bin/true
expect "a write grant beneath the ceiling" 0 GREEN
leg --write "$T/out-of" -- /bin/true
expect "a write grant outside the ceiling" 125 REFUSED grant-outside-ceiling
leg --read "$T/out-of" -- /bin/true
expect "a read grant outside the ceiling" 125 REFUSED grant-outside-ceiling
ln -sfn "$T/out-of" "$T/in/link"
leg --write "$T/in/link" -- /bin/true
expect "a symlink beneath it to the outside" 125 REFUSED grant-outside-ceiling
leg --view host -- /bin/true
expect "a view that is not in it" 125 REFUSED view-not-allowed
leg --net host -- /bin/true
expect "a network that is not in it" 125 REFUSED net-not-allowed
leg --limit wall=1h -- /bin/true
expect "a limit above the ceiling" 125 REFUSED limit-outside-ceiling
leg --limit wall=9s -- /bin/true
expect "a limit beneath it" 0 GREEN
for _ in 1 2; do (cd "$W" && as_user saphan run --detach -- /bin/sleep 4 >/dev/null 2>&1); done
leg -- /bin/true
expect "a third leg of two at once" 125 REFUSED legs-too-many
leg -- /bin/sleep 0
(cd "$W" && as "$OTHER_USER" saphan run -- /bin/true) >"$T/out" 2>"$T/err" </dev/null
equal "another user" 125 $?

# ---- reload ----
policy "$LEG_USER root" >"$own.policy"
kill -HUP "$daemon_pid"
check "after HUP the new policy decides" await 5 as_user saphan run --net host -- /bin/true
echo Nonsense=1 >>"$own.policy"
kill -HUP "$daemon_pid"
sleep 0.3
leg --net host -- /bin/true
expect "a HUP with a broken file keeps the old one" 0 GREEN
check "and the log says so" grep -q Nonsense "$own.log"
policy root >"$own.policy"
kill -HUP "$daemon_pid"
check "who is not in it any more is refused" await 5 bash -c "! setpriv --reuid $LEG_USER --regid $leg_gid --init-groups saphan run -- /bin/true"
kill "$daemon_pid"
wait "$daemon_pid"
equal "TERM ends it with status 0" 0 $?
check_not "and its socket is gone" [ -e "$own/saphan.sock" ]
finish
