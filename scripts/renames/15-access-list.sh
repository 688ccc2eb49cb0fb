#!/usr/bin/env bash
# commit: domain: what a request asks of access lists is the domain's
# why: The evm and the embedded chain both need it; the folder of chains is above them.
set -euo pipefail
python3 "$(dirname "$0")/rename.py" <<'RULES'
file src/chains/acl.hpp src/domain/access_list.hpp
file src/chains/acl.cpp src/domain/access_list.cpp
text "/^(}  // )?namespace chains\b(?!:)/" "\1namespace domain" in src/domain/access_list.*
code /\bchains::(acl_questions|host_chains_of|AclQuestion)\b/ domain::\1
code /(?<![\w:.>])(acl_questions|host_chains_of|AclQuestion)\b(?!_)/ domain::\1 in src/chains/* tests/chains/*
RULES
