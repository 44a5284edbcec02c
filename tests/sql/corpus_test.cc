// Runs tests/sql/*.test: each statement must be planned as the file says or refused with the words
// it says, and where the file says `answer`, the engine statements, put together without noise,
// must give what DuckDB gives for the statement itself.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sql/explain.h"
#include "sql/rewrite.h"
#include "world.h"

namespace discreet::sql {
namespace {

/// Equal up to the last digits of numbers.
bool same_rows(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  if (a.size() != b.size()) return false;
  const auto cells = [](const std::string& row) {
    std::vector<std::string> parts;
    std::stringstream text(row);
    for (std::string part; std::getline(text, part, '|');) parts.push_back(part);
    return parts;
  };
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto mine = cells(a[i]), theirs = cells(b[i]);
    if (mine.size() != theirs.size()) return false;
    for (std::size_t j = 0; j < mine.size(); ++j) {
      if (mine[j] == theirs[j]) continue;
      char *end = nullptr, *other_end = nullptr;
      const double x = std::strtod(mine[j].c_str(), &end),
                   y = std::strtod(theirs[j].c_str(), &other_end);
      if (end == mine[j].c_str() || *end != 0 || *other_end != 0 ||
          !(std::fabs(x - y) <= 2e-6 * std::max(std::fabs(x), std::fabs(y))))
        return false;
    }
  }
  return true;
}

/// What a release gives out, computed without noise from its partials: an SQL expression per
/// aggregate.
std::string exact_expression(const Release& release, const AggregateRelease& aggregate) {
  const auto f = [&](std::size_t index) {
    return "sum(" + release.features[index].column + ")::DOUBLE";
  };
  const auto unit = [&](std::size_t feature) {
    return fmt::format("{:.17g}", release.values[*release.features[feature].value].grid.unit());
  };
  struct Express {
    decltype(f)& feature;
    decltype(unit)& grid;
    std::optional<std::size_t> filter_rows;
    std::string operator()(const CountRelease& one) const {
      return fmt::format("sum(f{})::BIGINT", one.rows + 1);
    }
    std::string operator()(const SumRelease& one) const {
      return fmt::format("CASE WHEN {} > 0 THEN {} * {} END", feature(one.count), feature(one.sum),
                         grid(one.sum));
    }
    std::string operator()(const AvgRelease& one) const {
      return fmt::format("{} * {} / nullif({}, 0)", feature(one.sum), grid(one.sum),
                         feature(one.count));
    }
    std::string operator()(const VarianceRelease& one) const {
      const auto variance =
          fmt::format("(({} - {} * {} / nullif({}, 0)) * {} * {} / nullif({} - {}, 0))",
                      feature(one.squares), feature(one.sum), feature(one.sum), feature(one.count),
                      grid(one.sum), grid(one.sum), feature(one.count), one.sample ? 1 : 0);
      return one.standard_deviation ? "sqrt(greatest(0, " + variance + "))" : variance;
    }
    std::string operator()(const CovarianceRelease& one) const {
      const auto moment = [&](std::size_t product, std::size_t a, std::size_t b) {
        return fmt::format("({} - {} * {} / {})", feature(product), feature(a), feature(b),
                           feature(one.count));
      };
      const auto xy = moment(one.products, one.sum_x, one.sum_y);
      if (one.kind == CovarianceRelease::Kind::Correlation)
        return fmt::format("{} / sqrt({} * {})", xy, moment(one.squares_x, one.sum_x, one.sum_x),
                           moment(one.squares_y, one.sum_y, one.sum_y));
      return fmt::format("{} * {} * {} / ({} - {})", xy, grid(one.sum_x), grid(one.sum_y),
                         feature(one.count), one.kind == CovarianceRelease::Kind::Sample ? 1 : 0);
    }
    std::string operator()(const CountUnitsRelease&) const {
      return filter_rows ? fmt::format("count(*) FILTER (WHERE f{} > 0)", *filter_rows + 1)
                         : "count(*)";
    }
    std::string operator()(const HistogramRelease& one) const {
      std::string list;
      for (const auto bin : one.bins)
        list += fmt::format("{}sum(f{})", list.empty() ? "" : ", ", bin + 1);
      return "[" + list + "]";
    }
    // From streams, below.
    std::string operator()(const ExtremeRelease&) const { return ""; }
    std::string operator()(const QuantilesRelease&) const { return ""; }
    std::string operator()(const CountDistinctRelease&) const { return ""; }
    std::string operator()(const ModeRelease&) const { return ""; }
    std::string operator()(const TopKRelease&) const { return ""; }
    // Tests are texts; the corpus runs their engine statements, not the tests.
    std::string operator()(const TestRelease&) const { return "CAST(NULL AS VARCHAR)"; }
    std::string operator()(const QuantileIntervalRelease&) const { return "CAST(NULL AS VARCHAR)"; }
  };
  return std::visit(Express{f, unit, aggregate.filter_rows}, aggregate.kind);
}

std::string from_stream(const Release& release, const AggregateRelease& aggregate,
                        std::size_t& stream) {
  const auto value_of = [&](std::size_t index) {
    const Value& value = release.values[release.streams[index].value];
    if (value.type.kind == TypeKind::Date)
      return std::string("(DATE '1970-01-01' + value::INTEGER)");
    if (value.type.kind == TypeKind::Timestamp) return std::string("make_timestamp(value)");
    return value.type.kind == TypeKind::Text
               ? std::string("value")
               : fmt::format("(value * {:.17g}::DOUBLE)", value.grid.unit());
  };
  if (const auto* one = std::get_if<ExtremeRelease>(&aggregate.kind)) {
    stream = one->stream;
    return fmt::format("{}({})", one->maximum ? "max" : "min", value_of(stream));
  }
  if (const auto* one = std::get_if<CountDistinctRelease>(&aggregate.kind)) {
    stream = one->stream;
    return "count(DISTINCT value)";
  }
  if (const auto* one = std::get_if<ModeRelease>(&aggregate.kind)) {
    stream = one->stream;
    return fmt::format("mode({})", value_of(stream));
  }
  if (const auto* one = std::get_if<QuantilesRelease>(&aggregate.kind)) {
    stream = one->stream;
    std::string list;
    for (const double fraction : one->fractions)
      list += fmt::format("{}{}", list.empty() ? "" : ", ", fraction);
    return fmt::format("quantile_{}({}, {})", one->continuous ? "cont" : "disc", value_of(stream),
                       one->as_list ? "[" + list + "]" : list);
  }
  ADD_FAILURE() << "the corpus cannot compute " << aggregate.text;
  return "NULL";
}

/// Makes released_N as the curator would at no noise. Also checks what question.h promises.
Result<void> release_exactly(World& world, const Release& release) {
  std::string keys, joins;
  for (const Key& key : release.keys) keys += (keys.empty() ? "" : ", ") + key.column;
  std::string columns = keys, streams, grouped_by = keys;
  if (release.grouping_sets) {
    std::string sets;
    for (const auto& set : *release.grouping_sets) {
      std::string names;
      for (const std::size_t key : set)
        names += (names.empty() ? "" : ", ") + release.keys[key].column;
      sets += fmt::format("{}({})", sets.empty() ? "" : ", ", names);
    }
    grouped_by = fmt::format("GROUPING SETS ({})", sets);
    for (std::size_t i = 0; i < release.keys.size(); ++i)
      columns += fmt::format(", grouping(k{}) AS k{}", i + 1, release.keys.size() + i + 1);
  }
  for (const auto& aggregate : release.aggregates) {
    auto expression = exact_expression(release, aggregate);
    if (expression.empty()) {
      std::size_t stream = 0;
      const auto over = from_stream(release, aggregate, stream);
      std::string on = "true", outer;
      for (const Key& key : release.keys)
        on += fmt::format(" AND s.{0} IS NOT DISTINCT FROM p.{0}", key.column);
      expression = fmt::format("(SELECT {} FROM ({}) s, range(multiplicity) WHERE {})", over,
                               release.streams[stream].sql, on);
    }
    columns += fmt::format("{}{} AS {}", columns.empty() ? "" : ", ", expression, aggregate.column);
  }
  columns += fmt::format("{}count(*) AS units", columns.empty() ? "" : ", ");
  const auto sql =
      fmt::format("CREATE OR REPLACE TABLE {} AS SELECT {} FROM ({}) p{}", release.table, columns,
                  release.partials_sql, grouped_by.empty() ? "" : " GROUP BY " + grouped_by);
  DISCREET_TRY_VOID(world.database().execute(sql));
  // One row per unit and group.
  DISCREET_TRY(
      const auto repeats,
      world.rows(fmt::format(
          "SELECT count(*) FROM (SELECT unit{} FROM ({}) GROUP BY ALL HAVING count(*) > 1)",
          keys.empty() ? "" : ", " + keys, release.partials_sql)));
  EXPECT_EQ(repeats, std::vector<std::string>{"|0"}) << "a unit has a group twice";
  for (const auto& set : release.public_key_sets) DISCREET_TRY_VOID(world.rows(set.sql));
  if (release.totals_sql) {
    // The fast path must give the same totals.
    std::string sums = keys;
    for (const Feature& feature : release.features)
      sums += fmt::format("{}sum({})", sums.empty() ? "" : ", ", feature.column);
    const std::string by = keys.empty() ? "" : " GROUP BY " + keys;
    DISCREET_TRY(auto slow,
                 world.rows(fmt::format("SELECT {}{}count(*) FROM ({}){}", sums,
                                        sums.empty() ? "" : ", ", release.partials_sql, by)));
    DISCREET_TRY(auto fast, world.rows(*release.totals_sql));
    std::sort(slow.begin(), slow.end());
    std::sort(fast.begin(), fast.end());
    EXPECT_EQ(slow, fast) << "the fast path has other totals";
    if (release.counted_table) {
      std::string same = "count(*)";
      for (std::size_t i = 0; i < release.features.size(); ++i) same += ", count(*)";
      DISCREET_TRY(const auto known,
                   world.rows(fmt::format("SELECT {} FROM {}", same, *release.counted_table)));
      EXPECT_EQ(known, fast) << "the table has another number of rows";
    }
  }
  return {};
}

std::string shape(const PlannedQuestion& question) {
  std::string text = question.is_public() ? "public" : "private";
  for (const Release& release : question.releases) {
    if (release.grouping_sets) text += fmt::format(" sets:{}", release.grouping_sets->size());
    for (const Key& key : release.keys) text += " key:" + domain_text(key);
    for (const auto& aggregate : release.aggregates) text += " " + kind_name(aggregate.kind);
    for (const auto& value : release.values) {
      text += fmt::format(" {}[{:g},{:g}]", name(value.origin),
                          static_cast<double>(value.lower) * value.grid.unit(),
                          static_cast<double>(value.upper) * value.grid.unit());
    }
    if (release.bounds.rows_max) text += fmt::format(" rows:{}", *release.bounds.rows_max);
    if (release.bounds.groups_max) text += fmt::format(" groups:{}", *release.bounds.groups_max);
    if (release.bounds.one_row_per_unit) text += " one-row";
    if (release.options) text += " {" + release.options->to_string() + "}";
  }
  text += fmt::format(" releases:{}", question.releases.size());
  return text;
}

void check(World& world, const std::string& policy, const Case& one) {
  SCOPED_TRACE(fmt::format("{}:{}\n{}", one.file, one.line, one.statement));
  auto planned = world.plan(one.statement);
  if (one.verdict == "refuse" || one.verdict == "invalid") {
    ASSERT_FALSE(planned.has_value()) << "should have been refused, but is " << shape(*planned);
    EXPECT_EQ(planned.error().code == ErrorCode::Refused, one.verdict == "refuse")
        << planned.error().message;
    EXPECT_NE(planned.error().message.find(one.words), std::string::npos)
        << "says: " << planned.error().message;
    return;
  }
  ASSERT_TRUE(planned.has_value()) << planned.error().message;
  const std::string found = shape(*planned);
  std::stringstream wanted(one.words);
  EXPECT_EQ(planned->is_public(), one.verdict == "public") << found;
  for (std::string part; std::getline(wanted, part, ';');) {
    part.erase(0, part.find_first_not_of(' '));
    EXPECT_NE(found.find(part), std::string::npos) << "wanted '" << part << "' in: " << found;
  }
  EXPECT_FALSE(explain_text(*planned).empty());
  EXPECT_NE(explain_json(*planned).find("\"releases\""), std::string::npos);

  // Whatever is planned must run on the engine.
  for (const Release& release : planned->releases) {
    if (std::any_of(release.aggregates.begin(), release.aggregates.end(),
                    [](const auto& aggregate) {
                      return std::holds_alternative<TopKRelease>(aggregate.kind);
                    })) {
      ASSERT_TRUE(world.rows(release.partials_sql).has_value())
          << World::last_engine_message() << "\n"
          << release.partials_sql;
      return;
    }
    const auto released = release_exactly(world, release);
    ASSERT_TRUE(released.has_value()) << World::last_engine_message() << "\n"
                                      << release.partials_sql;
    check_neighbour(policy, release);
  }
  auto rows = world.rows(planned->final_sql);
  ASSERT_TRUE(rows.has_value()) << World::last_engine_message() << "\n" << planned->final_sql;
  if (one.verdict != "answer" && one.verdict != "public") return;
  auto plain = world.rows(one.plain.empty() ? one.statement : one.plain);
  ASSERT_TRUE(plain.has_value()) << "plain: " << World::last_engine_message();
  std::sort(rows->begin(), rows->end());
  std::sort(plain->begin(), plain->end());
  if (!same_rows(*rows, *plain)) {
    EXPECT_EQ(*rows, *plain) << "final: " << planned->final_sql;
  }
}

struct Totals {
  int all = 0, refused = 0;
};

Totals run(const std::string& file, const std::string& policy) {
  Totals totals;
  for (const Case& one : read_cases(file)) {
    check(world(policy), policy, one);
    ++totals.all;
    totals.refused += one.verdict == "refuse" || one.verdict == "invalid";
  }
  std::cout << file << ": " << totals.all << " statements, " << totals.refused
            << " of them refusals\n";
  EXPECT_GT(totals.all, 0) << file;
  return totals;
}

TEST(SqlCorpusTest, HospitalAnswersAreWhatDuckDbSays) {
  run("answers.test", "hospital");
}
TEST(SqlCorpusTest, HospitalPlansHaveTheirProperties) {
  run("plans.test", "hospital");
}

TEST(SqlCorpusTest, StatisticalTestsArePlannedOrRefused) {
  run("inference.test", "hospital");
}
TEST(SqlCorpusTest, GoogleSqlFormIsUnderstood) {
  run("googlesql.test", "hospital");
}
TEST(SqlCorpusTest, WhatIsNotPrivateIsRefused) {
  run("refusals.test", "hospital");
}
TEST(SqlCorpusTest, TpcHIsAnsweredPublicOrRefused) {
  run("tpch.test", "tpch");
}
// Guarantee (c) of question.h: extreme integers, NaN, infinite dates, text that is no number, rows
// of nobody. An error would tell an analyst that such a row exists.
TEST(SqlCorpusTest, NoRowCanMakeAStatementFail) {
  int statements = 0;
  for (const char* file : {"answers.test", "plans.test", "googlesql.test"})
    for (const Case& one : read_cases(file)) {
      const auto planned = world("hospital", "hostile").plan(one.statement);
      if (!planned) continue;
      SCOPED_TRACE(one.statement);
      for (const Release& release : planned->releases) {
        if (!release.needs.empty()) continue;
        std::vector<std::string> all{release.partials_sql, release.rows_sql, release.streamed.sql};
        if (!release.streamed.link_sql.empty()) {
          all.push_back(release.streamed.linked_sql);
          all.push_back(release.streamed.link_sql);
        }
        for (const auto& stream : release.streams) all.push_back(stream.sql);
        if (release.totals_sql) all.push_back(*release.totals_sql);
        for (const auto& sql : all) {
          ++statements;
          EXPECT_TRUE(world("hospital", "hostile").rows(sql).has_value())
              << World::last_engine_message() << "\n"
              << sql;
        }
      }
    }
  std::cout << statements << " engine statements on hostile rows\n";
  EXPECT_GT(statements, 300);
}
TEST(SqlCorpusTest, ThereAreThreeHundredStatementsAndAThirdAreRefused) {
  std::size_t all = 0, refused = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder))
    if (entry.path().extension() == ".test")
      for (const Case& one : read_cases(entry.path().filename())) {
        ++all;
        refused += one.verdict == "refuse" || one.verdict == "invalid";
      }
  std::cout << all << " statements, " << refused << " refusals\n";
  EXPECT_GE(all, 300u);
  EXPECT_GE(refused * 3, all);
}

}  // namespace
}  // namespace discreet::sql
