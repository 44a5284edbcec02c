#!/usr/bin/env bash
# Puts Apache Spark into a folder: its protocol files for the build, and its programs for the tests' own server.
#   tools/setup/spark.sh [--protocol] [FOLDER]       (default: build/_deps/spark of this checkout)
# FOLDER/protocol/spark/connect/*.proto, FOLDER/home/{bin,sbin,jars}. Running it again does nothing. What is fetched (450 MB,
# PyPI's pyspark, which carries Spark's jars) is pinned by hash in tools/setup/spark/requirements.txt.
# With --protocol the protocol files alone stay (200 kB): all that the program is built from. No Java is needed for either.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
part=all
if [ "${1:-}" = --protocol ]; then part=protocol; shift; fi
target=${1:-$here/../../build/_deps/spark}
version=4.3.0
fail() { echo "spark.sh: $*" >&2; exit 1; }

has() { [ "$(cat "$target/$1" 2>/dev/null || true)" = "$version" ]; }
if has version || { [ "$part" = protocol ] && has protocol/version; }; then exit 0; fi
command -v python3 > /dev/null || fail "python3 is missing; run tools/setup/debian.sh spark-build, which installs what Spark needs"
mkdir -p "$target" || fail "cannot write to $target"
target=$(cd "$target" && pwd)
room=$(df -Pm "$target" | awk 'NR == 2 { print $4 }')
[ "$room" -ge 3000 ] || fail "Spark needs 3 GB of disk while it is unpacked, but $room MB are free in $target; make room there"
work=$(mktemp -d "$target/fetch.XXXXXX")
trap 'rm -rf "$work"' EXIT

case $part in
  all) echo "setup: Apache Spark $version (450 MB)" ;;
  protocol) echo "setup: the protocol files of Apache Spark $version (450 MB are fetched, 200 kB stay)" ;;
esac
python3 -m venv "$work/venv" || fail "python3 cannot make a virtual environment; run tools/setup/debian.sh spark-build, then this again"
# No copy in pip's cache, and none of what it unpacks in /tmp: in an image all of it would stay in the layer.
export TMPDIR=$work
"$work/venv/bin/pip" download --quiet --no-cache-dir --disable-pip-version-check --no-deps --no-binary :all: --require-hashes \
  -r "$here/spark/requirements.txt" -d "$work" > "$work/pip.log" 2>&1 || {
  tail -n 20 "$work/pip.log" >&2
  fail "pip could not fetch pyspark (its words are above); check the network and run this again"
}
archive=$work/pyspark-$version.tar.gz
deps=$work/pyspark-$version/deps
case $part in
  all) tar -xzf "$archive" -C "$work" "pyspark-$version/deps" ;;
  protocol) tar -xzf "$archive" -C "$work" --wildcards "pyspark-$version/deps/jars/spark-connect_2.*.jar" ;;
esac || fail "pyspark's archive does not hold Spark's jars where it did"
mkdir "$work/protocol"
python3 - "$deps/jars" "$work/protocol" <<'PYTHON' || fail "Spark's jar no longer carries its protocol files"
import pathlib, sys, zipfile
(jar,) = pathlib.Path(sys.argv[1]).glob("spark-connect_2.*.jar")
with zipfile.ZipFile(jar) as archive:
    names = [n for n in archive.namelist() if n.startswith("spark/connect/") and n.endswith(".proto")]
    assert "spark/connect/base.proto" in names
    archive.extractall(sys.argv[2], names)
PYTHON
echo "$version" > "$work/protocol/version"
rm -rf "$target/protocol"
mv "$work/protocol" "$target/"
if [ "$part" = protocol ]; then
  echo "spark.sh: the protocol files of Spark $version are in $target/protocol"
  exit 0
fi
rm -rf "$target/home"
mkdir "$target/home"
for folder in bin sbin jars; do mv "$deps/$folder" "$target/home/"; done
echo "$version" > "$target/version"
echo "spark.sh: Spark $version is in $target"
