#!/bin/bash
# The layering check must find each violation that is planted here, and nothing in the tree as it is.
set -u
here=$(dirname "$(readlink -f "$0")")
top=$(dirname "$(dirname "$here")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0
result() { # VERDICT NAME
    n=$((n + 1))
    echo "$1 $n - $2"
}
fresh() {
    rm -rf "$work/tree"
    mkdir "$work/tree"
    (cd "$top" && tar -c --exclude='./build*' --exclude=./.git --exclude='*/node_modules' .) |
        tar -x -C "$work/tree"
}
# finds NAME PATTERN: the check, run over the tree with the violation in it, names it.
finds() {
    if out=$("$here/check.py" "$work/tree" 2>&1); then
        result "not ok" "$1: it was let through"
    elif grep -q -- "$2" <<<"$out"; then
        result ok "$1 is found"
    else
        printf '%s\n' "$out" | sed 's/^/# /'
        result "not ok" "$1: found something else"
    fi
}

if out=$("$here/check.py" "$top" 2>&1); then
    result ok "the tree keeps the rules"
else
    printf '%s\n' "$out" | sed 's/^/# /'
    result "not ok" "the tree keeps the rules"
fi

fresh
echo '#include "saphan.pb-c.h"' >"$work/tree/daemon/warden/planted.c"
finds "the warden including the wire" "room warden may not use room proto"
fresh
echo '#include "frame.h"' >"$work/tree/daemon/warden/planted.c"
finds "the warden including framing" "room warden may not use room proto"
fresh
echo '#include "channel.h"' >"$work/tree/policy/planted.c"
finds "policy looking up at seam" "room policy may not use room seam"
fresh
echo '#include "../seam/plan.h"' >"$work/tree/daemon/stub/planted.c"
finds "an include by ../" "include by '../'"
fresh
echo '#include <sqlite3.h>' >"$work/tree/daemon/front/planted.c"
finds "a front reading the ledger" "may not use <sqlite3.h>"
fresh
echo '/* twice */' >"$work/tree/client/plan.h"
finds "a header name twice" "header name is taken"
fresh
sed -i 's/dependencies: \[/dependencies: [proto_dep, /' "$work/tree/daemon/seam/meson.build"
finds "a dependency upwards in meson.build" "room seam may not depend on room proto"
fresh
touch "$work/tree/daemon/base/string-util.c"
finds "a file named util" "'util' says nothing"
fresh
yes '/* line */' | head -n 601 >"$work/tree/daemon/base/long.c"
finds "a file of 601 lines" "more than 600 lines"
fresh
{ echo 'void planted(void)'; echo '{'; yes ';' | head -n 81; echo '}'; } >"$work/tree/daemon/base/planted.c"
finds "a function of 82 lines" "function of 82 lines"
fresh
printf '/* %s: later */\n' TO""DO >"$work/tree/daemon/base/planted.c"
finds "words of unfinished work" "unfinished work"
fresh
touch "$work/tree/notes.txt"
finds "a stray file at the top" "does not belong at the top"
fresh
mkdir "$work/tree/daemon/cellar"
echo '#include "saphan.pb-c.h"' >"$work/tree/daemon/cellar/planted.c"
finds "a room that the table does not know" "lies in no room"
fresh
echo '#include <openssl/ssl.h>' >"$work/tree/daemon/warden/planted.c"
finds "the warden speaking TLS" "may not use <openssl/ssl.h>"
echo "1..$n"
