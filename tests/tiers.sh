# tiers.sh - a function for each tier, sourced by tests/run.  Each appends its results to $tap, a line
# for a single test, through tests/tap.py; what it prints is the tier's log.
# shellcheck shell=bash disable=SC2154

# result STATUS NAME [LOG]: one single test.
result() {
    if [ "$1" = 0 ]; then
        echo "ok - $2" >>"$tap"
    else
        echo "not ok - $2" >>"$tap"
        [ -z "${3:-}" ] || tail -n 60 "$3" | sed 's/^/#   /' >>"$tap"
    fi
}

# check NAME COMMAND...: one single test that is a command's success.
check() {
    local name=$1 status log
    shift
    log=$(mktemp)
    "$@" >"$log" 2>&1
    status=$?
    cat "$log"
    result "$status" "$name" "$log"
    rm -f "$log"
}

# script NAME COMMAND...: a program that prints TAP.
script() {
    local name=$1 status log
    shift
    log=$(mktemp)
    echo "=== $name"
    timeout --kill-after=30 "${SCRIPT_SECONDS:-600}" "$@" >"$log" 2>&1 </dev/null
    status=$?
    cat "$log"
    "$tests/tap.py" script "$name" "$status" "$log" >>"$tap"
    rm -f "$log"
}

# meson_suite BUILD SUITE
meson_suite() {
    rm -f "$1/meson-logs/testlog.json"
    meson test -C "$1" --no-rebuild --suite "$2" --timeout-multiplier "${SLOWER:-2}" \
        --num-processes 2
    [ ! -f "$1/meson-logs/testlog.json" ] || "$tests/tap.py" meson "$1/meson-logs/testlog.json" >>"$tap"
}

sources() { # the C of the tree, NUL-separated
    find "$top"/daemon "$top"/client "$top"/proto "$top"/policy "$top"/tests \
        -name node_modules -prune -o -type f \( "$@" \) -print0
}

tier_unit() {
    meson_suite "$build" unit
}

tier_kernel() {
    meson_suite "$build" kernel
}

tier_fuzz_corpus() {
    meson_suite "$build" fuzz
}

tier_layering() {
    script layering "$tests/layering/self-test.sh"
}

tier_docs() {
    local page
    while IFS= read -r page; do
        check "mandoc: ${page##*/}" mandoc -Tlint -Wwarning "$page"
    done < <(find "$top/client" "$top/daemon" "$top/policy" "$top/units" -name '*.[1578]' | sort)
    script verbs "$tests/docs/verbs.sh" "$build/client/saphan" "$build/daemon/saphand"
    script completions "$tests/docs/completions.sh" "$build/client/saphan"
}

tier_format() {
    check "clang-format" xargs -0 -a <(sources -name '*.c' -o -name '*.h') \
        clang-format --dry-run -Werror
    # The compilation database names gcc's build: clang-tidy reads it as it is.
    check "clang-tidy" run-clang-tidy -quiet -j2 -p "$build" "$top/(daemon|client|proto|policy)/.*\.c"
    check "shell scripts parse" bash -c '
        status=0
        for file in $(grep -rlE "^#!/bin/(ba)?sh" "$@" | grep -v node_modules); do
            bash -n "$file" || status=1
        done
        exit $status' - "$top/tests" "$top/packaging" "$top/.ci"
}

tier_clang() {
    check "clang builds it with -Werror" env CC=clang "$top/packaging/build" "$build-clang"
}

tier_e2e() {
    e2e_scripts e2e e2e
}

tier_escape() {
    e2e_scripts escape escape
}

# e2e_scripts PREFIX FOLDER: all of tests/FOLDER, each beside a fresh daemon whose log must hold no
# report of a sanitizer.
e2e_scripts() {
    local file name log
    for file in "$tests/$2"/*.sh; do
        [ -x "$file" ] || continue # sourced by the others
        name=$(basename "$file" .sh)
        log=$logs/$1-$name.daemon.log
        SAPHAN_DAEMON_LOG=$log script "$name" "$file"
        if grep -qE 'ERROR: .*Sanitizer|runtime error:' "$log" 2>/dev/null; then
            result 1 "$name: saphand and its programs break no rule of the language" "$log"
        fi
    done
}

tier_sanitize() {
    local plain=$SAPHAN_BUILD
    check "builds with ASan and UBSan" "$top/packaging/build" "$build-sanitize" \
        -Db_sanitize=address,undefined -Db_lundef=false
    export ASAN_OPTIONS=abort_on_error=0:exitcode=99:detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
    export SAPHAN_BUILD=$build-sanitize
    SLOWER=6 meson_suite "$build-sanitize" unit
    SLOWER=6 meson_suite "$build-sanitize" fuzz
    # What ends by _exit, behind walls that let nobody trace it, is not searched for leaks.
    ASAN_OPTIONS+=:detect_leaks=0
    SLOWER=6 meson_suite "$build-sanitize" kernel
    e2e_scripts sanitize e2e
    e2e_scripts sanitize-escape escape
    export SAPHAN_BUILD=$plain
    unset ASAN_OPTIONS UBSAN_OPTIONS
}

tier_masked() {
    script masked "$tests/masked/refuses.sh"
}

tier_service() {
    SCRIPT_SECONDS=900 script service "$tests/service/run.sh"
}

tier_vm() {
    SCRIPT_SECONDS=2700 script vm "$tests/vm/run.sh"
}

# SAPHAN_TEST_VENDORS: their names; else all.
tier_vendors() {
    local file name
    for file in "$tests"/vendors/*.sh; do
        [ -x "$file" ] || continue # sourced by the others
        name=$(basename "$file" .sh)
        [[ " ${SAPHAN_TEST_VENDORS:-$name} " == *" $name "* ]] || continue
        SCRIPT_SECONDS=900 script "vendor $name" "$file"
    done
}
