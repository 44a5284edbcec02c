#!/usr/bin/env bash
# make test-spark as .ci/run wants it: tests/engines/spark/ci.sh SECONDS_LEFT
# What the machine is short of (memory, disk, time, a way to fetch Spark) leaves Spark untested, and is said; a test that fails, fails.
set -euo pipefail
cd "$(dirname "$0")/../../.."
left=$1
leave_out() { echo "ci: Spark was not tested: $*"; exit 0; }
[ "$left" -ge 900 ] || leave_out "$left s are left of 75 minutes, and it may take 900"
memory=$(awk '/^MemAvailable/ { print int($2 / 1024) }' /proc/meminfo)
[ "$memory" -ge 5000 ] || leave_out "$memory MB of memory are free, and it wants 5000"
if [ "$(id -u)" = 0 ] || command -v sudo > /dev/null; then tools/setup/debian.sh spark || leave_out "its packages could not be installed"; fi
timeout 400 tools/setup/spark.sh build/_deps/spark || leave_out "it could not be fetched"
# Fewer random statements than by hand; the rest is the same.
status=0
DISCREET_ENGINE_CASES=${DISCREET_ENGINE_CASES:-25} timeout 1200 make test-spark > build/ci-spark.log 2>&1 || status=$?
grep -E '^(\[  (PASSED|FAILED)|.* rows equal)' build/ci-spark.log || true
[ "$status" != 124 ] || leave_out "it took longer than 1200 s"
if grep -E '^[^ ]+:[0-9]+:[0-9]+: warning:' build/ci-spark.log; then echo "ci: the compiler warns (above); warnings are errors here."; exit 1; fi
[ "$status" = 0 ] || { tail -n 60 build/ci-spark.log; echo "ci: make test-spark failed"; exit 1; }
