#!/usr/bin/env bash
# commit: all: what is wrong, in words, is a problem; what nobody answered is unreachable
# why: It was trouble, in three meanings.
set -euo pipefail
python3 "$(dirname "$0")/rename.py" <<'RULES'
code /\bshares::trouble\(/ shares::chain_unreachable(
code /\bvoid trouble\(Context\b/ "void chain_unreachable(Context" in src/engine/*
code note_trouble note_unreachable in src/engine/*
code trouble_pause unreachable_pause
code trouble_pause_max unreachable_pause_max
code trouble_bound_max unreachable_bound_max
code trouble_bound_min unreachable_bound_min
code /\btrouble\(\)/ problem() in src/* tests/*
code /\btrouble(?=\.(hold|tries_max|verdict|reason)\b)/ unreachable in src/engine/*
code /\bUnreachable& trouble\b/ "Unreachable& unreachable" in src/engine/*
code trouble unreachable in src/engine/*
code trouble_in unanswered_in in src/chains/*
code troubles failures in src/chains/*
code troubles_max failures_max in src/chains/* tests/chains/*
code note_trouble note_problem in src/chains/* tests/chains/*
code note_trouble_locked note_problem_locked in src/chains/*
code is_trouble is_problem in src/chains/* tests/chains/*
code trouble_of problem_of in tests/*
code await_trouble await_problem in tests/*
code in_trouble in_problem in tests/*
code said_trouble said_problem in tests/*
code trouble_ problem_ in src/* tests/*
code trouble problem in src/chains/* src/net/* tests/*
code trouble unreachable in src/api/metrics/*
stem troubles unreachable src/chains/evm/*
stem trouble send_failures tests/whole/*
RULES
