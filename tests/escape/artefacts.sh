#!/bin/bash
# Artefacts that are made to be unjudgeable: none makes a leg GREEN, and none INDETERMINATE either.
. "$(dirname "$(readlink -f "$0")")/../e2e/lib.sh"
# shellcheck source-path=SCRIPTDIR source=attacks.bash
. "$(dirname "$(readlink -f "$0")")/attacks.bash"
unjudgeable_artefacts
finish
