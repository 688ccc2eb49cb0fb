#!/usr/bin/env bash
# commit: evm: folder is namespace
set -euo pipefail
python3 "$(dirname "$0")/rename.py" <<'RULES'
text "/^namespace chains \{\n\nstruct EvmOptions;\n\nnamespace evm \{\n/" "namespace chains::evm {\n\nstruct Options;\n" in src/chains/evm/nodes.hpp
text "/^\}  \/\/ namespace evm\n\}  \/\/ namespace chains\n/" "}  // namespace chains::evm\n" in src/chains/evm/nodes.hpp
text "/^(}  // )?namespace chains\b(?!:)/" "\1namespace chains::evm" in src/chains/evm/*
text "/^struct EvmOptions;\n\n?/" "struct Options;\n\n" in src/chains/evm/*
code /\bchains::EvmOptions\b/ chains::evm::Options
code /\bchains::EvmGateway\b/ chains::evm::Gateway
code /(?<![\w:])EvmOptions\b/ Options in src/chains/evm/*
code /(?<![\w:])EvmOptions\b/ chains::evm::Options in tests/*
code EvmGateway Gateway in src/chains/evm/*
code /(?<![\w:])EvmGateway\b/ chains::evm::Gateway in tests/*
text "/^using evm::\w+;\n/" "" in src/chains/evm/*
code /(?<![\w:])evm::(?=[A-Z])/ "" in src/chains/evm/evm_gateway.* src/chains/evm/gateway.* src/chains/evm/options.hpp
code /\bchains::(?!evm\b|jsonrpc\b|loopback\b|votes\b|diagnosis\b)(?=[A-Za-z])/ chains::evm:: in src/chains/evm/*
note EvmGateway Gateway in src/chains/evm/*
note EvmOptions Options in src/chains/evm/*
stem evm_gateway gateway src/chains/evm/* tests/chains/evm/*
RULES
