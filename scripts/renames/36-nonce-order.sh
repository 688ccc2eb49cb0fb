#!/usr/bin/env bash
# commit: evm: NonceOrder sends by nonce; Debounce, refresh and wake
# why: Departures, Insistence, tend and nudge.
set -euo pipefail
python3 "$(dirname "$0")/rename.py" <<'RULES'
stem departures nonce_order src/chains/evm/* tests/chains/evm/*
word Departures NonceOrder
code departures_ nonce_order_
code depart run_in_order in src/chains/evm/* tests/chains/evm/*
code come_back mark_unsent in src/chains/evm/* tests/chains/evm/*
code may_leave may_send in src/chains/evm/* tests/chains/evm/*
code leave mark_sent in src/chains/evm/nonces.* src/chains/evm/nonce_order.* src/chains/evm/departures.* tests/chains/evm/nonces_test.cpp
code away_ sent_ in src/chains/evm/nonces.*
word Insistence Debounce
code again observe in src/chains/evm/chain_reader.hpp
code /\b(missing_block_|low_head_)\.again\(/ \1.observe( in src/chains/evm/*
code /\bDebounce::again\b/ Debounce::observe in src/chains/evm/*
code tend refresh in src/chains/evm/* tests/chains/evm/*
code tend_interval refresh_interval in src/chains/evm/*
both nudge wake in src/chains/* tests/chains/*
both nudge_ wake_ in src/chains/*
code nudged_ woken_ in src/chains/*
RULES
