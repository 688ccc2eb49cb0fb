#!/usr/bin/env bash
# commit: engine: Submitter, RequestReader, SubmitOptions, QueueFull
# why: They were Intake, Inquiry, Terms and Bounced. Log events keep their names.
set -euo pipefail
python3 "$(dirname "$0")/rename.py" <<'RULES'
stem intake submitter src/engine/* tests/engine/*
stem inquiry request_reader src/engine/* tests/engine/*
stem share_intake share_submitter src/api/* tests/api/*
word Intake Submitter
word Inquiry RequestReader
word InquiryOutcome FindOutcome
both Terms SubmitOptions in src/engine/* src/api/* tests/*
both Bounced QueueFull in src/* tests/*
word ShareIntake ShareSubmitter
word MemoryIntake MemorySubmitter
word IntakeQueue SubmitterQueue
word ScriptedInquiry ScriptedReader
code intake_ submitter_
code intake submitter in src/* tests/*
code intake_lookups_ submit_lookups_
code intake_lookups_max submit_lookups_max
code intake_errors_ submit_errors_
code inquiry_ request_reader_
code inquiry request_reader in src/* tests/*
code inquiry_errors_ find_errors_
code terms options in src/engine/*
code terms submit_options in src/api/*
code terms submit_options in tests/*
note "/\bthe intake\b/" "the submitter" in src/* tests/*
RULES
