#!/usr/bin/env bash
# The server under a sanitizer.
#   tests/server/sanitized.sh address,undefined build-asan    the tests with real clients against such a program
#   tests/server/sanitized.sh thread build-tsan               the tests of ledger and server, sessions at once among them
# Needs clang-19, lld, build/_deps/duckdb and build/venv (make setup-test).
set -euo pipefail
kind=$1
folder=$2
cd "$(dirname "$0")/../.."
case $kind in thread) targets="ledger_test server_test" ;; *) targets=discreet ;; esac
cmake -S . -B "$folder" -G Ninja -DCMAKE_CXX_COMPILER=clang++-19 -DCMAKE_C_COMPILER=clang-19 -DDISCREET_BENCHMARKS=OFF -DDISCREET_PYTHON=OFF \
  -DDISCREET_PRECOMPILED=ON -DDISCREET_SANITIZE="$kind" -DDISCREET_OPTIMIZATION=-O1 -DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld \
  -DDISCREET_DUCKDB_DIR="$PWD/build/_deps/duckdb" > /dev/null
# shellcheck disable=SC2086
cmake --build "$folder" -j "${JOBS:-2}" --target $targets
if [ "$kind" = thread ]; then
  export TSAN_OPTIONS="suppressions=$PWD/tests/server/tsan.supp halt_on_error=1"
  "$folder/bin/ledger_test" --gtest_brief=1
  "$folder/bin/server_test" --gtest_brief=1
  exit
fi
export UBSAN_OPTIONS=print_stacktrace=1
DISCREET=$PWD/$folder/bin/discreet DISCREET_BUILD=$PWD/build exec build/venv/bin/python -m pytest -q -p no:cacheprovider \
  tests/server/test_psql.py tests/server/test_http.py tests/server/test_python_clients.py tests/server/test_collector.py tests/server/test_hardening.py
