#!/usr/bin/env bash
# commit: store: RowCounter counts the rows of one moment
# why: It was a Census. The log event keeps its name.
set -euo pipefail
python3 "$(dirname "$0")/rename.py" <<'RULES'
stem census row_counter src/store/* tests/store/*
word Census RowCounter
code census counter in src/commands/* tests/store/* tests/api/metrics_engine_test.cpp tests/*/metrics_engine_test.cpp
code census counts in src/api/* tests/api/*
code census_first counts_first in tests/*
note "/\bThe census\b/" "The count" in src/* tests/*
note "/\bthe census\b/" "the count" in src/* tests/*
note "/\ba census\b/" "a count" in src/* tests/*
string /\ba census\b/ "a count" in tests/*
string /\bthe census\b/ "the count" in tests/*
RULES
