# The package as its reader installs it: apt in a clean Debian, then what packaging/discreet.toml says an administrator does, with
# the service's command lines run as systemd would run them. Part of installed.sh, whose names it uses.

# Debian's or Ubuntu's own packages, as this machine's apt knows them.
mirror() { # release
  apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT) $(ORIGIN)' 'Created-By: Packages' 2> /dev/null |
    awk -v release="$1" '$2 == release && $3 == "main" && ($4 == "" || $4 == "Debian" || $4 == "Ubuntu") { print $1; exit }'
}

make_debian() { # folder: the smallest system of this machine's release, in which apt works as it does here
  local release from made=${DEBIAN_ROOT:-$1}
  if [ ! -d "$made" ]; then
    release=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
    from=$(mirror "$release")
    command -v debootstrap > /dev/null || { echo "package: debootstrap is missing (apt-get install debootstrap), so there is no clean Debian"; return 1; }
    [ -n "$release" ] && [ -n "$from" ] || { echo "package: apt knows no mirror of this release, so there is no clean Debian"; return 1; }
    echo "package: making a clean Debian ($release)"
    if ! debootstrap --variant=minbase "$release" "$made.part" "$from" > "$work/debootstrap.log" 2>&1; then
      tail -n 5 "$work/debootstrap.log"
      rm -rf --one-file-system "$made.part"
      echo "package: debootstrap could not make a clean Debian (its words are above)"
      return 1
    fi
    mv "$made.part" "$made"
  fi
  [ "$made" = "$1" ] || cp -a "$made" "$1"
  # Sources, keys, proxies; whom this machine trusts; its names of hosts. Nothing may start while packages are installed.
  local path
  rm -f "$1/etc/apt/sources.list" # the same source twice, with and without its key, is an error
  for path in /etc/apt /usr/share/keyrings /usr/local/share/ca-certificates /etc/ssl/certs; do
    if [ -d "$path" ]; then mkdir -p "$1$path" && cp -rL "$path/." "$1$path/" 2> /dev/null || true; fi
  done
  for path in /etc/resolv.conf /etc/hosts; do if [ -e "$path" ]; then cp -L "$path" "$1$path"; fi; done
  printf '#!/bin/sh\nexit 101\n' > "$1/usr/sbin/policy-rc.d" && chmod +x "$1/usr/sbin/policy-rc.d"
  mount -t proc proc "$1/proc" || { echo "package: no /proc can be mounted, so there is no clean Debian"; return 1; }
  if ! apt_in "$1" -o APT::Update::Error-Mode=any update; then # a warning, where a mirror does not answer, would do otherwise
    tail -n 5 "$work/apt.log"
    echo "package: apt does not work in the clean Debian (its words are above)"
    return 1
  fi
}

apt_in() { # root, what
  chroot "$1" env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -y --no-install-recommends "${@:2}" > "$work/apt.log" 2>&1
}

as_discreet() { # root, command: what an administrator types after `sudo -u discreet`
  chroot --userspec=discreet:discreet "$1" env HOME=/var/lib/discreet "${@:2}"
}

unit() { sed -n "s/^$2=//p" "$1/lib/systemd/system/discreet.service"; } # root, key

