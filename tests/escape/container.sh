#!/bin/bash
# The same attacks with every leg in a container; then once more where a leg may build a sandbox of its own.
. "$(dirname "$(readlink -f "$0")")/../e2e/lib.sh"
# shellcheck source-path=SCRIPTDIR source=attacks.bash
. "$(dirname "$(readlink -f "$0")")/attacks.bash"

policy "$LEG_USER root" 'Boundary=domain container' 'Image=*' Image-Add=yes Legs-Per-Minute=60000 >"$T/plain.policy"
policy "$LEG_USER root" 'Boundary=domain container' 'Image=*' Image-Add=yes Legs-Per-Minute=60000 Nested=allow >"$T/nested.policy"
export SAPHAN_ESCAPE_IMAGE=host
for arm in plain nested; do
    start_daemon "$T/$arm" || not_ok "a daemon starts" "$(cat "$T/$arm.log")"
    export SAPHAN_SOCKET=$T/$arm/saphan.sock SAPHAN_PRIVATE=$T/$arm SAPHAN_DAEMON_PID=$daemon_pid
    check "$arm: an image with the host's programs" host_image host
    W=$T/work-$arm
    mkdir "$W" && owned "$W"
    prefix="$arm: "
    unjudgeable_artefacts --boundary container --image host --read /usr
    for script in vanish.py floods.py race.py; do exec_tap "$script"; done
    check "$arm: saphand lives" kill -0 "$daemon_pid"
done
finish
