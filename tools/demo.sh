#!/usr/bin/env bash
# What `make run` shows: the sample town, its policy, questions with their price, error and what is left; then the town
# is served until Ctrl-C, for psql and the console.
#   tools/demo.sh build/bin/discreet [--no-serve]
set -euo pipefail
discreet=$1
serve=${2:-}
town=${TOWN:-town}
show() { # verb and arguments, printed as typed and run
  printf '\n$ discreet'
  local word
  for word in "$@"; do case $word in *' '*) printf ' "%s"' "$word" ;; *) printf ' %s' "$word" ;; esac; done
  printf '\n'
  "$discreet" "$@"
}

if [ ! -f "$town/discreet.toml" ]; then
  show town --people 100000 --seed 1 --out "$town"
else
  echo "The sample town is in $town/ already; its ledger keeps what was spent. Remove the folder to start anew."
fi
policy="$town/discreet.toml"
show policy check "$policy"
show explain --policy "$policy" --epsilon 0.2 "select sex, count(*) as people, avg(income) as income from people group by sex"
show query --policy "$policy" --epsilon 0.2 "select sex, count(*) as people, avg(income) as income from people group by sex"
show query --policy "$policy" --epsilon 0.2 "select sex, count(*) as people, avg(income) as income from people group by sex"
show query --policy "$policy" --epsilon 0.2 "select income, name from people" || true
show budget --policy "$policy"
show noise laplace --epsilon 0.1 --sensitivity 1 --value 1000
show account --compose '1000 x gaussian(sigma=20)' --delta 1e-6

cat <<EOF

Ask your own:
  $discreet query --policy $policy --epsilon 0.2 "select diagnosis, count(*) from visits group by diagnosis order by 2 desc"
  $discreet --help
EOF
[ "$serve" != --no-serve ] || exit 0

# Somebody to log in as. The passwords are made here and kept in the town's folder, for you alone.
passwords="$town/passwords"
umask 077
touch "$passwords"
add_user() { # name, budget
  grep -q "^$1 " "$passwords" && return
  local password
  password=$(head -c 12 /dev/urandom | od -An -tx1 | tr -d ' \n')
  if printf '%s\n' "$password" | "$discreet" user add "$1" --policy "$policy" ${2:+--budget "$2"} --password-stdin >/dev/null; then
    echo "$1 $password" >>"$passwords"
  fi
}
add_user analyst 2,1e-7
add_user owner
password_of() { sed -n "s/^$1 //p" "$passwords"; }

ready=$(mktemp -u)
mkfifo "$ready"
"$discreet" serve --policy "$policy" --pg-port "${PG_PORT:-5433}" --http-port "${HTTP_PORT:-8433}" --log "$town/server.log" >"$ready" &
server=$!
trap 'rm -f "$ready"; kill "$server" 2>/dev/null || true' EXIT
read -r line <"$ready" || { echo "The server did not start; $town/server.log may say why. PG_PORT and HTTP_PORT choose other ports." >&2; exit 1; }
pg=$(sed -n 's/.*pg=\([^ ]*\).*/\1/p' <<<"$line")
http=$(sed -n 's/.*http=\([^ ]*\).*/\1/p' <<<"$line")
cat <<EOF

The town is served. Paste this:
  PGPASSWORD=$(password_of analyst) psql -h ${pg%:*} -p ${pg##*:} -U analyst -d discreet -c "select ward, count(*) from visits group by ward"
The console: http://$http/   as analyst (password $(password_of analyst)) or owner (password $(password_of owner))
Ctrl-C ends it.
EOF
wait "$server"
