#!/usr/bin/env bash
# commit: votes: folder is namespace
set -euo pipefail
python3 "$(dirname "$0")/rename.py" <<'RULES'
text "/^(}  // )?namespace chains\b(?!:)/" "\1namespace chains::votes" in src/chains/votes/*
code /\bchains::VoteOptions\b/ chains::votes::Options
code /\bchains::VoteGateway\b/ chains::votes::Gateway
code /\bchains::(ProverFormat|ProverLife|ProverOptions|ProverType|WebhookOptions|RestVotes|Webhook|Poster|HeaderFields|make_poster)\b/ chains::votes::\1
code /(?<![\w:])VoteOptions\b/ Options in src/chains/votes/*
code VoteGateway Gateway in src/chains/votes/*
code /(?<![\w:])VoteOptions\b/ chains::votes::Options in tests/chains/*
code /(?<![\w:])VoteGateway\b/ chains::votes::Gateway in tests/chains/*
note VoteOptions Options in src/chains/votes/*
note VoteGateway Gateway in src/chains/votes/*
stem vote_gateway gateway src/chains/votes/* tests/chains/votes/*
text "/^using namespace chains;\n(?!using namespace chains::votes;)/" "using namespace chains;\nusing namespace chains::votes;\n" in tests/chains/votes/*
RULES
