#!/usr/bin/env bash
# commit: loopback: SeededRandom answers for a Purpose
# why: It was Dice, Matter and fate. A write transaction of the ledger is a Batch, not a Page.
set -euo pipefail
python3 "$(dirname "$0")/rename.py" <<'RULES'
stem dice seeded_random src/chains/loopback/* tests/chains/loopback/*
word Dice SeededRandom
both Matter Purpose in src/chains/* tests/chains/*
code matter purpose in src/chains/loopback/* tests/chains/loopback/*
note /\bmatters\b/ purposes in src/chains/loopback/*
code matters purposes in tests/chains/loopback/*
code differs_by_matter differs_by_purpose in tests/chains/loopback/*
code dice_ random_ in src/chains/loopback/*
code dice random in src/chains/loopback/* tests/chains/loopback/*
code fate is_among in src/chains/loopback/* tests/chains/loopback/*
note "/What is rolled for: equal subjects meet independent fates in different purposes\./" "What a number is for: equal subjects get independent numbers for different purposes." in src/chains/loopback/*
code roll next_number in src/chains/loopback/* tests/chains/loopback/*
code rolls_ given_ in src/chains/loopback/*
code Page Batch in src/chains/loopback/* tests/chains/loopback/*
code page batch in src/chains/loopback/* tests/chains/loopback/*
code Page Exposition in src/api/metrics/samples.cpp
code page exposition in src/api/metrics/samples.cpp
RULES
