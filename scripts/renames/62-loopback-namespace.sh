#!/usr/bin/env bash
# commit: loopback: folder is namespace
set -euo pipefail
python3 "$(dirname "$0")/rename.py" <<'RULES'
text "/^(}  // )?namespace chains\b(?!:)/" "\1namespace chains::loopback" in src/chains/loopback/*
code /\bchains::LoopbackOptions\b/ chains::loopback::Options
code /\bchains::LoopbackGateway\b/ chains::loopback::Gateway
code /\bchains::(Latency|LedgerSynchronous|Permille|Outage|KnownRound|fixed|to_string|problem_of|ledger_synchronous_from|tagged_id|kms_nodes_max)\b/ chains::loopback::\1
text "/^using loopback::\w+;\n/" "" in src/chains/loopback/*
code /\b(?:chains::)?loopback::(?=[A-Z])/ "" in src/chains/loopback/*
both LoopbackOptions Options in src/chains/loopback/* tests/chains/loopback/*
both LoopbackGateway Gateway in src/chains/loopback/*
code /(?<![\w:])LoopbackGateway\b/ chains::loopback::Gateway in tests/*
stem loopback_gateway gateway src/chains/loopback/* tests/chains/loopback/*
RULES
