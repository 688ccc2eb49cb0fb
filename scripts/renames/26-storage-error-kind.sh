#!/usr/bin/env bash
# commit: store: StorageErrorKind, not Trouble
set -euo pipefail
python3 "$(dirname "$0")/rename.py" <<'RULES'
code /\bstore::Trouble\b/ store::StorageErrorKind
code Trouble StorageErrorKind in src/store/* tests/store/*
code trouble_ kind_ in src/store/*
code trouble_of kind_of in src/store/*
code trouble kind in src/store/* tests/store/*
code /\berror(\.|->)trouble\(\)/ error\1kind() in src/* tests/*
code /\bagain->trouble\(\)/ again->kind() in tests/*
RULES
