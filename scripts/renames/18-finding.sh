#!/usr/bin/env bash
# commit: doctor: what was found has a folder below those who look
set -euo pipefail
python3 "$(dirname "$0")/rename.py" <<'RULES'
file src/chains/finding.hpp src/chains/diagnosis/finding.hpp
text "/^(}  // )?namespace chains\b(?!:)/" "\1namespace chains::diagnosis" in src/chains/diagnosis/finding.hpp
code /\bchains::Finding\b/ chains::diagnosis::Finding in src/commands/* tests/* src/config/*
code /(?<![\w:])Finding\b/ diagnosis::Finding in src/chains/evm/* src/chains/votes/*
code /(?<![\w:])Finding\b/ chains::diagnosis::Finding in tests/chains/*
RULES
