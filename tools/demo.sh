#!/usr/bin/env bash
# What `make run` shows: the sample town, its policy, and questions with their price, error and what is left.
#   tools/demo.sh build/bin/discreet
set -euo pipefail
discreet=$1
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
The network server (psql, console) is not built yet.
EOF
