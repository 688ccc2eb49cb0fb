#!/usr/bin/env bash
# commit: jsonrpc: a call without an answer is a TransportError; EndpointHealth, not Standing
set -euo pipefail
if ! grep -rqE '\b(struct Trouble|class Standing)\b' src/chains/jsonrpc; then
    echo "  nothing to do"
    exit 0
fi
python3 "$(dirname "$0")/rename.py" <<'RULES'
code /\bproblem\((?=(Kind|Trouble|TransportError)::)/ transport_error(
code Trouble TransportError in src/chains/* tests/chains/*
code /\bjsonrpc::Trouble\b/ jsonrpc::TransportError
code trouble_of error_of in src/chains/jsonrpc/*
note /\bjsonrpc::Trouble\b/ jsonrpc::TransportError
code common_trouble common_error in src/chains/jsonrpc/*
stem trouble transport_error src/chains/jsonrpc/* tests/chains/*
code Standing EndpointHealth in src/chains/* tests/chains/*
code standing_ health_ in src/chains/jsonrpc/*
code standing health in src/chains/jsonrpc/* tests/chains/*
stem standing endpoint_health src/chains/* tests/chains/*
RULES
