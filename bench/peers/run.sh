#!/usr/bin/env bash
# Compares Discreet with other people's libraries, installed from PyPI into build/peers-*; each script prints its own table.
#   bench/peers/run.sh build
set -euo pipefail
build=$1
here=$(cd "$(dirname "$0")" && pwd)
for script in "$here"/*.py; do
  name=$(basename "$script" .py)
  "$here/../../tools/setup/venv.sh" "$build/peers-$name" "$here/requirements-$name.txt"
  echo "== $name"
  "$build/peers-$name/bin/python" "$script" --build "$build"
done
