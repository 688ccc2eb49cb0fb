#!/usr/bin/env bash
# commit: engine: a Logger writes the log
# why: It was a Journal; the journal is what operators read, or a database's.
set -euo pipefail
python3 "$(dirname "$0")/rename.py" <<'RULES'
stem journal logger src/engine/* tests/engine/*
stem share_journal share_log src/engine/* tests/engine/*
word Journal Logger
word RecordingJournal RecordingLogger
both /\bengine::Level\b/ engine::LogLevel
code Level LogLevel in src/engine/* tests/engine/* tests/api/share_logs_test.cpp tests/support/*
code journal_ logger_ in src/* tests/*
code journal logger in src/* tests/*
note "/\bthe journal\b/" "the log" in src/* tests/* not src/store/* src/chains/loopback/ledger.* src/platform/*
note "/\bA journal\b/" "A log" in src/* tests/* not src/store/* src/chains/loopback/ledger.* src/platform/*
note "/\bjournal\b/" "log" in src/engine/* src/api/* src/chains/evm/* src/chains/votes/* tests/engine/* tests/api/* tests/support/*
RULES
