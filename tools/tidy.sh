#!/usr/bin/env bash
# clang-tidy on the sources that changed lately: since TIDY_BASE, or in the last day of the history.
#   tools/tidy.sh build
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
base=${TIDY_BASE:-$(git rev-list -1 --before="$(git log -1 --format=%ct | awk '{print $1 - 86400}')" HEAD)}
if [ -n "$base" ]; then
  mapfile -t files < <(git log --name-only --diff-filter=d --format= "$base"..HEAD -- 'src/*.cc' | awk '!seen[$0]++' |
    while read -r file; do [ -f "$file" ] && echo "$file"; done)
else
  mapfile -t files < <(git ls-files -- 'src/*.cc')
fi
[ ${#files[@]} -gt 0 ] || { echo "tidy: nothing changed"; exit 0; }
# Tests are compiled and sanitized; the linter's time goes to what ships.
mapfile -t files < <(printf '%s\n' "${files[@]}" | grep -v '_test\.cc$')
# Newest first, in batches, for as long as there is time (TIDY_SECONDS; at least two minutes).
seconds=${TIDY_SECONDS:-3600}
[ "$seconds" -ge 120 ] || seconds=120
echo "tidy: ${#files[@]} files, for at most $seconds s"
checked=0
while [ "$checked" -lt ${#files[@]} ] && [ "$SECONDS" -lt "$seconds" ]; do
  printf '%s\n' "${files[@]:$checked:16}" | xargs -P "$(nproc)" -n 4 clang-tidy-19 -p "$build" --quiet \
    --extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-error --extra-arg=-Wno-deprecated-declarations 2>/dev/null
  checked=$((checked + 16))
done
[ "$checked" -ge ${#files[@]} ] || echo "tidy: out of time after $checked of ${#files[@]} files"
