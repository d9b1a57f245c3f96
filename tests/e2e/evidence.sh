#!/bin/bash
# evidence.sh - Require-Cell=NESTS: a vendor is let in on a fresh cell that says NESTS, measured here, and on
# nothing else.  The daemon beside it has the same policy without that line: there all of it runs.
. "$(dirname "$(readlink -f "$0")")/lib.sh"
if ! as_user unshare --user --map-root-user true 2>/dev/null; then
    skip "an invented vendor's own sandbox" "unprivileged user namespaces"
    finish
fi

mkdir -p "$T/bin" && chmod 755 "$T/bin"
invented_vendor boxer
boxer() { # VERSION: it becomes the vendor's program
    cat >"$T/bin/boxer.new" <<SH
#!/bin/bash
[ "\$1" != --version ] || { echo "boxer $1"; exit 0; }
[ "\$1" != --box ] || exec unshare --user --map-root-user bash -c 'echo done >artefact.txt'
echo done >artefact.txt
SH
    chmod 755 "$T/bin/boxer.new"
    mv "$T/bin/boxer.new" "$T/bin/boxer"
}
boxer 1.0

policy "$LEG_USER root" Measure=yes Require-Cell=NESTS Boundary=container 'Image=*' Image-Add=yes Nested=allow >"$T/strict.policy"
policy "$LEG_USER root" Measure=yes >"$T/plain.policy"
for name in strict plain; do
    start_daemon "$T/$name" --vendors "$T/vendors" || not_ok "a daemon starts" "$(cat "$T/$name.log")"
done
with() { export SAPHAN_SOCKET=$T/$1/saphan.sock; }
fresh() { rm -rf "$W/ws" && mkdir "$W/ws" && owned "$W/ws"; }
turn() { # WORD...: of the vendor
    fresh
    leg --vendor boxer --workspace "$W/ws" --read "$T/bin" --artefact artefact.txt -- "$T/bin/boxer" "$@"
}
hint() { jq -rs 'map(select(.event == "refused"))[0].hint // ""' "$T/json"; }
detail() { jq -rs 'map(select(.event == "refused"))[0].reasons[]? | select(.reason == "cell-unmeasured").detail' "$T/json"; }
says() { # NAME TEXT: what the refusal names
    case "$(detail)" in *"$2"*) ok "$1" ;; *) not_ok "$1" "wanted ...$2... in: $(detail)" ;; esac
}
# measured [WORDS]: what the last refusal said would measure it is run as it stands, with WORDS behind it.
measured() {
    local command
    command=$(hint | sed -n 's/^to measure it: //p')
    [ -n "$command" ] || not_ok "the refusal has a command to paste" "$(told)"
    fresh
    (cd "$W" && as_user sh -c "$command ${1:-}" </dev/null) >"$T/measured" 2>&1
    rc=$?
}

with plain
turn --no-box
expect "control: without the demand, nobody need have looked" 0 GREEN
with strict
turn --no-box
expect "nobody looked: refused" 125 REFUSED cell-unmeasured
says "it names the command, and that the control has the sandbox on" \
    "saphan matrix measure --vendor boxer --boundary domain ... -- TURN :: TURN-WITH-ITS-SANDBOX-ON"
check_not "and nothing ran" test -e "$W/ws/artefact.txt"

measured
equal "its bypass without a boundary is no control: INDETERMINATE" 113 "$rc"
turn --no-box
expect "a cell that says nothing admits nobody" 125 REFUSED cell-unmeasured
says "it names that cell" "says INDETERMINATE"

measured ":: $T/bin/boxer --box"
equal "the command, with such a control: NESTS" 0 "$rc"
turn --no-box
expect "a fresh cell that NESTS: admitted" 0 GREEN

turn --box
expect "with its sandbox on, that is another cell" 125 REFUSED cell-unmeasured
measured
equal "its command says COLLIDES" 112 "$rc"
turn --box
expect "what was seen colliding: refused" 125 REFUSED cell-collides
check "it names cell, verdict and where to look" jq -es \
    'map(select(.event == "refused"))[0].reasons | any(.reason == "cell-collides" and (.detail | test("says COLLIDES: saphan matrix show [0-9]+")))' "$T/json"
turn --no-box
expect "and the other cell still admits" 0 GREEN

# ---- stale ----
boxer 2.0
turn --no-box
expect "another version: the cell is stale, refused" 125 REFUSED cell-unmeasured
says "it names both versions" "the vendor was boxer 1.0 and is boxer 2.0"
with plain
turn --no-box
expect "control: without the demand the new version runs" 0 GREEN
with strict
turn --no-box
measured ":: $T/bin/boxer --box"
equal "measured again by the command" 0 "$rc"
turn --no-box
expect "and admitted" 0 GREEN
boxer 2.0
turn --no-box
expect "another file that says the same version: refused" 125 REFUSED cell-unmeasured
says "it says so" "another file"
measured ":: $T/bin/boxer --box"
turn --no-box
expect "measured again and admitted" 0 GREEN

