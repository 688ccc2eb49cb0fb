#!/usr/bin/env bash
# commit: evm: blocks are asked for in ranges; other pieces are batches and pages
set -euo pipefail
python3 "$(dirname "$0")/rename.py" <<'RULES'
stem piece_size range_size src/chains/evm/* tests/chains/evm/*
word PieceSize RangeSize
code piece_size_ range_size_ in src/chains/*
code read_piece read_range in src/chains/*
code next_piece next_range in src/chains/*
note "/\bpiece by piece\b/" "range by range" in src/chains/evm/*
note "/\bbefore the piece\b/" "before the range" in src/chains/evm/*
note "/\bthe piece\b/" "the range" in src/chains/evm/*
code suit_piece suit_page in src/chains/votes/* tests/chains/votes/*
code piece_ page_size_ in src/chains/votes/*
note "/\bA piece of the answer\b/" "A page of the answer" in src/chains/votes/*
code run_piece run_batch in src/engine/* tests/engine/*
code rows_per_piece rows_per_batch in src/engine/* tests/engine/*
code rounds_per_piece rounds_per_batch in src/engine/* tests/engine/*
note "/\bin pieces that fit\b/" "in batches that fit" in src/engine/*
note "/\bnext piece\b/" "next batch" in src/engine/*
string "/\bare read in pieces\b/" "are read in ranges" in tests/chains/evm/*
string "/\bwhile the piece is read\b/" "while the range is read" in tests/chains/evm/*
string "/\bpieces shrink\b/" "pages shrink" in tests/chains/votes/*
string "/\ba piece that fails\b/" "a page that fails" in tests/chains/votes/*
string "/\bpiece by piece\b/" "page by page" in tests/chains/votes/*
string "/\bin small pieces\b/" "in small batches" in tests/engine/*
string "/\bclose in pieces\b/" "close in batches" in tests/engine/*
RULES
