#!/bin/sh
# Carries out one decision of Dynaplan: `dynaplan decisions watch --exec ./scale.sh` runs it for each. Exit status 0
# acknowledges the decision, anything else says that it failed and frees the planner to decide anew.
set -eu
fleet=${FLEET:-fleet}

# Here a file holds the count; put what scales your fleet in its place (kubectl scale, scontrol, an API). It may run
# again for the same decision, so it sets a count and does not add to one.
set_replicas() {
    [ -n "$2" ] || return 0 # this planner does not scale the role
    mkdir -p "$fleet"
    echo "$2" >"$fleet/$1"
}

set_replicas prefill "$DYNAPLAN_PREFILL"
set_replicas decode "$DYNAPLAN_DECODE"
echo "decision $DYNAPLAN_DECISION_ID, $DYNAPLAN_REASON: prefill '$DYNAPLAN_PREFILL', decode '$DYNAPLAN_DECODE'"
