#!/usr/bin/env bash
# commit: all: smaller words
set -euo pipefail
python3 "$(dirname "$0")/rename.py" <<'RULES'
code Wish ChangeRequest in src/api/admin/*
code Unfit BadRequest in src/api/admin/*
code unfit bad in src/api/admin/*
code read_wish read_change in src/api/admin/*
code Unusual Unsupported in src/config/* tests/config/*
code Refused ConfigErrors in src/config/* src/main.cpp tests/config/* tests/fuzz/*
code /\bconfig::Refused\b/ config::ConfigErrors
code Words StructHasher in src/api/user_signature.cpp
code Disagrees Mismatch in src/chains/votes/* tests/chains/votes/*
code recall_late reload_late_rounds in src/engine/* tests/engine/*
stem bouncing queue_full tests/whole/*
RULES
