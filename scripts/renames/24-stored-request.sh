#!/usr/bin/env bash
# commit: store: a read row with its answer is a StoredRequest; evm: Decoder and eth_call
# why: All three were a View.
set -euo pipefail
python3 "$(dirname "$0")/rename.py" <<'RULES'
code View StoredRequest in src/store/* tests/store/*
code /\bstore::View\b/ store::StoredRequest
code view stored in src/store/reader.cpp src/engine/service.cpp
stem view eth_call src/chains/evm/* tests/chains/evm/*
code view_call eth_call in src/* tests/*
code read_view read_eth_call in src/* tests/*
note view_call eth_call in src/* tests/*
note read_view read_eth_call in src/* tests/*
code View Decoder in src/chains/* tests/chains/* not src/chains/jsonrpc/*
code Unread NoResult in src/chains/* tests/chains/*
RULES
