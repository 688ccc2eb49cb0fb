#!/usr/bin/env bash
# commit: jsonrpc: the number a node says stands below the chain that reads it
set -euo pipefail
python3 "$(dirname "$0")/rename.py" <<'RULES'
file src/chains/evm/wei.hpp src/chains/jsonrpc/wei.hpp
text "/^(}  // )?namespace chains::evm\b/" "\1namespace chains::jsonrpc" in src/chains/jsonrpc/wei.hpp
code /\b(?:chains::)?evm::(Wei|wei_max)\b/ chains::jsonrpc::\1
code /\bchains::jsonrpc::(Wei|wei_max)\b/ \1 in src/chains/jsonrpc/*
code /(?<![\w:.>])(Wei|wei_max)\b/ jsonrpc::\1 in src/chains/evm/*
code /(?<![\w:.>])(Wei|wei_max)\b/ chains::jsonrpc::\1 in tests/chains/*
RULES
