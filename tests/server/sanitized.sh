#!/usr/bin/env bash
# The server under a sanitizer: its unit tests and the ledger's, then every client of make test against such a server.
#   tests/server/sanitized.sh address,undefined build-asan
#   tests/server/sanitized.sh thread build-tsan
# Needs clang-19, lld, build/_deps/duckdb and build/venv (make setup-test). SUITES names the client suites, all of them otherwise.
set -euo pipefail
kind=$1
folder=$2
cd "$(dirname "$0")/../.."
cmake -S . -B "$folder" -G Ninja -DCMAKE_CXX_COMPILER=clang++-19 -DCMAKE_C_COMPILER=clang-19 -DDISCREET_BENCHMARKS=OFF -DDISCREET_PYTHON=OFF \
  -DDISCREET_PRECOMPILED=ON -DDISCREET_SANITIZE="$kind" -DDISCREET_OPTIMIZATION=-O1 -DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld \
  -DDISCREET_DUCKDB_DIR="$PWD/build/_deps/duckdb" > /dev/null
targets="ledger_test server_test server_pgwire_test server_http_test discreet_served"
if [ "$kind" = thread ]; then targets="$targets tsan_probe tsan_probe_bare"; fi
# shellcheck disable=SC2086
cmake --build "$folder" -j "${JOBS:-2}" --target $targets
exec tests/server/sanitized_run.sh "$kind" "$folder"
