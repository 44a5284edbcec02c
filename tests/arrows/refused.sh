#!/usr/bin/env bash
# The build's own check must refuse an engine that reaches random/ through another library, and accept one that does not.
set -euo pipefail
source=$1
work=$2
rm -rf "$work"
cmake -S "$source/tests/arrows" -B "$work/kept" -DDISCREET_SOURCE="$source" -DBREAK_THE_RULE=OFF > /dev/null
if cmake -S "$source/tests/arrows" -B "$work/broken" -DDISCREET_SOURCE="$source" -DBREAK_THE_RULE=ON > /dev/null 2> "$work/said"; then
  echo "the broken arrow was not noticed"
  exit 1
fi
grep -q "only mechanisms/ draws noise" "$work/said"
