#!/usr/bin/env bash
# Installs the web console's packages; with a folder, builds the console into it. Does nothing that is done already.
#   tools/setup/console.sh [build/console]
# What is fetched is pinned by hash in console/package-lock.json; no package script is run.
set -euo pipefail
cd "$(dirname "$0")/../../console"
out=${1:-}
case $out in '' | /*) ;; *) out=$OLDPWD/$out ;; esac

leave_out() {
  echo "console: $*, so the web console is left out; everything else works without it" >&2
  exit 0
}
command -v npm >/dev/null 2>&1 || leave_out "npm is missing (Debian: apt-get install npm)"
major=$(node --version | sed 's/^v\([0-9]*\).*/\1/')
[ "$major" -ge 18 ] || leave_out "Node $major is too old (18 or newer is needed)"

if ! cmp -s package-lock.json node_modules/.installed 2>/dev/null; then
  echo "setup: packages of the web console"
  if ! said=$(npm ci --ignore-scripts --no-audit --no-fund --loglevel=error 2>&1); then
    head -n 20 <<<"$said" >&2
    echo "setup: npm could not install the console's packages; check the network, or configure with -DDISCREET_CONSOLE=OFF" >&2
    exit 1
  fi
  cp package-lock.json node_modules/.installed
fi
[ -n "$out" ] || exit 0
node_modules/.bin/tsc --noEmit
CONSOLE_OUT=$out node_modules/.bin/vite build --logLevel warn
