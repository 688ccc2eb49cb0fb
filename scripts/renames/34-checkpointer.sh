#!/usr/bin/env bash
# commit: engine: a Checkpointer keeps the write-ahead log short
# why: It was a WalKeeper.
set -euo pipefail
python3 "$(dirname "$0")/rename.py" <<'RULES'
stem wal_keeper checkpointer src/engine/* tests/engine/*
word WalKeeper Checkpointer
code wal_keeper_ checkpointer_
code keeper checkpointer in tests/engine/checkpointer_test.cpp tests/engine/wal_keeper_test.cpp
RULES