ledger() { sqlite3 -cmd '.timeout 10000' "$T/strict/state/ledger.db" "$1"; }
for change in "kernel|0.1 older|the kernel was 0.1 older and is" "saphan|0.0.1|the boundary was saphan 0.0.1's and is"; do
    IFS='|' read -r column was words <<<"$change"
    now=$(ledger "SELECT $column FROM cell WHERE newest = 1 AND sandbox = 'off' ORDER BY id DESC LIMIT 1")
    ledger "UPDATE cell SET $column = '$was'"
    turn --no-box
    expect "a cell of another $column: refused" 125 REFUSED cell-unmeasured
    says "it says so: $column" "$words"
    check "it is shown as stale: $column" sh -c "saphan matrix show | grep -q 'NESTS (stale).*$was'"
    ledger "UPDATE cell SET $column = '$now'"
    turn --no-box
    expect "control: with its own $column, admitted" 0 GREEN
done

# ---- in a container: the image's digest says which program it is ----
root=$T/root
image() { # VERSION: an image whose vendor's program is of that version
    mkdir -p "$root"/{bin,etc,opt}
    [ -e "$root/bin/busybox" ] || cp "$(command -v busybox)" "$root/bin/busybox"
    for name in sh echo unshare; do ln -sf busybox "$root/bin/$name"; done
    printf 'root:x:0:0:root:/root:/bin/sh\n' >"$root/etc/passwd"
    cat >"$root/opt/boxer" <<SH
#!/bin/sh
[ "\$1" != --version ] || { echo "boxer $1 of the image"; exit 0; }
[ "\$1" != --box ] || exec unshare -U -r sh -c 'echo done >artefact.txt'
echo done >artefact.txt
SH
    chmod 755 "$root/opt/boxer"
    saphan image rm boxes >/dev/null 2>&1
    check "an image with $1 is added" timeout 60 saphan image add boxes "$root"
}
image 1.0
inside=(--boundary container --image boxes --user 1000:1000 --vendor boxer)
boxed() { # WORD...: of the vendor in the image
    fresh
    leg "${inside[@]}" --workspace "$W/ws" --artefact artefact.txt -- /opt/boxer "$@"
}
boxed --box
expect "a container is a cell of its own: refused" 125 REFUSED cell-unmeasured
says "it names the boundary" "--boundary container"
measured ":: $T/bin/boxer --box"
equal "its sandbox on, in a container with Nested=allow: NESTS" 0 "$rc"
check "the cell names the image, its digest and what the program said it was" sh -c \
    "saphan matrix show --json | jq -es 'map(select(.boundary == \"container\" and .verdict == \"NESTS\"))[0] |
        (.program | test(\"/opt/boxer in image boxes\")) and (.identity | test(\"^image sha256:[0-9a-f]{64} /opt/boxer\")) and
        .vendor_version == \"boxer 1.0 of the image\" and .sandbox == \"on\"'"
boxed --box
expect "and it is admitted" 0 GREEN
fresh
leg "${inside[@]}" --workspace "$W/ws" --read "$T/bin:/opt/other" --artefact artefact.txt -- /opt/other/boxer --box
expect "a program in a grant is another, whatever the image: refused" 125 REFUSED cell-unmeasured
says "it says so" "which file the vendor's program is, is not known"
image 1.1
boxed --box
expect "another image of that name: the cell is stale, refused" 125 REFUSED cell-unmeasured
says "it names both versions" "the vendor was boxer 1.0 of the image and is boxer 1.1 of the image"

# ---- of another host ----
saphan matrix export >"$T/cells"
policy "$LEG_USER root" Measure=yes Require-Cell=NESTS >"$T/other.policy"
start_daemon "$T/other" --vendors "$T/vendors" || not_ok "a daemon starts" "$(cat "$T/other.log")"
with other
check "its cells are taken over by another saphand" as_user saphan matrix import "$T/cells"
check "the imported one says NESTS" sh -c \
    "saphan matrix show --json | jq -es 'map(select(.origin != \"\" and .sandbox == \"off\")) | last.verdict == \"NESTS\"'"
turn --no-box
expect "an imported cell never admits, whatever it says" 125 REFUSED cell-unmeasured
says "nobody looked here" "nobody looked"
measured ":: $T/bin/boxer --box"
turn --no-box
expect "one measured here does" 0 GREEN
finish
