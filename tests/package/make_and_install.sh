#!/usr/bin/env bash
# What `make package` does, for a build that is there: tests/package/make_and_install.sh BUILD
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
"$here/../../packaging/package.sh" "$1" "$1/package"
"$here/installed.sh" "$1/package"
