#!/usr/bin/env bash
# commit: base: everybody writes and reads base64 with base
# why: The JSON-RPC connections had their own, over OpenSSL.
set -euo pipefail
python3 "$(dirname "$0")/rename.py" <<'RULES'
drop src/chains/jsonrpc/base64.cpp
drop src/chains/jsonrpc/base64.hpp
text "/#include \"chains/jsonrpc/base64\.hpp\"/" "#include \"base/base64.hpp\""
code /\b(?:chains::)?jsonrpc::base64(?=\()/ base::to_base64
code /\b(?:chains::)?jsonrpc::from_base64\b/ base::from_base64
code /(?<![\w:.])base64(?=\()/ base::to_base64 in src/chains/jsonrpc/* src/net/*
RULES
