#!/usr/bin/env bash
# commit: base: redact_urls() is called by its home
set -euo pipefail
python3 "$(dirname "$0")/rename.py" <<'RULES'
text "/^using base::redact_urls;\n\n?/" "" in src/domain/failure.hpp
text "/\n#include \"base/urls\.hpp\"\n/" "" in src/domain/failure.hpp
code /\bdomain::redact_urls\b/ base::redact_urls
include base/urls.hpp /\bbase::redact_urls\b/
RULES
