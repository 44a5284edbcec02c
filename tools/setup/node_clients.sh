#!/bin/sh
# Puts node-postgres into a folder for the tests: tools/setup/node_clients.sh FOLDER. Running it again does nothing.
# What is fetched is pinned by hash in tools/setup/node_clients/package-lock.json; no package script is run.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
target=$1
[ -d "$target/node_modules/pg" ] && exit 0
command -v npm >/dev/null 2>&1 || { echo "node_clients.sh: npm is missing; install it (Debian: apt-get install npm)" >&2; exit 1; }
mkdir -p "$target"
cp "$here/node_clients/package.json" "$here/node_clients/package-lock.json" "$target/"
cd "$target"
npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >npm.log 2>&1 || {
  tail -n 20 npm.log >&2
  echo "node_clients.sh: npm could not fetch node-postgres; check the network" >&2
  exit 1
}
