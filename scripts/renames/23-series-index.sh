#!/usr/bin/env bash
# commit: metrics: a SeriesIndex names a time series; api: a WaitingPoll waits
# why: Both were a Place.
set -euo pipefail
python3 "$(dirname "$0")/rename.py" <<'RULES'
both Place SeriesIndex in src/api/metrics/* tests/api/*metrics* tests/api/*labels* tests/api/metrics/*
code place_of series_of in src/api/metrics/* tests/api/*metrics* tests/api/*labels* tests/api/metrics/*
code place series in src/api/metrics/http_metrics.cpp
both Place WaitingPoll in src/api/relayer_routes.* src/api/*/relayer_routes.*
code place waiting in src/api/relayer_routes.* src/api/*/relayer_routes.*
code leave stop_waiting in src/api/relayer_routes.* src/api/*/relayer_routes.*
code hurry finish_early in src/api/* tests/api/*
code Place ScratchFile in tests/api/secret_file_test.cpp tests/api/access/secret_file_test.cpp
code place scratch in tests/api/secret_file_test.cpp tests/api/access/secret_file_test.cpp
code Place FieldSpan in tests/bench/bodies.*
code place span in tests/bench/bodies.*
code Place DataPlace in tests/bench/posthouse.* tests/bench/scheduled.cpp
RULES
