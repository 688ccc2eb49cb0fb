#!/usr/bin/env bash
# commit: api: a failed answer is an ApiError; Overloaded visits a variant
# why: Refusal and Match.
set -euo pipefail
python3 "$(dirname "$0")/rename.py" <<'RULES'
stem refusal api_error src/api/* tests/api/*
stem match overloaded src/api/* tests/api/*
word Refusal ApiError in src/* tests/*
word AdminRefusal AdminError in src/* tests/*
code Refusals ApiErrors in src/* tests/*
both Match Overloaded in src/api/* src/chains/* src/engine/* src/commands/* tests/*
code refusal_of api_error_of in src/api/* tests/api/*
code refusal_of_failure api_error_of_failure in src/api/*
code refusal_of_timeout api_error_of_timeout in src/api/*
code refusal api_error in src/api/* tests/api/*
RULES
