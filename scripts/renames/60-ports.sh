#!/usr/bin/env bash
# commit: ports: the clock, chance, the log and threads are everybody's
# why: They stood in engine, which neither asks for them first nor alone. The ports of the chain stay with the engine: it is the one that calls them.
set -euo pipefail
python3 "$(dirname "$0")/rename.py" <<'RULES'
file src/engine/clock.hpp src/ports/clock.hpp
file src/engine/random.hpp src/ports/random.hpp
file src/engine/executor.hpp src/ports/executor.hpp
file src/engine/logger.hpp src/ports/logger.hpp
text "/^(}  // )?namespace engine\b/" "\1namespace ports" in src/ports/*
code /\bengine::(Clock|Random|Executor|Logger|LogLevel)\b/ ports::\1
code /(?<![\w:.>])(Clock|Random|Executor|Logger|LogLevel)\b/ ports::\1 in src/engine/*
code /(?<![\w:.>])LogLevel\b/ ports::LogLevel in tests/engine/*
RULES
