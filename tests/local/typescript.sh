#!/usr/bin/env bash
# What the TypeScript package needs checked beyond its own tests.
#   typescript.sh install FOLDER    node_modules by its lock file; says so where there is no network
#   typescript.sh dist FOLDER       dist/ is what src/ compiles to
set -euo pipefail
cd "$2"
case $1 in
  install)
    if [ -d node_modules/typescript ] && [ -d node_modules/playwright-core ]; then exit 0; fi
    npm ci --no-audit --no-fund --loglevel=error || echo "npm could not install the packages; tests that need them pass over" ;;
  dist)
    if [ ! -x node_modules/.bin/tsc ]; then echo "the TypeScript compiler is not installed"; exit 77; fi
    out=$(mktemp -d)
    trap 'rm -rf "$out"' EXIT
    node_modules/.bin/tsc -p tsconfig.json --outDir "$out"
    diff -r "$out" dist ;;
esac
