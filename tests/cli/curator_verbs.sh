#!/usr/bin/env bash
# policy, budget, ledger and user as a person would type them: exit codes, fields, and what is said.
#   tests/cli/curator_verbs.sh PATH/TO/discreet
set -uo pipefail
discreet=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

# expect CODE PATTERN COMMAND...: the exit code, and a pattern in stdout and stderr together
expect() {
  local code=$1 pattern=$2 said
  shift 2
  said=$("$@" 2>&1 < "${INPUT:-/dev/null}")
  local got=$?
  if [ "$got" != "$code" ] || ! grep -qE -- "$pattern" <<< "$said"; then
    printf 'FAIL: %s\n  wanted exit %s and /%s/, got exit %s:\n%s\n' "$*" "$code" "$pattern" "$got" "$said"
    failures=$((failures + 1))
  fi
}

printf 'person_id,ward,age,email\n1,ICU,30,a@b\n2,ER,40,c@d\n' > people.csv
echo 'a-long-password' > password
echo 'short' > short

expect 0 'no row was used' "$discreet" policy init people.csv
expect 0 'email .*hidden = true' "$discreet" policy init people.csv
expect 0 'DECIDE' "$discreet" policy init people.csv --out discreet.toml
expect 2 'exists' "$discreet" policy init people.csv --out discreet.toml
expect 0 'each person_id' "$discreet" policy check
expect 1 'no file' "$discreet" policy init nothing.csv
sed 's/^email /emial /' discreet.toml > wrong.toml
expect 1 "wrong.toml:[0-9]+: .*'emial'; did you mean 'email'" "$discreet" policy check wrong.toml
sed 's/^unit /uint /' discreet.toml > wrong.toml
expect 1 "unknown key 'uint'.*did you mean 'unit'" "$discreet" policy check wrong.toml

expect 0 '"question":1.0' "$discreet" budget --json
expect 0 'account +of +epsilon' "$discreet" budget
expect 0 '1 events' "$discreet" ledger verify
INPUT=password expect 0 "alice may ask, held by budget 'default'" "$discreet" user add alice --password-stdin
INPUT=password expect 0 'epsilon 0.5, delta 1e-08' "$discreet" user add bob --budget 0.5,1e-8 --password-stdin
INPUT=password expect 2 'already there' "$discreet" user add alice --password-stdin
INPUT=short expect 2 'at least 8' "$discreet" user add carol --password-stdin
INPUT=password expect 2 'stdin' "$discreet" user add carol
INPUT=password expect 2 'is a budget' "$discreet" user add default --password-stdin
INPUT=password expect 1 "did you mean 'default'" "$discreet" user add carol --of defualt --password-stdin
INPUT=password expect 2 'epsilon' "$discreet" user add carol --budget nan --password-stdin
expect 0 '^dsc_[A-Za-z0-9_-]{43}$' "$discreet" user token alice
expect 1 'no user' "$discreet" user token nobody
expect 0 'alice +default' "$discreet" user list
expect 0 'bob +default +0.5' "$discreet" budget --as bob
expect 1 'nobody is called' "$discreet" budget --as nobody
expect 0 '3 events' "$discreet" ledger verify
expect 0 '"verified":true' "$discreet" ledger verify --json
expect 1 'cut or replaced' "$discreet" ledger verify --head 0123
expect 0 '"kind":"grant","account":"bob"' "$discreet" ledger export
expect 0 'discreet ledger report 1' "$discreet" ledger report --json
expect 0 '<!doctype html>' "$discreet" ledger report --format html
expect 0 'no longer log in' "$discreet" user remove bob
# Hours of work, stopped by the first Ctrl-C: paid, and not for ever. In the foreground, since timeout signals its group too, which would be a second Ctrl-C.
seq 1000000 | sed '1i n' > numbers.csv
cp discreet.toml endless.toml
printf '[tables.numbers]\nsource = "numbers.csv"\npublic = true\n' >> endless.toml
expect 1 'not charged twice' timeout --foreground --preserve-status -s INT 3 "$discreet" query --policy endless.toml --epsilon 0.01 \
  'select count(*) as n from people p, numbers a, numbers b where a.n * b.n % 97 = p.age'
expect 0 'n_error95' "$discreet" query --epsilon 0.1 --errors --format csv 'select count(*) as n from people'
expect 0 '"n_error95": [0-9.]+' "$discreet" query --epsilon 0.1 --errors --json 'select count(*) as n from people'
expect 0 'the same answer as before' "$discreet" query --epsilon 0.1 --certificate c.json 'select count(*) as n from people'
expect 0 'are in the chain' "$discreet" ledger verify --certificate c.json
expect 0 '"verified":true' "$discreet" ledger verify --certificate c.json --json
sed 's/"epsilon": 0.1/"epsilon": 0.01/' c.json > forged.json
expect 1 'does not match charge' "$discreet" ledger verify --certificate forged.json
expect 1 'not a certificate' "$discreet" ledger verify --certificate people.csv
sed 's/^unit .*/&\nmax_rows_per_unit = 1/' discreet.toml > one.toml
expect 0 'cost: epsilon 0.0[0-9]+' "$discreet" explain --policy one.toml --target-error '±60 at 95%' 'select count(*) from people'
expect 1 'depends on the data' "$discreet" query --target-error '±0.5 at 95%' 'select count(*) from people'
expect 1 'can be reached' "$discreet" query --policy one.toml --target-error '±0.5 at 95%' 'select count(*) from people'
expect 2 'not of the form' "$discreet" query --target-error 'small' 'select count(*) from people'
expect 0 '└─ after the noise' "$discreet" explain --format tree 'select count(*) from people'
expect 0 '"releases"' "$discreet" explain --format json 'select count(*) from people'
expect 0 'ε tight' "$discreet" ledger report --format markdown
expect 0 '"verdict":"pass"' "$discreet" audit --sql 'select count(*) from people' --trials 200 --json
expect 1 'no table' "$discreet" audit --sql 'select count(*) from nowhere' --trials 200
expect 0 '"verdict":"pass"' "$discreet" audit local-olh gaussian-rho --json --scale 0.1
expect 1 'REFUTED' "$discreet" audit gaussian-largest-coordinate
expect 2 'did you mean' "$discreet" audit laplac
expect 0 'score of a classifier' "$discreet" audit --exec 'seq {count} | awk "{srand(\$1+{side}); print rand(), rand()}"' --trials 300 --claimed 5
# However a CSV file is written: the form is found once, and every row is read.
printf 'person_id\tward\tage\temail\n1\tICU\t30\t"a\tb"\n2\tER\t40\tc\n' > tabs.csv
printf 'person_id;ward;age;email\n1;ICU;30;"a;b"\n2;ER;40;c\n' > semicolons.csv
for file in tabs semicolons; do
  sed "s/people.csv/$file.csv/; s/^epsilon .*/epsilon = \"unlimited\"/; s/^delta .*/delta = \"unlimited\"/" discreet.toml > $file.toml
  printf '[ledger]\nstore = "%s.sqlite"\n' $file >> $file.toml
  expect 0 '^2$' "$discreet" query --policy $file.toml --epsilon 1000000 --format csv 'select count(*) from people'
done
expect 2 '' "$discreet" ledger
expect 1 'cannot read the policy' "$discreet" budget --policy nowhere.toml

[ "$failures" = 0 ] && echo "all hold"
exit $((failures > 0))
