#!/usr/bin/env bash
# commit: api, votes: what is remembered is a cache; a pool of processes is a ProcessPool
set -euo pipefail
python3 "$(dirname "$0")/rename.py" <<'RULES'
stem round_memory round_cache src/api/* tests/api/*
word RoundMemory RoundCache
stem nullifier_memory nullifier_cache src/chains/votes/* tests/chains/votes/*
word NullifierMemory NullifierCache
stem command_keeper process_pool src/chains/votes/* tests/chains/votes/*
word CommandKeeper ProcessPool
code keeper_ pool_ in src/chains/votes/prover/*
code keeper pool in src/chains/votes/prover/* tests/chains/votes/*
note "/\bthe keeper's own\b/" "the pool's own" in src/chains/votes/prover/*
note "/\bthe keeper\b/" "the pool" in src/chains/votes/prover/* tests/chains/votes/*
RULES
