#!/usr/bin/env bash
# commit: tests: the layer test knows subfolders and namespaces
# why: Inside chains and api there is an order too, and a file opens the namespace of its folder.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if grep -q violation_between tests/architecture/layers.cpp; then
    echo "  nothing to do"
    exit 0
fi
clang-format -i tests/architecture/layers.cpp tests/architecture/layers.hpp tests/architecture/layers_test.cpp
patch -p1 --no-backup-if-mismatch < "$here/files/layers.patch"
git add tests/architecture
