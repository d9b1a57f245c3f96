#!/bin/bash
# What stays read-only inside a workspace, and that nothing of ours stays in a user's tree.
. "$(dirname "$(readlink -f "$0")")/lib.sh"
WS=$T/ws

fresh() { # a workspace with something in it, and times in the past
    rm -rf "$WS"
    mkdir -p "$WS/src/deep" && echo int >"$WS/src/main.c" && mkdir "$WS/empty"
    owned "$WS"
    [ $# -eq 0 ] || "$@"
    owned "$WS"
    find "$WS" -exec touch -h -d '2020-01-02 03:04:05.678901234' {} +
}
repository() {
    owned "$WS"
    as_user git init -q "$WS" && as_user git -C "$WS" add . && committed
}
committed() { as_user git -C "$WS" -c user.name=n -c user.email=e commit -qm first; }
inside() { leg --workspace "$WS" "${@:2}" -- /bin/bash -c "cd '$WS'; $1"; }
# untouched NAME: the tree is byte for byte what it was, times included
untouched() {
    if [ "$before" = "$(tree "$WS")" ]; then ok "$1: the tree is as it was"; else
        not_ok "$1: the tree is as it was" "$(diff <(echo "$before") <(tree "$WS"))"; fi
}
# refused NAME SCRIPT: it fails inside, and leaves the tree as it was
refused() {
    inside "$2"
    if [ "$rc" != 0 ] && [ "$(colour)" = RED ]; then ok "$1: refused"; else not_ok "$1: refused" "$(told)"; fi
    untouched "$1"
}

fresh
before=$(tree "$WS")
inside 'ls -la; git rev-parse --show-toplevel; true'
expect "a leg that only looks" 0 GREEN
untouched "a leg that only looks"
for name in .git .codex .agents .claude; do
    refused "mkdir $name" "mkdir $name"
    refused "touch $name" "touch $name"
    refused "mkdir -p $name/hooks" "mkdir -p $name/hooks"
    refused "a file in $name" "echo x >$name/config"
    refused "mv x $name" "mv empty $name"
    refused "mv -T x $name" "mv -T empty $name"
    refused "ln -s x $name" "ln -sT src $name"
    refused "ln x $name" "ln src/main.c $name"
    refused "rmdir $name; mkdir $name" "rmdir $name; mkdir $name"
    refused "mv $name away; mkdir $name" "mv $name g && mkdir $name"
done
leg --write "$WS" -- /bin/bash -c "cd '$WS'; mkdir .git && mv .git g && mkdir .git && mv empty .codex"
expect "control: in a plain write grant all of it works" 0 GREEN

fresh repository
before=$(tree "$WS")
inside 'git rev-parse HEAD && git log --oneline && git status --short && ls -la .git'
expect "a repository is readable" 0 GREEN
untouched "a repository is readable"
refused "a write to .git/config" 'echo x >>.git/config'
refused "a new hook" 'echo x >.git/hooks/pre-commit'
refused "mv .git g; mkdir .git" 'mv .git g; mkdir .git'
refused "rm -rf .git" 'rm -rf .git'
refused "git commit without --git" 'git -c user.name=n -c user.email=e commit --allow-empty -qm x'
refused "exchange of names" 'python3 -c "
import ctypes, sys
sys.exit(ctypes.CDLL(None).renameat2(-100, b\"empty\", -100, b\".git\", 2) != 0)"'
refused "chmod of .git" 'chmod 777 .git'
refused "chmod of a file in it" 'chmod 777 .git/config'
refused "setting times in it" 'touch -d 2000-01-01 .git/config'
refused "a hard link out of it, written" 'ln .git/config copy && echo x >>copy'
inside 'echo more >>src/main.c && mkdir new && mv src/main.c new/ && ln new/main.c src/link'
expect "control: the rest of the workspace is writable" 0 GREEN

# --git
fresh repository
config_before=$(sha256sum "$WS/.git/config"; ls -R "$WS/.git/hooks")
inside 'echo more >>src/main.c && git -c user.name=n -c user.email=e commit -qam second' --git
expect "--git: a commit" 0 GREEN
equal "--git: the commit is there" second "$(as_user git -C "$WS" log -1 --format=%s 2>&1)"
inside 'git config core.hooksPath /tmp/x' --git
check_not "--git: the configuration stays read-only" [ "$rc" = 0 ]
inside 'echo x >.git/hooks/pre-commit' --git
check_not "--git: so do the hooks" [ "$rc" = 0 ]
inside 'mv .git g && mkdir .git' --git
check_not "--git: .git cannot be renamed" [ "$rc" = 0 ]
inside 'mv .git/hooks .git/h && mkdir .git/hooks' --git
check_not "--git: nor can the hooks" [ "$rc" = 0 ]
equal "--git: configuration and hooks are as they were" "$config_before" "$(sha256sum "$WS/.git/config"; ls -R "$WS/.git/hooks")"

# kept if there, free if not
fresh
inside 'mkdir .vscode && echo x >.mcp.json'
expect "a name that is only kept where it exists can be made" 0 GREEN
fresh mkdir "$WS/.vscode"
before=$(tree "$WS")
refused "and not be written where it exists" 'echo x >.vscode/settings.json'

# symlinks
fresh
mkdir -p "$T/outside" && echo safe >"$T/outside/f" && owned "$T/outside"
ln -sT "$T/outside" "$WS/.git" && owned "$WS/.git"
before=$(tree "$WS"; tree "$T/outside")
inside 'echo x >.git/f; rm .git; ln -s /tmp .git; mv .git g'
check ".git a symlink to the outside: refused or held" bash -c "[ '$rc' != 0 ]"
equal "and both trees are as they were" "$before" "$(tree "$WS"; tree "$T/outside")"
fresh
mkdir "$WS/real" && echo safe >"$WS/real/f" && ln -sT real "$WS/.git" && owned "$WS"
before=$(tree "$WS")
inside 'echo x >.git/f'
check_not ".git a symlink inside the grant: not written through" [ "$rc" = 0 ]
inside 'echo x >real/f'
check_not "nor where it really is" [ "$rc" = 0 ]
inside 'rm .git && mkdir .git'
check_not "nor can the link be replaced" [ "$rc" = 0 ]
untouched ".git a symlink inside the grant"
for link in . ../ws src/.. "$WS/." "$WS"; do
    fresh
    ln -sT "$link" "$WS/.git" && owned "$WS/.git"
    before=$(tree "$WS")
    inside 'echo x >.git/config'
    check_not ".git a symlink to the workspace ($link): not written through" [ "$rc" = 0 ]
    untouched ".git a symlink to the workspace ($link)"
done
for link in . ..; do
    fresh
    ln -sT "$link" "$WS/src/deep/link" && owned "$WS/src/deep/link"
    leg --workspace "$WS" --carve-out src/deep/link -- /bin/sh -c "echo x >'$WS/src/deep/link/f'"
    check_not "--carve-out of a symlink to $link: not written through" [ "$rc" = 0 ]
    leg --workspace "$WS" --carve-out src/deep/link -- /bin/sh -c "echo x >'$WS/empty/f'"
    expect "control: beside where it leads to the grant is writable ($link)" 0 GREEN
done
for link in /proc/self/cwd/real /dev/fd/../cwd/real; do
    fresh
    mkdir "$WS/real" && ln -sT "$link" "$WS/.claude" && owned "$WS"
    inside 'echo x >.claude/settings.json'
    expect ".claude a symlink to where each process finds its own ($link): refused" 125 REFUSED carve-out-unenforceable
done
fresh
ln -sT /dev/null "$WS/.mcp.json" && owned "$WS"
inside 'cat .mcp.json'
expect ".mcp.json a symlink to /dev/null: the leg starts" 0 GREEN
fresh
ln -sT dangling "$WS/.git" && owned "$WS"
before=$(tree "$WS")
inside 'mkdir dangling && echo x >.git/config'
check_not ".git a dangling symlink: nothing comes to exist behind it" [ "$rc" = 0 -a -e "$WS/.git/config" ]

# a carve-out asked for, deep
fresh
before=$(tree "$WS")
for script in 'mkdir src/deep/secret' 'mv src s && mkdir -p src/deep/secret' 'mv src/deep src/d && mkdir -p src/deep/secret'; do
    leg --workspace "$WS" --carve-out src/deep/secret -- /bin/bash -c "cd '$WS'; $script"
    check_not "--carve-out src/deep/secret: $script" [ "$rc" = 0 ]
done
untouched "--carve-out"
leg --workspace "$WS" --carve-out /etc/passwd -- /bin/true
expect "a carve-out outside the grants" 125 REFUSED carve-out-outside-grants

# a linked worktree
fresh repository
rm -rf "$T/tree"
mkdir "$T/tree" && owned "$T/tree"
as_user git -C "$WS" worktree add -q "$T/tree" -b side
leg --workspace "$T/tree" -- /bin/bash -c "cd '$T/tree'; echo 'gitdir: /tmp' >.git"
check_not "a linked worktree's .git file stays" [ "$rc" = 0 ]
leg --workspace "$T/tree" --git -- /bin/bash -c "cd '$T/tree'; echo x >f; git add f; git -c user.name=n -c user.email=e commit -qm side"
expect "a linked worktree, --git: a commit" 0 GREEN
equal "and it is there" side "$(as_user git -C "$T/tree" log -1 --format=%s 2>&1)"
leg --workspace "$T/tree" --git -- /bin/bash -c "echo x >>'$WS/.git/config'"
check_not "the common directory's configuration stays" [ "$rc" = 0 ]
rm -rf "$T/forged" && mkdir "$T/forged" && echo "gitdir: $WS/.git/worktrees/tree" >"$T/forged/.git" && owned "$T/forged"
leg --workspace "$T/forged" --git -- /bin/true
expect "a forged .git file gives nothing" 125 REFUSED worktree-forged

# two legs in one tree: the last one out takes the placeholders away
fresh
before=$(tree "$WS")
(cd "$W" && as_user saphan run --workspace "$WS" -- /bin/sleep 1.5) >/dev/null 2>&1 &
await 5 test -e "$WS/.git"
inside true
check_not "while another leg runs the name cannot be taken" as_user saphan run --workspace "$WS" -- /bin/mkdir "$WS/.codex"
wait $!
untouched "two legs"

# SIGKILL of the daemon in the middle, then a start
fresh
before=$(tree "$WS")
start_daemon "$T/own" || not_ok "a daemon to kill" "$(tail -5 "$T/own.log")"
(cd "$W" && SAPHAN_SOCKET=$T/own/saphan.sock as_user saphan run --workspace "$WS" -- /bin/sleep 27182.8) >/dev/null 2>&1 &
client=$!
check "a leg runs" await 5 running 27182.8
kill -KILL "$daemon_pid"
wait "$client" "$daemon_pid" 2>/dev/null
check "its processes ended with the daemon" await 2 not_running 27182.8
start_daemon "$T/own" || not_ok "a daemon that sweeps" "$(tail -5 "$T/own.log")"
untouched "after SIGKILL of the daemon and a start"
check "the leg's row says INDETERMINATE" bash -c "SAPHAN_SOCKET=$T/own/saphan.sock setpriv --reuid $LEG_USER --regid $leg_gid --init-groups saphan legs --all | grep -q INDETERMINATE"
kill "$daemon_pid"

# only what bears our mark is removed
fresh
mkdir "$WS/.codex" && owned "$WS" && before=$(tree "$WS")
inside true
untouched "a user's own empty .codex stays"
finish
