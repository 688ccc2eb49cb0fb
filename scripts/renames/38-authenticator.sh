#!/usr/bin/env bash
# commit: access: Authenticator and KeyStore
# why: They were Gatekeeper and KeyRing.
set -euo pipefail
python3 "$(dirname "$0")/rename.py" <<'RULES'
stem gatekeeper authenticator src/api/* tests/api/*
stem key_ring key_store src/api/* tests/api/*
word Gatekeeper Authenticator
word KeyRing KeyStore
code gatekeeper_ authenticator_
code gatekeeper authenticator in src/* tests/*
code may_enter is_admitted in src/* tests/*
code Shown ShownKeys in src/api/access/*
RULES
