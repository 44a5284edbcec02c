#!/usr/bin/env bash
# Builds the fuzz targets with clang and runs each for a while (SECONDS_EACH, default 60) from its seeds.
#   tests/fuzz/run.sh build-fuzz
set -euo pipefail
build=$1
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
cmake -S "$root" -B "$build" -G Ninja -DCMAKE_CXX_COMPILER=clang++-19 -DCMAKE_C_COMPILER=clang-19 -DDISCREET_FUZZERS=ON \
  -DDISCREET_BENCHMARKS=OFF -DDISCREET_SANITIZE=address,undefined -DDISCREET_DUCKDB_DIR="$root/build/_deps/duckdb" > /dev/null
for source in "$here"/*_fuzz.cc; do
  name=$(basename "$source" .cc)
  cmake --build "$build" --target "$name"
  mkdir -p "$build/corpus/$name"
  echo "fuzz: $name"
  "$build/bin/$name" -max_total_time="${SECONDS_EACH:-60}" -max_len=4096 -print_final_stats=1 -artifact_prefix="$build/" \
    "$build/corpus/$name" "$here/seeds/$name" 2>&1 | tail -n 3
done
