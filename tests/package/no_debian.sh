# Where no clean Debian can be had: the package unpacked by dpkg without its dependencies and asked with this machine's libraries,
# and its script run in a root of its own. Part of installed.sh, whose names it uses.
without_debian() { # root
  local root=$1 path library missing
  echo "package: unpacked by dpkg alone; neither its dependencies nor its service are tried"
  rm -rf --one-file-system "$work/postinst"
  if mountpoint -q "$root/proc"; then umount "$root/proc"; fi
  rm -rf --one-file-system "$root"
  mkdir -p "$root"/{var/lib/dpkg/{info,updates,triggers},tmp,dev,proc}
  touch "$root/var/lib/dpkg/status"
  dpkg --root="$root" --force-depends --force-script-chrootless --unpack "$package" > "$work/dpkg.log" 2>&1 ||
    fail "dpkg cannot unpack the package" "$work/dpkg.log"
  dpkg --root="$root" --status discreet | grep -E '^(Status|Depends)'
  [ -x "$root/usr/bin/discreet" ] && [ -e "$root/usr/lib/discreet/libduckdb.so" ] && [ -e "$root/lib/systemd/system/discreet.service" ] ||
    fail "the package lacks a file"
  check_unit "$root"
  missing=$(ldd "$root/usr/bin/discreet" | grep 'not found' || true)
  [ -z "$missing" ] || fail "libraries are missing: $missing"
  ldd "$root/usr/bin/discreet" | grep "$root/usr/\(bin/../\)\?lib/discreet/libduckdb.so" > /dev/null || fail "DuckDB's library is another"
  "$root/usr/bin/discreet" town --out "$work/town" --people 200 --seed 7 > /dev/null
  "$root/usr/bin/discreet" query --policy "$work/town/discreet.toml" "SELECT count(*) FROM patients"
  echo "package: unpacked, asked"

  # The package's script for its user and folders, twice.
  root="$work/postinst"
  mkdir -p "$root"/{etc,bin,usr/bin,usr/sbin,dev,tmp,var/lib}
  for program in sh getent groupadd useradd nologin mkdir chgrp chown chmod id stat; do
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
  dpkg-deb -e "$package" "$root/tmp/control"
  inside() { chroot "$root" /bin/sh -c "PATH=/usr/sbin:/usr/bin:/bin; $1"; }
  for _ in 1 2; do inside "/bin/sh /tmp/control/postinst configure"; done
  [ "$(inside 'stat -c "%a %U %G" /etc/discreet')" = "750 root discreet" ] || fail "/etc/discreet is not as it was meant"
  [ "$(inside 'stat -c "%a %U %G" /var/lib/discreet')" = "700 discreet discreet" ] || fail "/var/lib/discreet is not as it was meant"
  [ "$(grep -c '^discreet:.*:/var/lib/discreet:/usr/sbin/nologin$' "$root/etc/passwd")" = 1 ] || fail "the user discreet is not as it was meant"
  inside "id discreet"
  echo "package: its script made the user and the folders, and a second time nothing"
}
