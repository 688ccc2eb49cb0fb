#!/usr/bin/env bash
# commit: domain: where a request waits is its QueuePosition
# why: It was its Standing; so was the health of an endpoint.
set -euo pipefail
python3 "$(dirname "$0")/rename.py" <<'RULES'
both Standing QueuePosition in src/domain/* src/engine/* src/api/* tests/domain/* tests/engine/* tests/api/* tests/support/* tests/simulation/* tests/whole/* tests/bench/* tests/fuzz/*
code /\bdomain::Standing\b/ domain::QueuePosition
code /(?<!\brow)\.position\b(?!\s*\()/ .ahead in src/domain/retry_after.* src/engine/gates.* src/engine/admission.* tests/domain/retry_after_test.cpp tests/engine/gates_test.cpp tests/engine/storage_test.cpp tests/engine/maintenance_test.cpp tests/engine/fairness_test.cpp
code /\bstd::uint64_t position = 0;/ "std::uint64_t ahead = 0;" in src/domain/retry_after.hpp
note "/from the head of the queue of the stage/" "how many come first in the queue of the stage" in src/domain/retry_after.hpp
code standing_of_new position_of_new in src/* tests/*
code /(?<=[.>:])standing\(/ position_of( in src/engine/* src/api/* tests/*
code /\bstanding\((?=const store::Row)/ position_of( in src/engine/*
code worked_standing worked_position in tests/*
code standing position in src/domain/* src/engine/*
code standing queue_position in tests/domain/* tests/engine/* tests/whole/*
string "/\ba standing tells\b/" "a position tells" in tests/engine/*
RULES
