#!/usr/bin/env bash
# Runs what sanitized.sh built: tests/server/sanitized_run.sh thread|address,undefined FOLDER
# A report of a sanitizer ends the program that made it with a code of its own, and the test that used it fails.
set -euo pipefail
kind=$1
folder=$(cd "$2" && pwd)
cd "$(dirname "$0")/../.."
if [ "$kind" = thread ]; then
  # Suppressions are looked for by name, so the names must be found.
  symbolizer=$(ls /usr/lib/llvm-*/bin/llvm-symbolizer | tail -n 1)
  export TSAN_OPTIONS="suppressions=$PWD/tests/server/tsan.supp external_symbolizer_path=$symbolizer halt_on_error=1 exitcode=66"
  # First: is what must be reported reported, and nothing else?
  for probe in "tsan_probe clean 0" "tsan_probe_bare clean 66" "tsan_probe rows 66" "tsan_probe chunk 66" "tsan_probe string 66"; do
    read -r program what expected <<< "$probe"
    code=0
    "$folder/bin/$program" "$what" > "$folder/probe.log" 2>&1 || code=$?
    echo "probe: $program $what ended with $code ($(grep -c 'WARNING: ThreadSanitizer' "$folder/probe.log" || true) reports)"
    if [ "$code" != "$expected" ]; then
      cat "$folder/probe.log" >&2
      exit 1
    fi
  done
else
  export ASAN_OPTIONS=detect_leaks=1:exitcode=66 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1:exitcode=66
fi
for program in ledger_test server_test server_pgwire_test server_http_test; do "$folder/bin/$program" --gtest_brief=1; done
for suite in ${SUITES:-psql http python_clients other_clients collector hardening}; do
  echo "== $suite"
  DISCREET=$folder/bin/discreet_served DISCREET_TOOL=${DISCREET_TOOL:-$PWD/build/bin/discreet} DISCREET_BUILD=$PWD/build \
    "${PYTHON:-build/venv/bin/python}" -m pytest -q -p no:cacheprovider "tests/server/test_$suite.py"
done
