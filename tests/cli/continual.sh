#!/bin/sh
# Streams and workloads as people type them: paid once, the same answer again, killed and resumed.
set -eu
discreet=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
fail() { echo "continual.sh: $1" >&2; exit 1; }

{
  echo "person,day,sex,ward,cost"
  i=0
  while [ $i -lt 600 ]; do
    sex=F; [ $((i % 3)) -eq 0 ] && sex=M
    ward=ICU; [ $((i % 4)) -eq 0 ] && ward=ER
    echo "$((i % 200)),$((i % 10)),$sex,$ward,$((i % 50))"
    i=$((i + 1))
  done
} > visits.csv
cat > discreet.toml <<'POLICY'
[tables.visits]
source = "visits.csv"
unit = "person"
max_rows_per_unit = 3
[tables.visits.columns]
day = { range = [0, 9] }
sex = { values = ["F", "M"] }
ward = { values = ["ICU", "ER"] }
cost = { range = [0, 50] }
[budgets.default]
epsilon = 10.0
delta = 1e-5
POLICY
sql="select day, count(*), sum(cost) from visits group by day"

"$discreet" continual start daily --periods 10 --from 0 --epsilon 4 --delta 1e-6 "$sql" > started.txt
grep -q "within" started.txt || fail "start does not tell the error"
"$discreet" budget --json > paid.json
grep -q '"spent":{"epsilon":4.0,' paid.json || fail "the stream was not charged"
# The same terms again are free; other terms under the name are refused.
"$discreet" continual start daily --periods 10 --from 0 --epsilon 4 --delta 1e-6 "$sql" > /dev/null
"$discreet" continual start daily --periods 9 --from 0 --epsilon 4 --delta 1e-6 "$sql" 2> said.txt && fail "other terms were taken"
grep -q "another name" said.txt || fail "the refusal does not say why"

"$discreet" continual release daily --period 0 --json > zero.json
"$discreet" continual release daily --period 1 --json > one.json
"$discreet" continual release daily --period 0 --json > again.json
cmp zero.json again.json || fail "a period asked again has another answer"

# Killed at any moment: what was released stays, and the rest follows.
round=0
while [ $round -lt 8 ]; do
  "$discreet" continual release daily --period 9 --json > killed.json 2> /dev/null &
  pid=$!
  sleep "0.0$round"
  kill -9 $pid 2> /dev/null || true
  wait $pid 2> /dev/null || true
  round=$((round + 1))
done
"$discreet" continual release daily --period 1 --json > after.json
cmp one.json after.json || fail "a crash changed a released period"
"$discreet" continual release daily --period 9 --json > nine.json
"$discreet" continual show daily --json > all.json
[ "$(grep -c '"period"' all.json)" -eq 10 ] || fail "periods are missing"
"$discreet" continual release daily --period 10 2> /dev/null && fail "a period past the end was released"
"$discreet" ledger verify > /dev/null || fail "the ledger does not add up"
"$discreet" budget --json > left.json
grep -q '"spent":{"epsilon":4.0,' left.json || fail "periods were charged"

# A workload: statements over the same rows are planned jointly, and add up.
cat > tables.sql <<'SQL'
select sex, ward, count(*) from visits group by sex, ward;
select sex, count(*) as n from visits group by sex;  -- coarser
select count(*) from visits;
SQL
"$discreet" query --workload tables.sql --epsilon 3 --delta 1e-6 --json > tables.json
python3 - <<'PY' || fail "the workload does not add up"
import json
cells, by_sex, total = [part["rows"] for part in json.load(open("tables.json"))]
assert len(cells) == 4 and len(by_sex) == 2 and len(total) == 1
for row in by_sex:
    assert row["n"] == sum(c["count"] for c in cells if c["sex"] == row["sex"])
assert total[0]["count"] == sum(c["count"] for c in cells)
assert all(c["count"] >= 0 for c in cells)
PY
"$discreet" query --workload tables.sql "select 1" 2> /dev/null && fail "both a statement and a workload"
echo "streams and workloads: as promised"
