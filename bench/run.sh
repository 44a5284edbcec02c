#!/usr/bin/env bash
# Runs every benchmark program of the build. Numbers go to stdout; the machine and commit stand above them.
#   bench/run.sh build
set -euo pipefail
build=$1
echo "commit $(git rev-parse --short HEAD 2>/dev/null || echo unknown), $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores"
if [ -z "${DISCREET_SPARK_HOME:-}" ] && [ -d "$build/_deps/spark/home" ]; then
  DISCREET_SPARK_HOME=$(cd "$build/_deps/spark/home" && pwd)
  export DISCREET_SPARK_HOME
fi
for program in "$build"/bin/bench_*; do
  echo "== $(basename "$program")"
  if [ "$(basename "$program")" = bench_spark ] && [ -z "${DISCREET_SPARK_HOME:-}" ]; then
    echo "left out: there is no Spark here (make test-spark fetches it)"
    continue
  fi
  "$program"
done
