#!/usr/bin/env bash
# commit: engine: what is under way is in flight
# why: It was in the air.
set -euo pipefail
python3 "$(dirname "$0")/rename.py" <<'RULES'
code in_the_air in_flight in src/engine/* tests/*
code air_ in_flight_ in src/engine/*
code sends_in_air sends_in_flight
code sends_in_air_ sends_in_flight_
note "/\b[Aa] places in the air\b/" "places in flight"
note "/\bits place in the air\b/" "its place in flight"
note "/\bin the air\b/" "in flight"
string "/\bin the air\b/" "in flight" in src/config/* tests/*
page "/\bin the air\b/" "in flight"
RULES
if grep -q 'in the air' config.example.toml; then
    perl -pi -e 's/\bin the air\b/in flight/' config.example.toml
    git add config.example.toml
fi
