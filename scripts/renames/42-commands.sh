#!/usr/bin/env bash
# commit: commands: names that say what they are
# why: Chain, Votes, Together, Apart, alarm and remembered.
set -euo pipefail
python3 "$(dirname "$0")/rename.py" <<'RULES'
stem chain relayer_chain src/commands/*
stem votes vote_service src/commands/*
stem alarm round_alerts src/commands/*
stem remembered stored_tuning src/commands/*
both Chain RelayerChain in src/commands/*
both /\bmake_chain\b/ make_relayer_chain in src/commands/*
code Votes VoteService in src/commands/*
code make_votes make_vote_service in src/commands/*
code Together SharedVoteChain in src/commands/*
code Apart OwnVoteChain in src/commands/*
both Alarm RoundAlerts in src/commands/*
code WebhookAlarm WebhookAlerts in src/commands/*
code make_alarm make_round_alerts in src/commands/*
code alarm round_alerts in src/commands/*
code alarm_ round_alerts_ in src/commands/*
RULES
