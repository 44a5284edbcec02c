#!/usr/bin/env bash
# `discreet synth` as people type it: forms, refusals, the ledger, and the report as a browser sees it.
#   synth_verbs.sh PATH/TO/discreet
set -euo pipefail
discreet=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

say_failed() {
  echo "FAILED: $*" >&2
  exit 1
}
refused() { # wanted exit code, then the command
  local wanted=$1
  shift
  set +e
  "$@" >/dev/null 2>err
  local code=$?
  set -e
  [ "$code" = "$wanted" ] || say_failed "exit $code instead of $wanted: $* ($(cat err))"
}

awk 'BEGIN { srand(1); print "person,ward,age,paid,born,zip"; for (i = 0; i < 3000; i++) { a = int(rand() * 60) + 20;
  w = (a > 50 ? "ICU" : "ER, north"); printf "%d,\"%s\",%s,%d,19%02d-0%d-1%d,z%d\n", i, w, (i % 50 == 0 ? "" : a), a * 1000 + int(rand() * 5000), 99 - a, 1 + i % 9, i % 9, i % 4 } }' > people.csv
cat > domain.json <<'END'
{"ward": {"values": ["ICU", "ER, north"]}, "age": {"range": [0, 120]}, "paid": {"range": [0, 200000]}, "born": {"range": ["1900-01-01", "2026-12-31"]}, "zip": {}}
END

# A twin in the table's own columns and types.
"$discreet" synth fit people.csv --domain domain.json --epsilon 5 --fast --out twin.csv --report page.html --intervals i.json --twins 2 --json > said.json 2> err
[ "$(head -n 1 twin.csv)" = "ward,age,paid,born,zip" ] || say_failed "columns: $(head -n 1 twin.csv)"
grep -Eq '^"ER, north",[0-9]+,[0-9]+,[0-9]{4}-[0-9]{2}-[0-9]{2},z[0-3]$' twin.csv || say_failed "no row in the table's own types"
[ -s twin.2.csv ] || say_failed "no second twin"
grep -q '"twins":2' said.json || say_failed "$(cat said.json)"
grep -q '"confidence":0.95' i.json || say_failed "no intervals"
grep -q '"columns":\[' i.json || say_failed "no intervals of wider marginals"
"$discreet" synth fit people.csv --domain domain.json --epsilon 5 --fast --twins 2 --refit --out fresh.csv 2> /dev/null
cmp -s fresh.csv fresh.2.csv && say_failed "two fits gave one twin"
refused 2 "$discreet" synth fit people.csv --domain domain.json --epsilon 5 --method mst --twins 2 --refit --out t.csv
"$discreet" synth fit people.csv --domain domain.json --epsilon 5 --method aim --reconstruction residual --workload 2way --out wide.csv 2> err
grep "rebuilt from residuals" err > /dev/null || say_failed "$(cat err)"
refused 2 "$discreet" synth fit people.csv --domain domain.json --epsilon 5 --method aim --reconstruction guess --out t.csv
"$discreet" synth fit people.csv --domain domain.json --epsilon 5 --fast --rows 100 --out twin.parquet 2> /dev/null
[ "$(head -c 4 twin.parquet)" = PAR1 ] || say_failed "no Parquet file"
"$discreet" synth score twin.csv twin.parquet --workload 1way --json 2> err | grep '"private":false' > /dev/null || say_failed "score does not say that it is not private"
grep -q "NOT private" err || say_failed "score does not warn"
"$discreet" synth score people.csv twin.csv --workload 2way --domain domain.json --report score.html > /dev/null 2>&1

# Refusals say what to do.
refused 2 "$discreet" synth fit people.csv --epsilon 1 --out t.csv
grep -q -- "--domain" err || say_failed "$(cat err)"
refused 2 "$discreet" synth fit people.csv --domain domain.json --epsilon 0 --out t.csv
refused 2 "$discreet" synth fit people.csv --domain domain.json --epsilon nan --out t.csv
refused 2 "$discreet" synth fit people.csv --domain domain.json --epsilon 1 --delta 1 --out t.csv
refused 2 "$discreet" synth fit people.csv --domain domain.json --epsilon 1 --method gan --out t.csv
echo '{"no_such_column": 3}' > wrong.json
refused 1 "$discreet" synth fit people.csv --domain wrong.json --epsilon 1 --out t.csv
[ ! -e t.csv ] || say_failed "a refused twin was written"

# Under a policy: charged before, once.
cat > discreet.toml <<'END'
[tables.people]
source = "people.csv"
unit = "person"
max_rows_per_unit = 1
[tables.people.columns]
ward = { values = ["ICU", "ER, north"] }
age = { range = [0, 120] }
paid = { hidden = true }
born = { range = [1900-01-01, 2026-12-31] }
[budgets.default]
epsilon = 1.5
delta = 1e-6
END
"$discreet" synth fit people --policy discreet.toml --epsilon 1 --delta 1e-7 --fast --out first.csv 2> err
head -n 1 first.csv | grep paid > /dev/null && say_failed "a hidden column is in the twin"
head -n 1 first.csv | grep person > /dev/null && say_failed "the unit is in the twin"
"$discreet" synth fit people --policy discreet.toml --epsilon 1 --delta 1e-7 --fast --out again.csv 2> err
cmp first.csv again.csv || say_failed "the same twin asked for again must be the same, free"
grep -q "paid before" err || say_failed "$(cat err)"
refused 1 "$discreet" synth fit people --policy discreet.toml --epsilon 1 --delta 1e-7 --method mst --out more.csv
[ ! -e more.csv ] || say_failed "a twin that was not paid for was written"

# The same in SQL: the twin is then a public table, also for later processes.
"$discreet" query --policy discreet.toml --json "CREATE TABLE double AS SYNTHESIZE people WITH (epsilon = 0.25, delta = 1e-7, fast = true)" > made.json 2> err || say_failed "$(cat err)"
"$discreet" query --policy discreet.toml --json "SELECT ward, count(*) FROM double GROUP BY ward" > asked.json 2> err || say_failed "$(cat err)"
grep "cost: nothing" err > /dev/null || say_failed "a question about a twin costs: $(cat err)"
"$discreet" ledger verify --policy discreet.toml > /dev/null

# The page needs nothing from outside, and a browser shows it.
grep -Eq 'https?://|<script' page.html && say_failed "the report refers to something outside"
if command -v chromium > /dev/null; then
  timeout 60 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$work/chromium" --dump-dom "file://$work/page.html" > dom.html 2> /dev/null || true
  grep -q "What is promised" dom.html || say_failed "Chromium does not show the promise"
  [ "$(grep -o '<svg' dom.html | wc -l)" -ge 6 ] || say_failed "Chromium does not show the pictures"
  timeout 60 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$work/chromium" --dump-dom "file://$work/score.html" > dom.html 2> /dev/null || true
  grep -E "[0-9.]+ % right when trained on the twin, [0-9.]+ % when trained on" dom.html > /dev/null || say_failed "Chromium does not show the line of a model trained on the twin"
  grep "Worst marginals" dom.html > /dev/null || say_failed "Chromium does not show the worst marginals"
else
  echo "chromium is not installed: the page was not looked at"
fi
echo "synth forms hold"
