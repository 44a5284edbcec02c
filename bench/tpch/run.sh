#!/usr/bin/env bash
# TPC-H at scale factor 1 with the customer as the privacy unit: time and error of every query beside plain DuckDB.
#   bench/tpch/run.sh build [options, for example --runs 21 --markdown]
set -euo pipefail
build=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
data="$build/tpch"
if [ ! -s "$data/lineitem.parquet" ]; then
  "$here/../../tools/setup/venv.sh" "$build/tpch-venv" "$here/requirements.txt"
  mkdir -p "$data"
  "$build/tpch-venv/bin/tpchgen-cli" parquet -s 1 --output-dir "$data"
fi
cp "$here/discreet.toml" "$data/discreet.toml"
rm -f "$data"/ledger.sqlite*
"$build/bin/tpch_bench" "$data" "$here/queries.sql" "$@"
