#!/usr/bin/env bash
# commit: engine: a FilteredClock believes no leap of the wall clock
# why: It was a Timeline.
set -euo pipefail
python3 "$(dirname "$0")/rename.py" <<'RULES'
stem timeline filtered_clock src/engine/* tests/engine/*
word Timeline FilteredClock
code timeline_ filtered_clock_
code timeline filtered
RULES
