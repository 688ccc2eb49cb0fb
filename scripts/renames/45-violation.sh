#!/usr/bin/env bash
# commit: tests: a wrong include is a violation
set -euo pipefail
python3 "$(dirname "$0")/rename.py" <<'RULES'
both offence violation in tests/architecture/*
both offences violations in tests/architecture/*
both offence_of violation_of in tests/architecture/*
both offences_in violations_in in tests/architecture/*
both offences_below violations_below in tests/architecture/*
RULES
