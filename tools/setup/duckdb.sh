#!/bin/sh
# Puts DuckDB's C header, library and licence into a folder:
#
#   tools/setup/duckdb.sh [FOLDER]       (default: build/_deps/duckdb of this checkout)
#
# FOLDER/include/duckdb.h, FOLDER/lib/libduckdb.so, FOLDER/LICENSE. Running it again does nothing.
# What is fetched is pinned by hash in tools/setup/duckdb/package-lock.json; no package script is run.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
target=${1:-$here/../../build/_deps/duckdb}
version=v1.5.6 # the library; the header is older, and the C API only grows

fail() {
  echo "duckdb.sh: $*" >&2
  exit 1
}

if [ "$(cat "$target/version" 2>/dev/null)" = "$version" ] && [ -f "$target/lib/libduckdb.so" ] &&
  [ -f "$target/include/duckdb.h" ]; then
  exit 0
fi

case "$(uname -s)-$(uname -m)" in
  Linux-x86_64) ;;
  *) fail "no pinned DuckDB library for $(uname -s) on $(uname -m); install DuckDB $version where CMake finds it (duckdb.h and libduckdb.so)" ;;
esac
command -v npm >/dev/null 2>&1 || fail "npm is missing; install it (Debian: apt-get install npm), then run this again"
command -v "${CC:-cc}" >/dev/null 2>&1 || fail "no C compiler to check the library with; install g++, then run this again"

mkdir -p "$target" || fail "cannot write to $target"
target=$(cd "$target" && pwd)
work=$(mktemp -d "$target/fetch.XXXXXX") || fail "cannot write to $target"
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

cp "$here/duckdb/package.json" "$here/duckdb/package-lock.json" "$work/"
(cd "$work" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >npm.log 2>&1) || {
  tail -n 20 "$work/npm.log" >&2
  fail "npm could not fetch the pinned DuckDB packages (its words are above); check the network or npm's registry setting and run this again"
}

modules=$work/node_modules
mkdir -p "$work/done/include" "$work/done/lib"
mv "$modules/duckdb/src/duckdb/src/include/duckdb.h" "$work/done/include/" || fail "the duckdb package no longer carries duckdb.h where it did"
mv "$modules/@duckdb/node-bindings-linux-x64/libduckdb.so" "$work/done/lib/" || fail "the bindings package no longer carries libduckdb.so"
mv "$modules/@duckdb/node-bindings-linux-x64/LICENSE" "$work/done/"

# The header compiles, the library loads, and it is the version we pinned.
cat >"$work/version.c" <<'C'
#include <stdio.h>
#include "duckdb.h"
int main(void) { return puts(duckdb_library_version()) < 0; }
C
"${CC:-cc}" -I"$work/done/include" -o "$work/version" "$work/version.c" -L"$work/done/lib" -lduckdb \
  -Wl,-rpath,"$work/done/lib" || fail "the fetched header and library do not link"
found=$("$work/version") || fail "the fetched library does not load on this machine"
[ "$found" = "$version" ] || fail "the fetched library is DuckDB $found, wanted $version"

mkdir -p "$target/include" "$target/lib"
mv -f "$work/done/include/duckdb.h" "$target/include/"
mv -f "$work/done/lib/libduckdb.so" "$target/lib/"
mv -f "$work/done/LICENSE" "$target/"
echo "$version" >"$target/version"
echo "duckdb.sh: DuckDB $version is in $target"
