#!/usr/bin/env bash
# Installs the Debian packages named in the lists given (default: packages-build.txt); does nothing when all are there.
#   tools/setup/debian.sh build test ci
# A line `-r NAME` in a list takes in another list.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

if ! command -v apt-get >/dev/null; then
  echo "setup: this script knows Debian and Ubuntu only. Install by hand what $here/packages-*.txt name, then build with DISCREET_SETUP=off." >&2
  exit 1
fi

lists=("$@")
[ ${#lists[@]} -gt 0 ] || lists=(build)
wanted=()
read_list() {
  local name other
  while read -r name other; do
    if [ "$name" = -r ]; then read_list "$other"; else wanted+=("$name"); fi
  done < <(grep -hvE '^(#|$)' "$here/packages-$1.txt")
}
for list in "${lists[@]}"; do read_list "$list"; done

missing=()
for name in "${wanted[@]}"; do
  # npm and cargo are often installed outside apt; a command of that name is enough.
  if [ "$name" = npm ] && command -v npm >/dev/null; then continue; fi
  dpkg-query -W -f='${Status}' "$name" 2>/dev/null | grep '^install ok installed' > /dev/null || missing+=("$name")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null || { echo "setup: run as root or install sudo; missing packages: ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
echo "setup: installing ${#missing[@]} Debian packages: ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
if ! { "${as_root[@]}" apt-get update && "${as_root[@]}" apt-get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
  tail -n 20 "$log" >&2
  echo "setup: apt-get could not install them (its last words are above). Check the network and that this is Debian 12 or a newer Debian or Ubuntu." >&2
  exit 1
fi
