#!/usr/bin/env bash
# commit: engine: requests wait in queues; a log line is a LogLine; evm: CallBatcher
# why: All four were a Line.
set -euo pipefail
python3 "$(dirname "$0")/rename.py" <<'RULES'
stem waiting_line fair_queue src/engine/* tests/engine/*
word WaitingLine FairQueue
word CheckLine CheckQueue
word SendLine SendQueue
code LineOptions QueueOptions in src/engine/gates.cpp
code check_line check_queue in src/engine/* tests/engine/*
code check_line_for check_queue_for in src/engine/*
code send_line send_queue in src/engine/*
code send_line_for send_queue_for in src/engine/*
code line queue in src/engine/gates.cpp src/engine/fair_queue.cpp src/engine/waiting_line.cpp tests/engine/fair_queue_test.cpp tests/engine/waiting_line_test.cpp
code line_up_for_check enqueue_check in src/* tests/*
code line_up_for_sending enqueue_send in src/* tests/*
code line_up_for_resending enqueue_resend in src/* tests/*
code clear_lines clear_queues in src/* tests/*
code rebuild_lines rebuild_queues in src/* tests/*
code line_up enqueue in src/engine/recovery.* src/engine/processor.cpp
code in_line in_queue in src/engine/*
note "/\bwaiting lines\b/" queues in src/engine/gates.*
note "/--- lines;/" "--- queues;" in src/engine/gates.*
note "/\bguards lines\b/" "guards queues" in src/engine/gates.*
note /\blines\b/ queues in src/engine/gates.* src/engine/fair_queue.* src/engine/waiting_line.*
note /\bline\b/ queue in src/engine/gates.* src/engine/fair_queue.* src/engine/waiting_line.*
note /\bA line\b/ "A queue" in src/engine/fair_queue.* src/engine/waiting_line.*
note "/\bmay wait in a line\b/" "may wait in a queue" in src/engine/*
note "/\bplace in the lines\b/" "place in the queues" in src/engine/*
note "/\bwaits in a line\b/" "waits in a queue" in src/engine/*
both /\bEffects::Line\b/ Effects::LogLine
code Line LogLine in src/engine/context.hpp
code /\bRecordingLogger::Line\b/ RecordingLogger::LogLine
code Line LogLine in tests/support/*
code Line Measurement in tests/bench/report.*
code /\breport::Line\b/ report::Measurement in tests/bench/*
stem batch_line call_batcher src/chains/evm/* tests/chains/evm/*
word BatchLine CallBatcher
code gateway_line_ gateway_batcher_ in src/chains/evm/*
note "/\bA waiting line whose items\b/" "A queue whose items" in src/chains/evm/*
RULES
