#!/usr/bin/env bash
# commit: engine: a TaskGroup makes what an executor still has harmless
# why: It was Errands of the chains, which their parts below needed.
set -euo pipefail
python3 "$(dirname "$0")/rename.py" <<'RULES'
file src/chains/errands.hpp src/engine/task_group.hpp
file src/chains/errands.cpp src/engine/task_group.cpp
text "/^(}  // )?namespace chains\b(?!:)/" "\1namespace engine" in src/engine/task_group.*
both Errands TaskGroup in src/engine/task_group.*
code /\bengine::Executor\b/ Executor in src/engine/task_group.*
both /\b(?:chains::)?Errands\b/ engine::TaskGroup
code errands_ task_group_ in src/chains/* tests/chains/*
code errands task_group in src/chains/* tests/chains/*
code Errand Sending in src/chains/evm/sender.*
code ErrandPtr SendingPtr in src/chains/evm/sender.*
code errand sending in src/chains/evm/sender.*
note "/\binside an errand\b/" "inside a task" 
note "/\bstream of new errands\b/" "stream of new tasks"
note "/\bAs an errand\b/" "As a task" in src/chains/*
note "/\b[Ff]rom an errand\b/" "From a task" in src/chains/*
note "/\bthe errand that polls\b/" "the task that polls" in src/chains/*
note "/\bearliest errand\b/" "earliest task" in src/chains/*
note "/\bis one errand of\b/" "is one task of" in src/chains/*
RULES
