#!/usr/bin/env bash
# Refuses text that ties the repository to one machine or one mirror.
set -euo pipefail
cd "$(dirname "$0")/.."
pattern='registry\.npmjs|pypi\.org|files\.pythonhosted|static\.crates|index\.crates|deb\.debian\.org|repo1?\.maven|/(work|root|home)/[a-z]'
if git grep -nIE "$pattern" -- . ':!tools/check_text.sh' ':!LICENSE'; then
  echo "check_text: the lines above name a registry host or a path of one machine" >&2
  exit 1
fi
