#!/usr/bin/env bash
# Makes a Python virtual environment with pinned packages; does nothing when it is up to date.
#   tools/setup/venv.sh build/venv tests/requirements.txt
set -euo pipefail
folder=$1
requirements=$2
stamp="$folder/.installed"
if [ -x "$folder/bin/python" ] && cmp -s "$requirements" "$stamp" 2>/dev/null; then exit 0; fi
echo "setup: Python packages of $requirements"
python3 -m venv "$folder"
if ! "$folder/bin/pip" install --quiet --disable-pip-version-check -r "$requirements"; then
  echo "setup: pip could not install $requirements; check the network" >&2
  exit 1
fi
cp "$requirements" "$stamp"
