#!/usr/bin/env bash
# Installs what packaging/package.sh made, starts it and asks it: tests/package/installed.sh OUT
#   1. The archive, in a root that has a C library and nothing else.
#   2. The package, by apt in a Debian made for it, with its service as the unit starts it (clean_debian.sh). Where no such Debian
#      can be made, by dpkg without its dependencies, asked with this machine's libraries (no_debian.sh).
#   SPARK=on|off          what the program must say of spark:// tables; otherwise what the package's description promises
#   DEBIAN_ROOT=/folder   a clean Debian to install upon; debootstrap makes it once (a minute). Otherwise nothing stays
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$(cd "$1" && pwd)
skip() { echo "installed.sh: $*; skipped"; exit 77; }
fail() { # what, whose log
  if [ -n "${2:-}" ]; then tail -n 30 "$2" >&2; fi
  echo "installed.sh: $1" >&2
  exit 1
}
[ "$(id -u)" = 0 ] || skip "chroot needs root"
command -v curl > /dev/null || skip "curl is missing (Debian: apt-get install curl)"
work=$(mktemp -d)
server=
finish() {
  if [ -n "$server" ]; then kill "$server" 2> /dev/null || true; wait "$server" 2> /dev/null || true; fi
  awk -v under="$work/" 'index($2, under) == 1 { print $2 }' /proc/mounts | sort -r | while read -r mount; do umount "$mount"; done
  rm -rf --one-file-system "$work"
}
trap finish EXIT

packages=("$out"/discreet_*.deb) archives=("$out"/discreet-*-linux-*.tar.gz)
[ ${#packages[@]} = 1 ] && [ -e "${packages[0]}" ] && [ ${#archives[@]} = 1 ] && [ -e "${archives[0]}" ] ||
  fail "there is not one package and one archive in $out; make them with packaging/package.sh"
package=${packages[0]}
if dpkg-deb --field "$package" Description | grep Spark > /dev/null; then promised=on; else promised=off; fi
[ "${SPARK:-$promised}" = $promised ] || fail "the package was to be made with SPARK=$SPARK, and its description says $promised"

# A program with Spark tries to reach the server; one without says so. Nothing listens at port 1.
check_spark() { # root, program
  mkdir -p "$1/tmp/spark"
  printf '%s\n' '[tables.visits]' 'source = "spark://127.0.0.1:1/hospital.visits"' 'unit = "patient_id"' '[budgets.default]' \
    'epsilon = 1.0' 'delta = 1e-8' > "$1/tmp/spark/discreet.toml"
  if timeout 60 chroot "$1" "$2" query --policy /tmp/spark/discreet.toml "SELECT count(*) FROM visits" > "$work/spark.log" 2>&1; then
    fail "a table in a Spark that is not there was answered" "$work/spark.log"
  fi
  case $promised in
    on) grep 'Spark Connect at 127.0.0.1:1 cannot be reached' "$work/spark.log" > /dev/null ;;
    off) grep 'built without Spark' "$work/spark.log" > /dev/null ;;
  esac || fail "the description says Spark is $promised, and the program says otherwise" "$work/spark.log"
  echo "spark: $promised; $(tail -n 1 "$work/spark.log")"
}

# The port of HTTP, once the server says that it listens.
wait_for_server() { # log, which the server may not have opened yet
  port=
  touch "$1"
  for _ in $(seq 150); do
    port=$(sed -nE 's/^ready .* http=[^ ]*:([0-9]+)$/\1/p' "$1" | head -n 1)
    if [ -n "$port" ] || ! kill -0 "$server" 2> /dev/null; then break; fi
    sleep 0.1
  done
  [ -n "$port" ] || fail "the server did not start" "$1"
  curl -sf "http://127.0.0.1:$port/healthz" > /dev/null || fail "the server does not answer" "$1"
}

stop_server() { # log
  local status=0
  kill "$server"
  wait "$server" || status=$?
  server=
  [ $status = 0 ] || fail "SIGTERM ended the server with $status instead of 0" "$1"
}

devices() { # root
  mknod -m 666 "$1/dev/null" c 1 3
  mknod -m 666 "$1/dev/urandom" c 1 9
}

# 1. The archive, in a root with nothing but a C library.
root="$work/clean"
mkdir -p "$root"/{opt,tmp,dev,proc}
tar -C "$root/opt" -xzf "${archives[0]}"
program=$(cd "$root" && ls -d opt/discreet-*/bin/discreet)
# Where this machine has the C library and the loader, and so the program looks for them.
ldd "$root/$program" | grep -oE '/[^ ]+/(ld-linux[^/ ]*|libc|libm|libdl|libpthread|librt|libresolv)\.so\.[0-9]+' | sort -u > "$work/c-library"
folder=$(dirname "$(grep '/libc\.so' "$work/c-library")")
for library in $(< "$work/c-library") "$folder"/lib{m.so.6,dl.so.2,pthread.so.0,rt.so.1,resolv.so.2}; do
  mkdir -p "$root$(dirname "$library")"
  cp -L "$library" "$root$library"
done
devices "$root"
# The loader finds a program's folder through /proc.
mount -t proc proc "$root/proc" || skip "no /proc can be mounted here"
chroot "$root" "/$program" --version
chroot "$root" "/$program" town --out /town --people 200 --seed 7 > /dev/null
chroot "$root" "/$program" query --policy /town/discreet.toml "SELECT count(*) FROM patients"
check_spark "$root" "/$program"
chroot "$root" "/$program" serve --policy /town/discreet.toml --pg-port 0 --http-port 0 > "$work/serve.log" 2>&1 &
server=$!
wait_for_server "$work/serve.log"
stop_server "$work/serve.log"
echo "archive: unpacked, asked and served in a root with a C library alone"

# 2. The package.
. "$here/clean_debian.sh"
. "$here/no_debian.sh"
root="$work/debian"
if make_debian "$root"; then in_debian "$root"; else without_debian "$root"; fi
echo "installed.sh: all of it in $SECONDS s"
