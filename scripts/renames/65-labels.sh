#!/usr/bin/env bash
# commit: metrics: labels stand in the namespace of their folder
set -euo pipefail
python3 "$(dirname "$0")/rename.py" <<'RULES'
code /\bapi::labels\b/ api::metrics::labels
text "/namespace api::labels\b/" "namespace api::metrics::labels" in src/api/metrics/*
RULES
