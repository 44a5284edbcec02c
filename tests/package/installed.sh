#!/usr/bin/env bash
# Installs what packaging/package.sh made into a root of its own, starts the server there and asks it: tests/package/installed.sh OUT
# The archive runs in a root that has a C library, a shell and nothing else; the package is installed by dpkg into an empty one.
set -euo pipefail
out=$(cd "$1" && pwd)
[ "$(id -u)" = 0 ] || { echo "installed.sh: chroot needs root; skipped"; exit 77; }
work=$(mktemp -d)
server=
finish() {
  if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; fi
  for root in "$work"/*/; do mountpoint -q "$root/proc" && umount "$root/proc"; done
  rm -rf --one-file-system "$work"
}
trap finish EXIT

# The data and a policy, made by the program under test.
town() { # root, program inside it
  chroot "$1" "$2" town --out /town --people 200 --seed 7 > /dev/null
}

start() { # root, program
  local root=$1 program=$2
  chroot "$root" "$program" serve --policy /town/discreet.toml --pg-port 0 --http-port 0 > "$work/serve.log" 2>&1 &
  server=$!
  for _ in $(seq 100); do
    port=$(sed -nE "s/^ready .* http=[^ ]*:([0-9]+)$/\1/p" "$work/serve.log" | head -n 1)
    [ -n "$port" ] && break
    sleep 0.1
  done
  [ -n "${port:-}" ] || { cat "$work/serve.log"; echo "installed.sh: the server did not start"; exit 1; }
  curl -sf "http://127.0.0.1:$port/healthz" > /dev/null ||
    { cat "$work/serve.log"; echo "installed.sh: the server does not answer"; exit 1; }
  kill "$server"
  wait "$server" 2>/dev/null || true
  server=
}

# 1. The archive, in a root with nothing but a C library.
root="$work/clean"
mkdir -p "$root"/{opt,tmp,dev,proc,lib64} "$root/lib/x86_64-linux-gnu"
for library in libc.so.6 libm.so.6 libdl.so.2 libpthread.so.0 librt.so.1 libresolv.so.2; do
  cp -L "/lib/x86_64-linux-gnu/$library" "$root/lib/x86_64-linux-gnu/"
done
cp -L /lib64/ld-linux-x86-64.so.2 "$root/lib64/"
mknod -m 666 "$root/dev/null" c 1 3
mknod -m 666 "$root/dev/urandom" c 1 9
# The loader finds a program's folder through /proc.
mount -t proc proc "$root/proc" || { echo "installed.sh: no /proc can be mounted here; skipped"; exit 77; }
tar -C "$root/opt" -xzf "$out"/discreet-*-linux-*.tar.gz
program=$(cd "$root" && ls -d opt/discreet-*/bin/discreet)
chroot "$root" "/$program" --version
town "$root" "/$program"
chroot "$root" "/$program" query --policy /town/discreet.toml "SELECT count(*) FROM patients"
start "$root" "/$program"
echo "archive: unpacked, asked and served in a root with a C library alone"

# 2. The package, by dpkg, into a root that has Debian's libraries read-only beneath it.
root="$work/debian"
mkdir -p "$root"/{var/lib/dpkg/{info,updates,triggers},tmp,dev,proc}
touch "$root/var/lib/dpkg/status"
dpkg --root="$root" --force-depends --force-script-chrootless --unpack "$out"/discreet_*.deb > /dev/null 2>&1
dpkg --root="$root" --status discreet | grep -E '^(Status|Depends)'
[ -x "$root/usr/bin/discreet" ] && [ -e "$root/usr/lib/discreet/libduckdb.so" ] && [ -e "$root/lib/systemd/system/discreet.service" ]
systemd-analyze verify "$root/lib/systemd/system/discreet.service" 2> /dev/null || true
missing=$(ldd "$root/usr/bin/discreet" | grep 'not found' || true)
[ -z "$missing" ] || { echo "$missing"; exit 1; }
ldd "$root/usr/bin/discreet" | grep "$root/usr/lib/discreet/libduckdb.so\|$root/usr/bin/../lib/discreet/libduckdb.so" > /dev/null
"$root/usr/bin/discreet" town --out "$work/town" --people 200 --seed 7 > /dev/null
"$root/usr/bin/discreet" query --policy "$work/town/discreet.toml" "SELECT count(*) FROM patients"
echo "package: installed by dpkg, asked"

# 3. The package's script for its user and folder, twice, in a root of its own.
root="$work/postinst"
mkdir -p "$root"/{etc,bin,usr/bin,usr/sbin,dev,tmp,var/lib}
for program in sh getent groupadd useradd nologin mkdir chgrp chmod id stat; do
  path=$(command -v "$program" || echo "/usr/sbin/$program")
  cp -L "$path" "$root/usr/sbin/"
  for library in $(ldd "$path" | grep -oE '/[^ ]+' | sort -u); do
    mkdir -p "$root$(dirname "$library")"
    cp -Ln "$library" "$root$library"
  done
done
cp "$root/usr/sbin/sh" "$root/bin/sh"
echo 'root:x:0:0:root:/root:/bin/sh' > "$root/etc/passwd"
echo 'root:x:0:' > "$root/etc/group"
: > "$root/etc/shadow"
: > "$root/etc/gshadow"
printf 'passwd: files\ngroup: files\n' > "$root/etc/nsswitch.conf"
cp /etc/login.defs "$root/etc/"
mknod -m 666 "$root/dev/null" c 1 3
dpkg-deb -e "$out"/discreet_*.deb "$root/tmp/control"
inside() { chroot "$root" /bin/sh -c "PATH=/usr/sbin:/usr/bin:/bin; $1"; }
for _ in 1 2; do inside "/bin/sh /tmp/control/postinst configure"; done
[ "$(inside 'stat -c "%a %U %G" /etc/discreet')" = "750 root discreet" ]
[ "$(grep -c '^discreet:.*:/var/lib/discreet:/usr/sbin/nologin$' "$root/etc/passwd")" = 1 ]
inside "id discreet"
echo "package: its script made the user and the folder, and a second time nothing"
