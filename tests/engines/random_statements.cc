#include "engines/random_statements.h"

#include <fmt/format.h>

namespace discreet::testing {

std::string RandomStatements::policy() {
  return R"(
[tables.people]
source = "people.parquet"
unit = "person"
max_rows_per_unit = 1
[tables.people.columns]
a = { range = [-1000, 1000] }
x = { range = [-500.0, 500.0] }
sex = { values = ["F", "M"] }

[tables.visits]
source = "visits.parquet"
unit = "person -> people.person"
[tables.visits.columns]
cost = { range = [0.0, 1000.0] }

[tables.kinds]
source = "kinds.parquet"
public = true

[budgets.default]
epsilon = "unlimited"
delta = "unlimited"
)";
}

std::string RandomStatements::literal_row(bool is_person, int id) {
  const auto maybe = [&](std::string value) {
    return below(12) == 0 ? std::string("NULL") : value;
  };
  // Sixteenths: their sums are exact in any order.
  const auto dyadic = [&] {
    return fmt::format("{}", (static_cast<double>(below(20001)) - 10000) / 16);
  };
  const auto real = [&] {
    if (below(10) != 0) return dyadic();
    return pick({"'NaN'::DOUBLE", "'inf'::DOUBLE", "'-inf'::DOUBLE", "1e308", "-1e308", "5e-324",
                 "0.0", "-0.0", "0.49999999999999994", "1e17", "2.5", "-3.5"});
  };
  const auto word = [&] {
    return pick({"''", "'a'", "'B'", "'abc'", "'Zoë'", "'it''s'", "' padded '", "'12'", "'-7.5'",
                 "'1e3'", "'x_y%'", "'2024-02-29'", "'2023-02-29'", "'ÄÖ'", "'back\\slash'"});
  };
  const auto big = [&] {
    if (below(8) != 0) return fmt::format("{}", static_cast<long>(below(2000)) - 1000);
    return pick({"9223372036854775807", "-9223372036854775807", "4611686018427387904", "3037000500",
                 "-3037000500", "0"});
  };
  // Narrow columns at the ends of their type: what is computed from them must not be narrow.
  const auto narrow = [&](std::string value) {
    return below(15) != 0 ? value : pick({"2147483647", "-2147483648", "46341", "0"});
  };
  const auto date = [&] {
    return fmt::format("DATE '1970-01-01' + {}", static_cast<long>(below(40000)) - 10000);
  };
  const auto timestamp = [&] {
    return fmt::format("make_timestamp({})", static_cast<long long>(below(4'000'000'000'000'000)) -
                                                 1'000'000'000'000'000);
  };
  const auto money = [&] { return fmt::format("{}.{:02}", below(3000), below(100)); };
  if (is_person)
    return fmt::format("({}, {}, {}, {}, {}, {}, {}, {}, {}, {})", id,
                       maybe(narrow(fmt::format("{}", static_cast<long>(below(3000)) - 1500))),
                       maybe(big()), maybe(money()), maybe(real()), maybe(word()), maybe(date()),
                       maybe(timestamp()), maybe(below(2) ? "true" : "false"),
                       maybe(pick({"'F'", "'M'", "'X'"})));
  return fmt::format("({}, {}, {}, {}, {}, {})", maybe(fmt::format("{}", below(130))),
                     maybe(pick({"'red'", "'blue'", "'green'", "'grey'"})), maybe(money()),
                     maybe(narrow(fmt::format("{}", below(9)))), maybe(real()), maybe(date()));
}

std::string RandomStatements::tables() {
  std::string people, visits;
  for (int i = 0; i < 120; ++i) people += (i == 0 ? "" : ", ") + literal_row(true, i);
  for (int i = 0; i < 500; ++i) visits += (i == 0 ? "" : ", ") + literal_row(false, i);
  return fmt::format(
      "CREATE TABLE people (person BIGINT, a INTEGER, b BIGINT, d DECIMAL(10,2), x DOUBLE, t "
      "VARCHAR, born DATE, seen TIMESTAMP, flag BOOLEAN, sex VARCHAR); CREATE TABLE visits (person "
      "BIGINT, kind VARCHAR, cost DECIMAL(10,2), n INTEGER, y DOUBLE, day DATE); CREATE TABLE "
      "kinds "
      "(kind VARCHAR, weight INTEGER, label VARCHAR); INSERT INTO people VALUES {}; INSERT INTO "
      "visits VALUES {}; INSERT INTO kinds VALUES ('red', 1, 'warm'), ('blue', 2, 'cold'), "
      "('green', "
      "3, 'cold'), ('black', 4, NULL);",
      people, visits);
}

std::string RandomStatements::whole(int depth) {
  if (depth == 0)
    return has_visits_ ? pick({"v.n", "v.n", "p.a", "p.b", "3", "-2", "0"})
                       : pick({"p.a", "p.b", "7", "-3", "0", "1000000007"});
  const auto op = [&](const char* sign) {
    const auto left = whole(depth - 1);
    return fmt::format("({} {} {})", left, sign, whole(depth - 1));
  };
  switch (below(15)) {
    case 0:
    case 1:
      return op("+");
    case 2:
      return op("-");
    case 3:
      return op("*");
    case 4:
      return op("/");
    case 5:
      return op("%");
    case 6:
      return fmt::format("abs({})", whole(depth - 1));
    case 7:
      return fmt::format("(- {})", whole(depth - 1));
    case 8:
      return fmt::format("CAST({} AS bigint)", real(depth - 1));
    case 9:
      return fmt::format("CAST({} AS bigint)", text(0));
    case 10:
      return fmt::format("length({})", text(depth - 1));
    case 11:
      return fmt::format("CAST(extract({} FROM {}) AS bigint)",
                         pick({"year", "month", "day", "quarter", "dow", "isodow", "doy", "week"}),
                         below(2) ? day(depth - 1) : time(depth - 1));
    case 12: {
      const auto condition = truth(depth - 1);
      const auto then = whole(depth - 1);
      return fmt::format("CASE WHEN {} THEN {} ELSE {} END", condition, then, whole(depth - 1));
    }
    case 13:
      return fmt::format("coalesce({}, 5)", whole(depth - 1));
    default:
      return fmt::format("sign({})", number(depth - 1));
  }
}

std::string RandomStatements::decimal(int depth) {
  if (depth == 0) return has_visits_ ? pick({"v.cost", "p.d", "2.50"}) : pick({"p.d", "0.25"});
  switch (below(6)) {
    case 0:
      return fmt::format("({} + {})", decimal(depth - 1), decimal(0));
    case 1:
      return fmt::format("({} - {})", decimal(0), decimal(depth - 1));
    case 2:
      return fmt::format("({} * {})", decimal(0), decimal(0));
    case 3:
      return fmt::format("round({}, 1)", decimal(depth - 1));
    case 4:
      return fmt::format("greatest({}, 1.5)", decimal(depth - 1));
    default:
      return fmt::format("abs({})", decimal(depth - 1));
  }
}

std::string RandomStatements::real(int depth) {
  if (depth == 0) return has_visits_ ? pick({"v.y", "p.x"}) : pick({"p.x"});
  const auto op = [&](const char* sign) {
    const auto left = real(depth - 1);
    return fmt::format("({} {} {})", left, sign, real(depth - 1));
  };
  switch (below(14)) {
    case 0:
      return op("+");
    case 1:
      return op("-");
    case 2:
    case 3:
      return op("*");
    case 4:
      return op("/");
    case 5:
      return fmt::format("({} * 0.5)", real(depth - 1));
    case 6:
      return fmt::format("{}({})", pick({"floor", "ceil", "round", "trunc", "abs"}),
                         real(depth - 1));
    case 7:
      return fmt::format("round({}, {})", real(depth - 1), pick({"0", "1", "2", "-1"}));
    case 8:
      return fmt::format("sqrt({})", real(depth - 1));
    case 9:
      return fmt::format("(CAST({} AS double precision) / {})", whole(depth - 1), whole(depth - 1));
    case 10:
      return fmt::format("least({}, {})", real(depth - 1), real(depth - 1));
    case 11:
      return fmt::format("CAST({} AS double precision)", decimal(depth - 1));
    case 12:
      return fmt::format("nullif({}, 2.5)", real(depth - 1));
    default:
      return fmt::format("(- {})", real(depth - 1));
  }
}

std::string RandomStatements::text(int depth) {
  if (depth == 0) return has_visits_ ? pick({"v.kind", "p.t", "p.sex"}) : pick({"p.t", "p.sex"});
  switch (below(9)) {
    case 0:
      return fmt::format("lower({})", text(depth - 1));
    case 1:
      return fmt::format("upper({})", text(depth - 1));
    case 2:
      return fmt::format("substring({}, {}, 2)", text(depth - 1), pick({"1", "2", "3"}));
    case 3:
      return fmt::format("left({}, {})", text(depth - 1), pick({"1", "2", "0"}));
    case 4:
      return fmt::format("({} || '-' || {})", text(depth - 1), text(0));
    case 5:
      return fmt::format("replace({}, 'a', 'bb')", text(depth - 1));
    case 6:
      return fmt::format("btrim({})", text(depth - 1));
    case 7:
      return fmt::format("coalesce({}, 'none')", text(depth - 1));
    default:
      return fmt::format("CAST({} AS text)", whole(0));
  }
}

std::string RandomStatements::day(int depth) {
  if (depth == 0) return has_visits_ ? pick({"v.day", "p.born"}) : pick({"p.born"});
  switch (below(3)) {
    case 0:
      return fmt::format("({} + {})", day(depth - 1), pick({"3", "-40", "1000"}));
    case 1:
      return fmt::format("CAST({} AS date)", time(depth - 1));
    default:
      return fmt::format("CAST({} AS date)", text(0));
  }
}

std::string RandomStatements::time(int depth) {
  if (depth == 0) return "p.seen";
  switch (below(3)) {
    case 0:
      return fmt::format("({} + INTERVAL '{}')", time(depth - 1),
                         pick({"1 month", "3 days", "90 minutes", "-1 year"}));
    case 1:
      return fmt::format("date_trunc('{}', {})", pick({"year", "month", "week", "day", "hour"}),
                         time(depth - 1));
    default:
      return fmt::format("CAST({} AS timestamp)", day(depth - 1));
  }
}

std::string RandomStatements::number(int depth) {
  switch (below(3)) {
    case 0:
      return whole(depth);
    case 1:
      return decimal(depth);
    default:
      return real(depth);
  }
}

std::string RandomStatements::truth(int depth) {
  switch (below(depth > 0 ? 10 : 5)) {
    case 0:
      return "p.flag";
    case 1:
      return fmt::format("({} {} {})", number(0), pick({"<", "<=", ">", "=", "<>"}), number(0));
    case 2:
      return fmt::format("({} {} {})", text(0), pick({"<", ">=", "=", "<>"}), text(0));
    case 3:
      return fmt::format("({} LIKE {})", text(0), pick({"'%a%'", "'_'", "'x\\_%'", "'B%'", "'%'"}));
    case 4:
      return fmt::format("({} IS NULL)", number(0));
    case 5:
      return fmt::format("({} AND {})", truth(depth - 1), truth(depth - 1));
    case 6:
      return fmt::format("({} OR {})", truth(depth - 1), truth(depth - 1));
    case 7:
      return fmt::format("(NOT {})", truth(depth - 1));
    case 8:
      return fmt::format("({} IS DISTINCT FROM {})", whole(depth - 1), whole(depth - 1));
    default:
      return fmt::format("({} < {})", day(depth - 1), day(depth - 1));
  }
}

std::string RandomStatements::aggregate() {
  const int depth = 1 + static_cast<int>(below(3));
  switch (below(13)) {
    case 0:
      return "count(*)";
    case 1:
      return fmt::format("count({})", number(depth));
    case 2:
    case 3:
      return fmt::format("sum({})", number(depth));
    case 4:
      return fmt::format("avg({})", number(depth));
    case 5:
      return fmt::format("count(*) FILTER (WHERE {})", truth(depth));
    case 6:
      return fmt::format("stddev({})", number(depth));
    case 7:
      return fmt::format("corr({}, {})", number(0), number(0));
    case 8:
      return fmt::format("median({})", below(2) ? number(depth) : "CAST(p.born AS date)");
    case 9:
      return fmt::format("max({})", below(2) ? number(depth) : time(depth - 1));
    case 10:
      return fmt::format("count(DISTINCT {})", below(2) ? text(depth) : "p.person");
    case 11:
      return fmt::format("min({})", day(depth - 1));
    default:
      return fmt::format("sum({}) FILTER (WHERE {})", whole(depth), truth(1));
  }
}

std::string RandomStatements::key() {
  switch (below(6)) {
    case 0:
      return "p.sex";
    case 1:
      return text(1);
    case 2:
      return fmt::format("({} % 5)", whole(1));
    case 3:
      return fmt::format("extract(year FROM {})", day(0));
    case 4:
      return fmt::format("floor({} / 100)", real(0));
    default:
      return has_visits_ ? "v.kind" : "p.flag";
  }
}

std::string RandomStatements::next() {
  const auto shape = below(5);
  has_visits_ = shape == 1 || shape == 2;
  std::string from = "people p";
  if (has_visits_)
    from = fmt::format("people p {}JOIN visits v ON v.person = p.person",
                       below(4) == 0 ? "LEFT " : "");
  if (shape == 3) {
    // One row per person, from their visits.
    has_visits_ = true;
    const auto inner =
        pick({"sum(v.n)", "max(v.cost)", "count(*)", "min(v.day) - DATE '2000-01-01'",
              "sum(v.cost)", "avg(v.n)", "count(DISTINCT v.kind)", "max(v.y)",
              "sum(v.n) FILTER (WHERE v.kind = 'red')"});
    const auto condition = truth(1);
    has_visits_ = false;
    return fmt::format(
        "SELECT count(*), sum(f), avg(f) FROM (SELECT v.person, {} AS f FROM visits v JOIN people "
        "p "
        "ON p.person = v.person WHERE {} GROUP BY v.person) s WHERE f > {}",
        inner, condition, static_cast<long>(below(20)) - 5);
  }
  if (shape == 4) {
    has_visits_ = true;
    const auto value = aggregate();
    return fmt::format(
        "SELECT k.label, {} FROM visits v JOIN people p ON p.person = v.person JOIN kinds k ON "
        "k.kind = v.kind GROUP BY k.label",
        value);
  }
  const auto first = aggregate();
  const auto second = aggregate();
  std::string where = below(2) ? " WHERE " + truth(2) : "";
  if (below(2)) return fmt::format("SELECT {}, {} FROM {}{}", first, second, from, where);
  const auto by = key();
  return fmt::format("SELECT {}, {}, {} FROM {}{} GROUP BY {}", by, first, second, from, where, by);
}

}  // namespace discreet::testing
