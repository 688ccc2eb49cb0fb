#!/usr/bin/env bash
# commit: votes: what can not be read is Malformed
# why: It was Garbled.
set -euo pipefail
python3 "$(dirname "$0")/rename.py" <<'RULES'
word Garbled Malformed in src/chains/votes/* tests/chains/votes/*
code /(?<![:\w])garbled\b/ malformed in src/chains/votes/prover/*
RULES
