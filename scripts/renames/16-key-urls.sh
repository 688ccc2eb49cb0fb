#!/usr/bin/env bash
# commit: engine: how key material is addressed stands beside what it is
set -euo pipefail
python3 "$(dirname "$0")/rename.py" <<'RULES'
file src/chains/key_urls.hpp src/engine/key_urls.hpp
file src/chains/key_urls.cpp src/engine/key_urls.cpp
text "/^(}  // )?namespace chains\b(?!:)/" "\1namespace engine" in src/engine/key_urls.*
code /\bchains::stored_at\b/ engine::stored_at
code /(?<![\w:.>])stored_at\(/ engine::stored_at( in src/chains/*
RULES
