#!/usr/bin/env bash
# Makes a Debian package and a relocatable archive of a build: packaging/package.sh BUILD OUT
# The package depends on Debian's libraries and brings DuckDB's; the archive brings everything but the C library.
# Both say that they read tables in Spark if the program of the build does (DISCREET_SPARK, cmake/DiscreetSpark.cmake).
set -euo pipefail
build=$1
out=$2
here=$(cd "$(dirname "$0")" && pwd)
version=$(sed -nE 's/^project\(discreet VERSION ([0-9.]+).*/\1/p' "$here/../CMakeLists.txt")
architecture=$(dpkg --print-architecture)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
rm -f "$out"/discreet_*.deb "$out"/discreet-*-linux-*.tar.gz # of another version: what is in OUT is of this build

if readelf -d "$build/bin/discreet" | grep 'NEEDED.*libgrpc++' > /dev/null; then
  spark=on sources="files, PostgreSQL or Spark"
else
  spark=off sources="files or PostgreSQL"
fi

install_into() { # prefix
  cmake --install "$build" --component program --prefix "$1" --strip > /dev/null
  if [ -d "$build/console" ]; then cmake --install "$build" --component console --prefix "$1" > /dev/null; fi
  mkdir -p "$1/share/doc/discreet/examples"
  cp "$here/../README.md" "$here/../LICENSE" "$1/share/doc/discreet/"
  cp "$here/discreet.toml" "$1/share/doc/discreet/examples/"
}

# The Debian package.
deb="$work/deb"
install_into "$deb/usr"
mkdir -p "$deb/DEBIAN" "$deb/lib/systemd/system" "$work/debian"
cp "$here/discreet.service" "$deb/lib/systemd/system/"
install -m 0755 "$here/service-check" "$deb/usr/lib/discreet/"
install -m 0755 "$here/postinst" "$deb/DEBIAN/postinst"
printf 'Source: discreet\n\nPackage: discreet\nArchitecture: any\n' > "$work/debian/control"
depends=$(cd "$work" && dpkg-shlibdeps -O --ignore-missing-info -l"$deb/usr/lib/discreet" "$deb/usr/bin/discreet" 2>/dev/null |
  sed -n 's/^shlibs:Depends=//p')
[ -n "$depends" ] || { echo "package: the program's libraries could not be named" >&2; exit 1; }
cat > "$deb/DEBIAN/control" <<CONTROL
Package: discreet
Version: $version
Architecture: $architecture
Maintainer: The Discreet developers <discreet@localhost>
Depends: $depends, passwd
Recommends: ca-certificates
Section: database
Priority: optional
Installed-Size: $(du -sk "$deb" | cut -f1)
Description: differential privacy for everything it is used for
 SQL over private tables in $sources, with exact noise, one
 accountant and one durable ledger; a server for PostgreSQL clients and HTTP.
CONTROL
dpkg-deb --root-owner-group -Zgzip -z1 --build "$deb" "$out/discreet_${version}_${architecture}.deb" > /dev/null

# The archive: unpack it anywhere.
tar="$work/discreet-$version"
install_into "$tar"
cp "$here/discreet.service" "$tar/share/doc/discreet/"
ldd "$tar/bin/discreet" | sed -nE 's/.* => (\/[^ ]+) .*/\1/p' |
  grep -vE '/(libc|libm|libdl|libpthread|librt|libresolv)\.so\.[0-9]+$|/libduckdb\.so' | sort -u |
  while read -r library; do cp -L "$library" "$tar/lib/discreet/"; done
tar -C "$work" -czf "$out/discreet-$version-linux-$architecture.tar.gz" "discreet-$version"
said=$([ $spark = on ] && echo "reads spark:// tables" || echo "WITHOUT Spark: spark:// tables are refused")
for made in "$out"/discreet[_-]"$version"*; do
  echo "package: made $made ($(($(stat -c %s "$made") / 1000000)) MB; $said)"
done
