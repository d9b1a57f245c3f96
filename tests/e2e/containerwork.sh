#!/bin/bash
# containerwork.sh - a leg in a container works in a repository and in a linked worktree, whoever it is
# inside and whatever it holds; its limits bind as everywhere.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"
policy "$LEG_USER root" Boundary=container 'Image=*' Image-Add=yes 'Capabilities=CAP_CHOWN CAP_DAC_OVERRIDE CAP_FOWNER' >"$T/d.policy"
start_daemon "$T/d" || not_ok "a daemon starts" "$(cat "$T/d.log")"
export SAPHAN_SOCKET=$T/d/saphan.sock
check "an image with the host's programs" host_image host
box() { leg --boundary container --image host --read /usr "$@"; }

# ---- git ----
repo=$W/repo
git_() { as_user git "$@" >/dev/null 2>&1; }
git_ init -q -b main "$repo" && git_ -C "$repo" -c user.name=a -c user.email=a@b commit -q --allow-empty -m zero &&
    git_ -C "$repo" worktree add "$W/tree" -b side || not_ok "a repository and a worktree of it"
commit='touch new && git add new && git -c user.name=a -c user.email=a@b commit -qm one && git log --oneline | wc -l'
steal='for file in hooks/post-commit config info/attributes; do echo x >"$(git rev-parse --git-common-dir)/$file" && echo "$file"; done; true'
back() { git_ -C "$1" reset -q --hard HEAD~1; rm -f "$1/new"; }
for who in 0:0 1000:1000 "1000:1000 --capability CAP_CHOWN --capability CAP_DAC_OVERRIDE --capability CAP_FOWNER"; do
    for tree in repo tree; do
        # shellcheck disable=SC2086
        box --user $who --workspace "$W/$tree:/work" --git -- sh -c "$commit"
        expect "$who: a commit in $tree" 0 GREEN
        equal "$who: and it is there" 2 "$(as_user git -C "$W/$tree" log --oneline | wc -l)"
        equal "$who: as the requester's" "$leg_uid" "$(stat -c %u "$W/$tree/new")"
        back "$W/$tree"
        # shellcheck disable=SC2086
        box --user $who --workspace "$W/$tree:/work" -- sh -c "$commit"
        check_not "$who: none without --git in $tree" test "$rc" = 0
        rm -f "$W/$tree/new"
        # shellcheck disable=SC2086
        box --user $who --workspace "$W/$tree:/work" --git -- sh -c "$steal"
        equal "$who: nothing that git runs later can be written in $tree" "" "$(output)"
    done
done
check_not "no hook was left" test -e "$repo/.git/hooks/post-commit"

# ---- limits ----
count='import os, time
n = 0
try:
    while n < 50:
        THE_ACT
        n += 1
except OSError as error:
    print(error.errno)
print(n < 50)'
spend() { # OPTION... ACT
    box "${@:1:$#-1}" -- /usr/bin/python3 -c "${count/THE_ACT/${!#}}"
    output | tr '\n' ' ' | sed 's/ $//'
}
fork='os.fork() or (time.sleep(3), os._exit(0))'
equal "control: fifty children" False "$(spend "$fork")"
equal "tasks=10 bounds them" "11 True" "$(spend --limit tasks=10 "$fork")"
equal "control: fifty files" False "$(spend 'os.dup(0)')"
equal "files=16 bounds them" "24 True" "$(spend --limit files=16 'os.dup(0)')"
box --limit wall=1s -- sleep 20
expect "wall=1s ends it" 124 RED wall-time
finish
