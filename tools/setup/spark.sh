#!/usr/bin/env bash
# Puts Apache Spark into a folder: its protocol files for the build, and its programs for the tests' own server.
#   tools/setup/spark.sh [FOLDER]       (default: build/_deps/spark of this checkout)
# FOLDER/protocol/spark/connect/*.proto, FOLDER/home/{bin,sbin,jars}. Running it again does nothing. What is fetched (450 MB,
# PyPI's pyspark, which carries Spark's jars) is pinned by hash in tools/setup/spark/requirements.txt.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
target=${1:-$here/../../build/_deps/spark}
version=4.3.0
fail() { echo "spark.sh: $*" >&2; exit 1; }

[ "$(cat "$target/version" 2>/dev/null || true)" = "$version" ] && exit 0
command -v python3 > /dev/null || fail "python3 is missing; tools/setup/packages-spark.txt lists what Spark needs"
mkdir -p "$target" || fail "cannot write to $target"
target=$(cd "$target" && pwd)
room=$(df -Pm "$target" | awk 'NR == 2 { print $4 }')
[ "$room" -ge 3000 ] || fail "Spark needs 3 GB of disk while it is unpacked; $room MB are free in $target"
work=$(mktemp -d "$target/fetch.XXXXXX")
trap 'rm -rf "$work"' EXIT

echo "setup: Apache Spark $version (450 MB)"
python3 -m venv "$work/venv"
"$work/venv/bin/pip" download --quiet --disable-pip-version-check --no-deps --no-binary :all: --require-hashes \
  -r "$here/spark/requirements.txt" -d "$work" > "$work/pip.log" 2>&1 || {
  tail -n 20 "$work/pip.log" >&2
  fail "pip could not fetch pyspark (its words are above); check the network and run this again"
}
tar -xzf "$work/pyspark-$version.tar.gz" -C "$work" "pyspark-$version/deps" || fail "pyspark's archive has no deps folder"
rm -rf "$target/home" "$target/protocol"
mkdir -p "$target/home" "$target/protocol"
for part in bin sbin jars; do mv "$work/pyspark-$version/deps/$part" "$target/home/"; done
python3 - "$target" <<'PYTHON' || fail "Spark's jar no longer carries its protocol files"
import pathlib, sys, zipfile
target = pathlib.Path(sys.argv[1])
(jar,) = (target / "home" / "jars").glob("spark-connect_2.*.jar")
with zipfile.ZipFile(jar) as archive:
    names = [n for n in archive.namelist() if n.startswith("spark/connect/") and n.endswith(".proto")]
    assert "spark/connect/base.proto" in names
    archive.extractall(target / "protocol", names)
PYTHON
echo "$version" > "$target/version"
echo "spark.sh: Spark $version is in $target"
