#!/usr/bin/env bash
# commit: store: FileIdentity tells whether a path still names the same file
# why: It was a Place, as two other things were.
set -euo pipefail
python3 "$(dirname "$0")/rename.py" <<'RULES'
stem place file_identity src/store/* tests/store/*
both Place FileIdentity in src/store/* tests/store/*
code database_place_ database_file_ in src/store/*
code lock_place_ lock_file_ in src/store/*
code place file in src/store/store.cpp
RULES
