#!/usr/bin/env bash
# commit: engine: CrashSuspects were in work at several crashes
set -euo pipefail
python3 "$(dirname "$0")/rename.py" <<'RULES'
stem suspects crash_suspects src/engine/* tests/engine/*
word Suspects CrashSuspects
RULES
