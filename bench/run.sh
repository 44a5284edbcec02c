#!/usr/bin/env bash
# Runs every benchmark program of the build. Numbers go to stdout; the machine and commit stand above them.
#   bench/run.sh build
set -euo pipefail
build=$1
echo "commit $(git rev-parse --short HEAD 2>/dev/null || echo unknown), $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores"
for program in "$build"/bin/bench_*; do
  echo "== $(basename "$program")"
  "$program"
done
