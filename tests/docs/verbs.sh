#!/bin/bash
# verbs.sh SAPHAN SAPHAND - every verb says what it is for and ends with 0; a wrong one says so, with 125;
# every option that a page names is one that the program knows, and the other way round.
set -u
saphan=$1 saphand=$2
top=$(dirname "$(dirname "$(dirname "$(readlink -f "$0")")")")
n=0
result() { n=$((n + 1)); echo "$1 $n - $2"; }
check() {
    local name=$1 said
    shift
    if said=$("$@" 2>&1); then result ok "$name"; else
        printf '%s\n' "$said" | sed 's/^/# /'
        result "not ok" "$name"
    fi
}
for verb in "" run legs leg "leg show" "leg logs" "leg kill" "leg allow" "leg deny" image "image add" "image list" "image show" "image rm" "image gc" status machine matrix "matrix measure" "matrix show" "matrix history" "matrix export" "matrix import" "matrix report" why explain; do
    # shellcheck disable=SC2086
    if said=$("$saphan" $verb --help 2>/dev/null) && grep -q '^usage: ' <<<"$said"; then
        result ok "saphan $verb --help"
    else
        result "not ok" "saphan $verb --help"
    fi
done
check "saphan --version" bash -c "'$saphan' --version | grep -qE '[0-9]+\.[0-9]+'"
check "saphand --version" bash -c "'$saphand' --version | grep -qE '[0-9]+\.[0-9]+'"
check "saphand --help" bash -c "'$saphand' --help | grep -q -- --private"
check "quickstart --help says what it is, and does nothing" \
    bash -c "[ \"\$('$top/packaging/quickstart' --help | head -c 10)\" = quickstart ] && ! '$top/packaging/quickstart' --help | grep -q '^=='"
check "quickstart takes no other word" bash -c "! '$top/packaging/quickstart' --no-such 2>/dev/null && [ -z \"\$('$top/packaging/quickstart' --no-such 2>/dev/null)\" ]"
"$saphan" no-such-verb >/dev/null 2>&1
[ $? = 125 ] && result ok "an unknown verb is 125" || result "not ok" "an unknown verb is 125"

options() { grep -oE -- '--[a-z][a-z-]+' | sort -u | grep -vxE -- '--(help|version)'; }
page_options() { # of an mdoc page: Fl Fl name, Fl -name
    sed -nE 's/\\&//g; s/.*(Fl Fl |Fl \\?-)([a-z][a-z-]+).*/--\2/p' "$1" | sort -u | grep -vxE -- '--(help|version)'
}
for pair in "saphan.1:$saphan:run legs machine matrix why image" "saphand.8:$saphand:"; do
    IFS=: read -r page program verbs <<<"$pair"
    file=$(find "$top/client" "$top/daemon" -name "$page" | head -n 1)
    if [ -z "$file" ]; then
        result "not ok" "$page is there"
        continue
    fi
    known=$({ "$program" --help; for verb in $verbs; do "$program" "$verb" --help; done; } 2>/dev/null | options)
    unknown=$(comm -13 <(echo "$known") <(page_options "$file"))
    untold=$(comm -23 <(echo "$known") <(page_options "$file"))
    [ -z "$unknown$untold" ] && result ok "$page and --help name the same options" || {
        echo "# only in the page:" $unknown
        echo "# only in --help:" $untold
        result "not ok" "$page and --help name the same options"
    }
done
# What a page gives to be typed is printed as it is typed: `--workspace .` must not become `--workspace.`.
for file in "$top"/client/saphan.1 "$top"/daemon/warden/saphand.8 "$top"/policy/*.5; do
    printed=$(mandoc -T ascii -O width=400 "$file" | col -b | tr -s '[:space:]' ' ')
    wrong=""
    while IFS= read -r typed; do
        typed=$(sed -E 's/\\&//g; s/\\-/-/g' <<<"$typed")
        [[ $printed == *" $typed "* ]] || wrong="$wrong; $typed"
    done < <(sed -nE 's/^\.Dl //p' "$file")
    [ -z "$wrong" ] && result ok "${file##*/} prints commands as they are typed" ||
        result "not ok" "${file##*/} prints commands as they are typed$wrong"
done
# Every reason of the table can be explained.
missing=""
for slug in $(sed -nE 's/^ *REASON\([A-Z_]+, "([a-z-]+)".*/\1/p' "$top/policy/reasons.def"); do
    "$saphan" explain "$slug" >/dev/null 2>&1 || missing="$missing $slug"
done
[ -z "$missing" ] && result ok "every reason is explained" || result "not ok" "every reason is explained:$missing"
echo "1..$n"
