#!/usr/bin/env bash
# commit: api: a ThrottledLog writes what would come once per request
# why: It was a TroubleReport.
set -euo pipefail
python3 "$(dirname "$0")/rename.py" <<'RULES'
stem report throttled_log src/api/* tests/api/*
word TroubleReport ThrottledLog
code /\b(\w+)_trouble_/ \1_errors_ in src/api/*
RULES
