#!/bin/bash
# linked.sh BUILD - what the built programs link at run time.
set -u
build=$1
n=0
result() { n=$((n + 1)); echo "$1 $n - $2"; }
needed() { readelf -d "$1" 2>/dev/null | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'; }
# lacks PROGRAM LIBRARY: PROGRAM is there, is dynamic or static, and does not name LIBRARY.
lacks() {
    local program=$build/$1
    if [ ! -x "$program" ]; then
        result "not ok" "$1 is built"
    elif needed "$program" | grep -q "^$2"; then
        result "not ok" "$1 does not link $2"
    elif grep -q "$3" "$program"; then
        result "not ok" "$1 holds no $2, linked statically"
    else
        result ok "$1 does not link $2"
    fi
}
lacks daemon/saphand libprotobuf-c protobuf_c_message_unpack
lacks daemon/saphand libseccomp seccomp_rule_add
lacks daemon/saphan-stub libprotobuf-c protobuf_c_message_unpack
lacks daemon/saphan-stub libsqlite3 sqlite3_open
lacks daemon/saphan-front libsqlite3 sqlite3_open
# The control: the check sees protobuf-c where it is.
if needed "$build/client/libsaphan.so" | grep -q '^libprotobuf-c' ||
    grep -q protobuf_c_message_unpack "$build/client/libsaphan.so" 2>/dev/null; then
    result ok "control: libsaphan does hold protobuf-c"
else
    result "not ok" "control: libsaphan does hold protobuf-c"
fi
echo "1..$n"
