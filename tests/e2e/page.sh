#!/bin/bash
# page.sh - the report as a page: its structure, and what Chromium makes of it at three widths, dark and
# light, and printed.  SAPHAN_PICTURES=FOLDER keeps the pictures, for eyes.
. "$(dirname "$(readlink -f "$0")")/lib.sh"

policy "$LEG_USER root" Measure=yes >"$T/m.policy"
start_daemon "$T/m" || not_ok "a daemon starts" "$(cat "$T/m.log")"
export SAPHAN_SOCKET=$T/m/saphan.sock
mkdir "$W/ws" && owned "$W/ws"
(cd "$W" && as_user saphan matrix measure --vendor proc --workspace ws --artefact done -- /bin/sh -c 'echo >done') >"$T/said" 2>&1
check "a cell is measured" grep -q NESTS "$T/said"
saphan matrix export >"$T/cell"
"$TESTS/e2e/page.py" cells <"$T/cell" >"$T/cells"
check "cells of every verdict are imported" saphan matrix import "$T/cells"
check "the page is written" saphan matrix report --html "$T/page.html"
while IFS= read -r line; do
    case $line in "ok - "*) ok "${line#ok - }" ;; *) not_ok "${line#not ok - }" ;; esac
done < <("$TESTS/e2e/page.py" check "$T/page.html" 2>&1)

if ! command -v chromium >/dev/null; then
    skip "the page in Chromium" chromium
    finish
fi
# A copy that may run a script, which opens all and says how wide what is in it is; in a frame, for a window
# of Chromium's is not as narrow as a phone.
sed '/http-equiv="Content-Security-Policy"/d' "$T/page.html" >"$T/wide.html"
cat >>"$T/wide.html" <<'HTML'
<script>
for (const details of document.querySelectorAll('details')) details.open = true;
parent.postMessage(`width ${document.documentElement.scrollWidth} of ${innerWidth}`, '*');
</script>
HTML
frame() { # WIDTH
    cat <<HTML
<!DOCTYPE html><title>nothing was said</title>
<script>onmessage = event => { document.title = event.data; };</script>
<iframe src="wide.html" style="width:$1px;height:900px;border:0"></iframe>
HTML
}
browse() { # OPTION...
    timeout 90 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars \
        --user-data-dir="$T/profile" "$@" 2>"$T/said"
}
pictures=${SAPHAN_PICTURES:-$T}
for width in 390 820 1440; do
    frame $width >"$T/frame.html"
    browse --window-size=1600,1000 --virtual-time-budget=5000 --dump-dom "file://$T/frame.html" >"$T/dom"
    said=$(sed -n 's|.*<title>width \([0-9]*\) of \([0-9]*\)</title>.*|\1 \2|p' "$T/dom")
    read -r needs has <<<"$said"
    equal "at $width it is shown that wide" "$width" "${has:-nothing}"
    check "at $width nothing stands out to the right, all of it opened ($needs of $has)" [ "${needs:-9999}" -le "${has:-0}" ]
    for scheme in light dark; do
        browse --window-size=$width,2000 --blink-settings=preferredColorScheme=$([ $scheme = dark ] && echo 0 || echo 1) \
            --screenshot="$pictures/$scheme$width.png" "file://$T/page.html"
        check "a picture at $width, $scheme" test -s "$pictures/$scheme$width.png"
    done
    check_not "dark is not light at $width" cmp -s "$pictures/light$width.png" "$pictures/dark$width.png"
done
browse --print-to-pdf="$pictures/page.pdf" --no-pdf-header-footer "file://$T/page.html"
check "it is printed" grep -q '^%PDF' "$pictures/page.pdf"
if command -v pdftotext >/dev/null; then
    pdftotext "$pictures/page.pdf" "$T/printed"
    check "with its evidence opened" grep -q 'two execs down' "$T/printed"
else
    skip "what is printed" pdftotext
fi
finish
