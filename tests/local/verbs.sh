#!/usr/bin/env bash
# `discreet local` as people type it.
#   verbs.sh build/bin/discreet
set -euo pipefail
discreet=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
repeat() { awk -v text="$1" -v count="$2" 'BEGIN { for (i = 0; i < count; ++i) print text }'; }
fail() { echo "verbs: $*" >&2; exit 1; }

awk 'BEGIN { for (i = 0; i < 20000; ++i) print i % 7 % 4 }' > values
for oracle in auto grr sue oue the she blh olh hr ss cms hcms rappor; do
  "$discreet" local randomize --oracle $oracle --epsilon 2 --values 4 < values > reports 2> said
  head -1 reports | grep '"discreet_local":1' > /dev/null || fail "$oracle: no header"
  [ "$(wc -l < reports)" = 20001 ] || fail "$oracle: a report a line"
  "$discreet" local estimate --json reports > estimates 2>> said
  [ "$(grep -c '"value".*"estimate".*"stderr"' estimates)" = 4 ] || fail "$oracle: four estimates"
  # 5,714 people hold 0; six standard errors of the worst oracle in the list.
  awk -F'[:,]' 'NR == 1 { if ($4 < 2700 || $4 > 8700) exit 1 }' estimates || fail "$oracle: $(head -1 estimates)"
done
for oracle in duchi piecewise hybrid laplace; do
  "$discreet" local randomize --oracle $oracle --epsilon 4 --range 0,10 < values 2> said | "$discreet" local estimate 2>> said | grep '^mean' > /dev/null || fail "$oracle: no mean"
done
"$discreet" local randomize --oracle oue --epsilon 2 --values 4 --binary < values 2> said | "$discreet" local estimate --json 2>> said | wc -l | grep -x 4 > /dev/null || fail "binary form"

(head -2 reports; echo '"zz"') | "$discreet" local estimate > /dev/null 2> said || fail "one bad report spoils the rest"
grep -q '1 refused' said || fail "a bad report is not mentioned"
expect() { local code=$1; shift; set +e; "$@" > out 2> said < /dev/null; local got=$?; set -e; [ $got = "$code" ] || fail "exit $got, not $code: $*"; }
expect 2 "$discreet" local randomize --oracle olh --values 4
expect 2 "$discreet" local randomize --oracle olx --epsilon 1 --values 4
expect 2 "$discreet" local randomize --oracle grr --epsilon 0 --values 4
expect 2 "$discreet" local randomize --oracle grr --epsilon nan --values 4
expect 1 "$discreet" local estimate
set +e; echo 4 | "$discreet" local randomize --oracle grr --epsilon 1 --values 4 > out 2> said; [ $? = 1 ] || fail "a value that is none"; set -e
grep -q 'line 1' said || fail "which line"
"$discreet" local simulate --epsilon 1 --values 16 --people 20000 --json | grep '"covered_95"' > /dev/null || fail simulate
"$discreet" local choose --epsilon 1 --values 64 --json 2> said | grep '"chosen":true' > /dev/null || fail choose
"$discreet" local compare --values 5 --people 2000 --repetitions 2 --json | grep -c measured_rmse | grep -x 4 > /dev/null || fail compare
repeat tea 3000 | "$discreet" local randomize --oracle pem --epsilon 6 --bytes-max 3 | "$discreet" local estimate > out 2> said
grep -q '^tea' out || fail pem
repeat tea 6000 | "$discreet" local randomize --oracle pem --piece-bits 1 --epsilon 6 --bytes-max 3 | "$discreet" local estimate > out 2> said
grep -q '^tea' out || fail "pem, bit by bit"
repeat tea 6000 | "$discreet" local randomize --oracle treehist --epsilon 6 --bytes-max 3 | "$discreet" local estimate > out 2> said
grep -q '^tea' out || fail treehist
# Several attributes within one epsilon: a record a line.
awk 'BEGIN { split("tea coffee water", d); for (i = 0; i < 20000; ++i) print d[i % 2 + 1] "," i % 5 }' > people
for oracle in auto sample split; do
  "$discreet" local randomize --oracle $oracle --epsilon 4 --attribute drink=tea,coffee,water --attribute age=5 --name survey < people > records 2> said
  "$discreet" local estimate --json --post norm-sub records > estimates 2>> said
  [ "$(grep -c '"value":"\(drink\|age\)=' estimates)" = 8 ] || fail "$oracle: rows of a record"
  # 10,000 of 20,000 drink tea; six standard errors of either strategy.
  awk -F'[:,]' 'NR == 1 { if ($4 < 8200 || $4 > 11800) exit 1 }' estimates || fail "$oracle: $(head -1 estimates)"
done
"$discreet" local randomize --binary --epsilon 4 --attribute drink=tea,coffee,water --attribute age=5 < people 2> said | "$discreet" local estimate 2>> said | grep '^age=4' > /dev/null || fail "records in the binary form"
"$discreet" local simulate --epsilon 1 --attribute drink=tea,coffee --attribute age=9 --people 20000 --json | grep '"values":11.*"covered_95"' > /dev/null || fail "simulate records"
set +e; echo tea | "$discreet" local randomize --epsilon 1 --attribute drink=tea,coffee --attribute age=5 > out 2> said; [ $? = 1 ] || fail "half a record"; set -e
expect 2 "$discreet" local randomize --epsilon 1 --attribute drink=tea,coffee --values 4
expect 2 "$discreet" local randomize --epsilon 1 --attribute drink
expect 2 "$discreet" local randomize --oracle olh --epsilon 1 --attribute drink=4
repeat 0 20000 | "$discreet" local randomize --oracle grr --epsilon 3 --values 2 2> said | tail -n +2 > a
repeat 1 20000 | "$discreet" local randomize --oracle grr --epsilon 3 --values 2 2> said | tail -n +2 > b
expect 0 "$discreet" local audit a b --epsilon 3
expect 1 "$discreet" local audit a b --epsilon 1
# What a collector stored leaves again, while it runs.
repeat 3 400 | "$discreet" local randomize --oracle grr --epsilon 4 --values 4 --name drinks > sent 2> said
head -1 sent > drinks.header
head -1 records > survey.header
"$discreet" local serve --folder stored --http-port 0 --collection drinks.header --collection survey.header > ready 2> said &
server=$!
for _ in $(seq 100); do grep -q ready ready && break; sleep 0.1; done
curl -s --data-binary @sent "http://$(sed 's/.*http=//' ready)/v1/collections/drinks/reports" | grep '"accepted":400' > /dev/null || fail "the collector took no batch"
"$discreet" local export stored/drinks.reports > again 2> said || fail "export: $(cat said)"
cmp -s sent again || fail "what was stored is not what was sent"
address="http://$(sed 's/.*http=//' ready)/v1/collections/survey"
curl -s --data-binary @records "$address/reports" | grep '"accepted":20000' > /dev/null || fail "the collector took no records"
curl -s "$address/estimates?candidate=drink%3Dtea" | grep '"reports":20000.*"value":"drink=tea"' > /dev/null || fail "a row of a record"
"$discreet" local export stored/drinks.reports --out drinks.parquet 2> said || fail "export: $(cat said)"
grep -q '400 reports' said && head -c 4 drinks.parquet | grep PAR1 > /dev/null || fail "no Parquet"
kill $server
wait $server || true
expect 1 "$discreet" local export values
for verb in randomize estimate choose simulate compare audit serve export; do
  "$discreet" local $verb --help | grep 'Example' > /dev/null || fail "$verb --help has no example"
done
