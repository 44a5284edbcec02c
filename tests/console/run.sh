#!/usr/bin/env bash
# The console's tests: `logic` in Node alone, `sessions` in Chromium against the built server.
#   tests/console/run.sh logic|sessions build
# With PICTURES=1 the sessions' screenshots replace those in docs/img.
set -euo pipefail
part=$1
build=$(cd "$2" && pwd)
cd "$(dirname "$0")/../../console"
skip() {
  echo "console: $*; skipped" >&2
  exit 77
}
[ -x node_modules/.bin/vitest ] || skip "its packages are not installed (tools/setup/console.sh)"
if [ "$part" = logic ]; then
  exec node_modules/.bin/vitest run --config vitest.config.ts
fi
command -v chromium >/dev/null || command -v google-chrome >/dev/null || skip "no Chromium on the PATH (Debian: apt-get install chromium)"
"$build/bin/discreet" --help | grep -E "^ +serve " >/dev/null || skip "this build of discreet does not serve yet"
[ -f "$build/console/index.html" ] || skip "the console is not built"
pictures=$build/console-pictures
[ "${PICTURES:-}" = 1 ] && pictures=$PWD/../docs/img
DISCREET_BUILD=$build DISCREET_PICTURES=$pictures exec node_modules/.bin/vitest run --config tests/e2e/vitest.config.ts
