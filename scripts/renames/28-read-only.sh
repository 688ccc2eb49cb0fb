#!/usr/bin/env bash
# commit: engine: the processor enters read-only mode and leaves it; access: realms
# why: Both were a door, and so was what outlives an executor's work.
set -euo pipefail
python3 "$(dirname "$0")/rename.py" <<'RULES'
code close_door enter_read_only in src/engine/*
code try_to_open_door try_to_leave_read_only in src/engine/*
note "/closes the door, pauses, tries again, opens it/" "enters read-only mode, pauses, tries again, leaves it" in src/engine/*
note "/when the door closed/" "when read-only mode began" in src/engine/*
note "/The door is closed:/" "In read-only mode:" in tests/engine/*
string "/a failing disk closes the door with one line, and it opens by itself/" "a failing disk makes the service read-only with one line, and it recovers by itself" in tests/engine/*
note "/opens no door/" "opens no realm" in src/* tests/*
page "/opens no door/" "lets nobody in"
code door_of realm_of in src/api/* tests/api/*
code door realm in src/api/access/*
note "/\bTwo doors:/" "Two realms:" in src/api/access/*
note /\bdoors\b/ realms in src/api/access/*
note /\bA door\b/ "A realm" in src/api/access/*
note "/\ban open door\b/" "an open realm" in src/api/access/*
note /\bdoor\b/ realm in src/api/access/*
code Door Lifetime in src/api/* src/chains/* src/engine/*
code door_ lifetime_ in src/api/* src/chains/* src/engine/*
code door lifetime in src/api/* src/chains/* src/engine/*
RULES
