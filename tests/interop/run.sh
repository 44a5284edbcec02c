#!/usr/bin/env bash
# Builds libprio-rs's side with cargo and runs the interop tests against it. Exit 77: no cargo, or no crate.
#   tests/interop/run.sh BUILD/bin/interop_test BUILD
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if ! command -v cargo > /dev/null; then
  echo "interop: cargo is not installed, libprio-rs is not tested"
  exit 77
fi
if ! cargo build --release --quiet --manifest-path "$here/libprio/Cargo.toml" --target-dir "$2/cargo"; then
  echo "interop: the crate prio 0.18.1 could not be fetched or built, libprio-rs is not tested"
  exit 77
fi
DISCREET_LIBPRIO_PEER="$2/cargo/release/libprio-peer" "$1"
