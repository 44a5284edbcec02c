#!/usr/bin/env bash
# One fuzz target, built already, for some seconds from its seeds; says how many inputs it tried, or what broke it.
#   tests/fuzz/short.sh build-asan sql_fuzz 30
set -euo pipefail
build=$1 name=$2 seconds=$3
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$build/corpus/$name"
if ! "$build/bin/$name" -max_total_time="$seconds" -max_len=4096 -timeout=120 -print_final_stats=1 -artifact_prefix="$build/" \
    "$build/corpus/$name" "$here/seeds/$name" > "$build/$name.log" 2>&1; then
  tail -n 40 "$build/$name.log"
  exit 1
fi
echo "$name: $(grep -o "number_of_executed_units: [0-9]*" "$build/$name.log" | grep -o "[0-9]*$") inputs, none broke it"