# A command line of the unit, in systemd's place: its user, environment and folder, and nothing to be written but the state and /tmp.
service() { # root, key of the line [, seconds it may take]; does not return
  local state limit=${3:+timeout $3}
  state=/var/lib/$(unit "$1" StateDirectory)
  exec $limit unshare --mount --propagation private sh -ec '
    root=$1 state=$2 user=$3 line=$4
    mount --bind "$root" "$root"
    mount --bind "$root$state" "$root$state"
    mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
    mount -t proc proc "$root/proc"
    mount -o remount,bind,ro "$root"
    exec chroot --userspec="$user" "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin STATE_DIRECTORY="$state" sh -ec "$line"
  ' service "$1" "$state" "$(unit "$1" User):$(unit "$1" Group)" "
    export $(unit "$1" Environment)
    file='$(unit "$1" EnvironmentFile | sed 's/^-//')'
    if [ -r \"\$file\" ]; then set -a; . \"\$file\"; set +a; fi
    umask $(unit "$1" UMask)
    cd $(unit "$1" WorkingDirectory)
    exec $(unit "$1" "$2")"
}

check_unit() { # root
  command -v systemd-analyze > /dev/null || { echo "package: systemd-analyze is missing, so the unit was not looked at"; return; }
  # Programs are where they were installed. What it does not understand it says, and succeeds.
  mkdir -p "$work/unit"
  sed -E "s#^(Exec[A-Za-z]*=)/#\1$1/#" "$1/lib/systemd/system/discreet.service" > "$work/unit/discreet.service"
  systemd-analyze verify "$work/unit/discreet.service" > "$work/unit.log" 2>&1 || fail "systemd-analyze refuses the unit" "$work/unit.log"
  ! grep 'discreet\.service' "$work/unit.log" > /dev/null || fail "systemd-analyze finds fault with the unit" "$work/unit.log"
  echo "package: systemd-analyze finds no fault with the unit"
}

refused() { # root, key of the unit's line, what it must say
  if (service "$1" "$2" 30) > "$work/refused.log" 2>&1; then fail "$2 was to be refused: $3" "$work/refused.log"; fi
  grep -- "$3" "$work/refused.log" > /dev/null || fail "$2 was refused without saying: $3" "$work/refused.log"
  echo "refused by $2: $(grep -- "$3" "$work/refused.log" | head -n 1)"
}

in_debian() { # root
  local root=$1 policy=/etc/discreet/discreet.toml token before after answer
  cp "$package" "$root/tmp/discreet.deb"
  apt_in "$root" install /tmp/discreet.deb || fail "apt cannot install the package" "$work/apt.log"
  apt_in "$root" install --reinstall /tmp/discreet.deb || fail "apt cannot install the package a second time" "$work/apt.log"
  inside() { chroot "$root" "$@"; }
  [ "$(inside dpkg-query -W -f '${Status}' discreet)" = "install ok installed" ] || fail "the package is not configured" "$work/apt.log"
  [ -z "$(inside apt-get check 2>&1 | grep -i unmet || true)" ] || fail "dependencies are missing"
  [ "$(inside stat -c '%a %U %G' /etc/discreet)" = "750 root discreet" ] || fail "/etc/discreet is not as it was meant"
  [ "$(inside stat -c '%a %U %G' /var/lib/discreet)" = "700 discreet discreet" ] || fail "/var/lib/discreet is not as it was meant"
  [ "$(grep -c '^discreet:.*:/var/lib/discreet:/usr/sbin/nologin$' "$root/etc/passwd")" = 1 ] || fail "the user discreet is not as it was meant"
  echo "package: installed by apt, twice, with $(inside dpkg-query -W | wc -l) packages in all; $(inside id discreet)"
  check_unit "$root"
  check_spark "$root" /usr/bin/discreet

  # What the example policy's head says.
  export PGPASSWORD=correct-horse-battery
  as_discreet "$root" discreet town --people 2000 --seed 7 --out /var/lib/discreet/town > "$work/town.log" 2>&1 ||
    fail "no town can be made" "$work/town.log"
  inside install -o root -g discreet -m 0640 /usr/share/doc/discreet/examples/discreet.toml /etc/discreet/
  as_discreet "$root" discreet user add anna --policy $policy --budget 1,1e-8 --password-stdin <<< "$PGPASSWORD" > "$work/user.log" 2>&1 ||
    fail "no user can be added" "$work/user.log"
  token=$(as_discreet "$root" discreet user token anna --policy $policy 2> "$work/user.log") || fail "no token can be had" "$work/user.log"
  charges() { as_discreet "$root" discreet ledger verify --policy $policy | sed -nE 's/.* ([0-9]+) charges fit .*/\1/p'; }
  before=$(charges)

  # The service, asked over HTTP and by psql; what it answered is charged where it may write, and survives it.
  echo 'DISCREET_OPTIONS="--pg-port 0 --http-port 0"' > "$root/etc/default/discreet"
  (service "$root" ExecStartPre) || fail "ExecStartPre refuses the example policy"
  service "$root" ExecStart > "$work/service.log" 2>&1 &
  server=$!
  wait_for_server "$work/service.log"
  [ "$(stat -c %u "/proc/$server")" = "$(inside id -u discreet)" ] || fail "the service runs as somebody else"
  answer=$(curl -sS --fail-with-body "http://127.0.0.1:$port/v1/query" -H "Authorization: Bearer $token" \
    -d '{"sql":"select count(*) as people from people","epsilon":0.25}') || fail "no answer over HTTP: $answer" "$work/service.log"
  echo "$answer"
  after=$((before + 1))
  if [ -d "$root/usr/share/discreet/console" ]; then
    curl -sf "http://127.0.0.1:$port/" | grep -i '<title' > /dev/null || fail "the server does not hand out the console" "$work/service.log"
  fi
  if command -v psql > /dev/null; then
    psql -h 127.0.0.1 -p "$(sed -nE 's/^ready pg=[^ ]*:([0-9]+) .*/\1/p' "$work/service.log")" -U anna -d discreet \
      -c "SET discreet.epsilon = 0.25" -c "SELECT sex, count(*) FROM people GROUP BY sex" || fail "no answer to psql" "$work/service.log"
    after=$((after + 1))
  fi
  stop_server "$work/service.log"
  [ "$(charges)" = $after ] || fail "the ledger has $(charges) charges instead of $after"
  [ "$(inside stat -c '%a %U' /var/lib/discreet/ledger.sqlite)" = "600 discreet" ] || fail "others can read the ledger"
  [ "$(inside ls /etc/discreet)" = discreet.toml ] || fail "something was written to /etc/discreet"
  echo "package: the service answered as discreet, charged $((after - before)) in /var/lib/discreet and ended by SIGTERM"

  # A ledger where the service may not write: beside the policy, or made by root.
  sed -i '/^\[ledger\]$/,/^store = /d' "$root$policy"
  refused "$root" ExecStartPre 'does not say where the ledger is'
  refused "$root" ExecStart 'cannot open the ledger /etc/discreet/ledger.sqlite'
  inside install -o root -g discreet -m 0640 /usr/share/doc/discreet/examples/discreet.toml /etc/discreet/
  [ "$(inside ls /etc/discreet)" = discreet.toml ] || fail "something was written to /etc/discreet"
  inside chown root:root /var/lib/discreet/ledger.sqlite
  refused "$root" ExecStartPre 'may not write /var/lib/discreet/ledger.sqlite'
  refused "$root" ExecStart 'cannot open the ledger /var/lib/discreet/ledger.sqlite'
  inside chown discreet:discreet /var/lib/discreet/ledger.sqlite

  # What was spent outlives the package.
  apt_in "$root" purge discreet || fail "the package cannot be removed" "$work/apt.log"
  [ ! -e "$root/usr/bin/discreet" ] && [ -s "$root/var/lib/discreet/ledger.sqlite" ] || fail "the ledger went with the package"
  apt_in "$root" install /tmp/discreet.deb || fail "the package cannot be installed again" "$work/apt.log"
  [ "$(charges)" = $after ] || fail "the ledger does not outlive the package"
  echo "package: removed and installed again; the ledger has its $after charges"
}
