#!/usr/bin/env bash
# commit: store: a request that is already there is a Duplicate
# why: It was a Twin.
set -euo pipefail
python3 "$(dirname "$0")/rename.py" <<'RULES'
stem twins duplicates src/store/* tests/store/*
word Twin Duplicate
word find_twin find_duplicate
code twin earlier in src/engine/admission.cpp
code twin repeated in src/api/json_reader.cpp
both twin duplicate in src/store/* tests/store/* src/commands/*
note /\btwins\b/ duplicates in src/store/* tests/store/* src/commands/* src/engine/*
note /\btwin\b/ duplicate in src/*  tests/*
string /\btwins\b/ duplicates in tests/store/*
string /\btwin\b/ duplicate in tests/store/*
RULES
