#!/usr/bin/env bash
# apply-all.sh [FIRST [LAST]]: in the root of a clean checkout, every script in order, one commit each.
# The first line of a script after `#!` is its commit message: `# commit: …`, more lines `# why: …`.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
first=${1:-00} last=${2:-99}
[ -f meson.build ] && [ -d src ] || { echo "run it in the root of a checkout"; exit 1; }
git diff --quiet HEAD || { echo "the checkout has changes"; exit 1; }
start=$(git rev-parse HEAD)
for script in "$here"/[0-9][0-9]-*.sh; do
    name=$(basename "$script")
    [[ "${name:0:2}" < "$first" || "${name:0:2}" > "$last" ]] && continue
    echo "$name"
    "$script"
    if git diff --cached --quiet; then continue; fi
    title=$(sed -n 's/^# commit: //p' "$script" | head -1)
    why=$(sed -n 's/^# why: //p' "$script")
    git commit -q -m "$title" ${why:+-m "$why"}
done
touched=$(git diff --name-only --diff-filter=d "$start" HEAD -- 'src/*.[ch]pp' 'tests/*.[ch]pp')
if [ -n "$touched" ]; then
    # shellcheck disable=SC2086
    clang-format -i $touched
    git add -u
    git diff --cached --quiet || git commit -q -m "format" -m "Lines whose words became longer or shorter."
fi
git log --oneline "$start"..HEAD | cat
