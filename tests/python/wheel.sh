#!/usr/bin/env bash
# Builds the wheel as pip does, installs it into a fresh environment without a network, and uses it there.
#   wheel.sh PYTHON SOURCE BUILD
set -euo pipefail
python=$1
source=$2
build=$3
work=$build/wheel-test
rm -rf "$work"
mkdir -p "$work"

# scikit-build-core and nanobind are those of the tests' environment, so that nothing is fetched. The same CMake files with the
# same flags: ccache hands over what the ordinary build compiled.
"$python" -m pip wheel "$source" --no-deps --no-index --no-build-isolation --disable-pip-version-check --wheel-dir "$work" \
  --config-settings=build-dir="$build-wheel" --config-settings=cmake.define.DISCREET_DUCKDB_DIR="$build/_deps/duckdb" > "$work/log" 2>&1 ||
  { tail -n 60 "$work/log" >&2; exit 1; }
ls -l "$work"/*.whl

"$python" -m venv "$work/fresh"
"$work/fresh/bin/pip" install --quiet --no-index --disable-pip-version-check "$work"/discreet-*.whl
cd "$work"
env -u PYTHONPATH "$work/fresh/bin/python" "$source/tests/python/fresh.py" "$work"
