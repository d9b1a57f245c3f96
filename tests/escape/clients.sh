#!/bin/bash
# Hostile clients: what they do to hold saphand up, to have a verdict lost, to get at its own files.
. "$(dirname "$(readlink -f "$0")")/../e2e/lib.sh"
# shellcheck source-path=SCRIPTDIR source=attacks.bash
. "$(dirname "$(readlink -f "$0")")/attacks.bash"
for script in hang.py vanish.py descriptors.py floods.py race.py host_view.py errands.py kills.py; do exec_tap "$script"; done
finish
