#!/usr/bin/env bash
# Installs discreet::core into a scratch prefix and builds examples/consumer against it, as a stranger would.
#   tests/package/consumer.sh BUILD SOURCE
set -euo pipefail
build=$1
source=$2
work="$build/consumer"
rm -rf "$work"
cmake --install "$build" --component core --prefix "$work/prefix" > /dev/null
cmake -S "$source/examples/consumer" -B "$work/build" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" > "$work/configure.log" 2>&1 \
  || { cat "$work/configure.log"; exit 1; }
cmake --build "$work/build"
"$work/build/consumer" | grep -E '^about -?[0-9]+ patients'
