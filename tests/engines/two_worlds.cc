#include "engines/two_worlds.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "accounting/loss_event_json.h"
#include "curator/clipped_sums.h"
#include "curator/contributions.h"
#include "curator/release_job.h"
#include "curator/released_view.h"
#include "engines/row_owners.h"
#include "sql/bounded_totals.h"
#include "sql/explain.h"
#include "sql/planner.h"
#include "support/seeded_random.h"

namespace discreet::testing {
namespace {

/// A cell so that two are equal exactly if their texts are.
std::string exact(const Cell& cell) {
  struct Write {
    std::string operator()(std::monostate) const { return "NULL"; }
    std::string operator()(bool value) const { return value ? "1" : "0"; }
    std::string operator()(std::int64_t value) const { return std::to_string(value); }
    std::string operator()(double value) const {
      return std::isnan(value) ? "nan" : value == 0 ? "0" : fmt::format("{:a}", value);
    }
    std::string operator()(const std::string& value) const { return "'" + value + "'"; }
  };
  return std::visit(Write{}, cell);
}

std::string wide(Int128 value) {
  std::string digits;
  UInt128 left = value < 0 ? UInt128{0} - static_cast<UInt128>(value) : static_cast<UInt128>(value);
  do {
    digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(left % 10)));
    left /= 10;
  } while (left != 0);
  return value < 0 ? "-" + digits : digits;
}

Result<std::vector<std::string>> read_all(Engine& engine, const std::string& sql) {
  DISCREET_TRY(EngineRows rows, engine.query(sql));
  const auto columns = rows.columns();
  std::vector<std::string> all;
  for (;;) {
    DISCREET_TRY(const auto chunk, rows.next());
    if (!chunk) break;
    for (std::size_t row = 0; row < chunk->size(); ++row) {
      std::string text;
      for (std::size_t i = 0; i < columns.size(); ++i) {
        // Sums keep all their 128 bits.
        if (columns[i].type == EngineType::HugeInt && !chunk->is_null(i, row))
          text += "|" + wide(chunk->int128(i, row));
        else
          text += "|" + exact(read_cell(*chunk, columns[i].type, i, row));
      }
      all.push_back(std::move(text));
    }
  }
  std::sort(all.begin(), all.end());
  return all;
}

/// What a release might give out: its groups, with numbers that are not noise but look like it.
Result<ReleasedTable> stand_in(const sql::Release& release, Engine& engine) {
  DISCREET_TRY(EngineRows rows, engine.query(release.partials_sql));
  const auto columns = rows.columns();
  std::map<std::vector<Cell>, double> groups;
  for (;;) {
    DISCREET_TRY(const auto chunk, rows.next());
    if (!chunk) break;
    for (std::size_t row = 0; row < chunk->size(); ++row) {
      std::vector<Cell> keys;
      for (std::size_t i = 0; i < release.keys.size(); ++i)
        keys.push_back(read_cell(*chunk, columns[1 + i].type, 1 + i, row));
      groups[keys] += 1;
    }
  }
  ReleasedTable table;
  table.aggregates.resize(release.aggregates.size());
  for (const auto& [keys, units] : groups) {
    table.keys.push_back(keys);
    for (std::size_t i = 0; i < release.aggregates.size(); ++i) {
      const auto kind = release.aggregates[i].type.kind;
      auto& column = table.aggregates[i];
      column.error95.emplace_back(1);
      column.is_list = kind == sql::TypeKind::List;
      if (column.is_list)
        column.lists.push_back({units});
      else if (kind == sql::TypeKind::Text)
        column.values.emplace_back(std::string("x"));
      else
        column.values.emplace_back(units + static_cast<double>(i));
    }
  }
  return table;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

}  // namespace

std::string& last_words() {
  static auto* const words = new std::string;  // the last connection to close still speaks
  return *words;
}

std::vector<std::vector<std::optional<std::string>>> text_rows(DuckDb& database,
                                                               const std::string& sql) {
  return texts(database, "SELECT CAST(COLUMNS(*) AS VARCHAR) FROM (" + sql + ")");
}

std::vector<std::vector<std::optional<std::string>>> texts(Engine& engine, const std::string& sql) {
  auto rows = engine.query(sql);
  DISCREET_CHECK(rows.has_value(), last_words().c_str());
  std::vector<std::vector<std::optional<std::string>>> all;
  for (auto chunk = rows->next(); chunk && chunk->has_value(); chunk = rows->next())
    for (std::size_t row = 0; row < (*chunk)->size(); ++row) {
      auto& cells = all.emplace_back();
      for (std::size_t i = 0; i < rows->columns().size(); ++i)
        cells.push_back((*chunk)->is_null(i, row)
                            ? std::nullopt
                            : std::optional(std::string((*chunk)->varchar(i, row))));
    }
  return all;
}

TwoWorlds::TwoWorlds(Elsewhere& elsewhere, const std::string& schema, const std::string& policy,
                     const std::string& tables_sql) {
  char name[] = "/tmp/discreet_worlds_XXXXXX";
  folder_ = mkdtemp(name);
  const OperatorLog log = [](std::string_view words) { last_words() = words; };
  auto database = DuckDb::open({.threads = 1, .operator_log = log}).value();
  DISCREET_CHECK(database.execute(tables_sql).has_value(), last_words().c_str());
  elsewhere.clear(schema);
  std::string near = replaced(policy, ".csv\"", ".parquet\""), far = near;
  for (const auto& row : text_rows(database, "SELECT table_name FROM information_schema.tables")) {
    const std::string& table = *row[0];
    DISCREET_CHECK(database
                       .execute(fmt::format("COPY {} TO '{}/{}.parquet' (FORMAT parquet)",
                                            sql_identifier(table), folder_, table))
                       .has_value(),
                   last_words().c_str());
    elsewhere.copy(database, table, schema, fmt::format("{}/{}.parquet", folder_, table));
    far = replaced(far, fmt::format("\"{}.parquet\"", table),
                   "\"" + elsewhere.source(schema, table) + "\"");
  }
  const auto write = [&](const std::string& file, const std::string& text) {
    std::ofstream(folder_ + "/" + file) << text;
    auto loaded = catalog::Policy::load(folder_ + "/" + file);
    DISCREET_CHECK(loaded.has_value(), loaded.has_value() ? "" : loaded.error().message.c_str());
    return std::make_unique<catalog::Policy>(*std::move(loaded));
  };
  near_policy_ = write("near.toml", near);
  far_policy_ = write("far.toml", far);
  auto opened_near = Data::open(*near_policy_, log);
  DISCREET_CHECK(opened_near.has_value(), last_words().c_str());
  near_ = std::make_unique<Data>(*std::move(opened_near));
  auto opened_far = Data::open(*far_policy_, log);
  DISCREET_CHECK(opened_far.has_value(),
                 opened_far.has_value() ? "" : opened_far.error().message.c_str());
  far_ = std::make_unique<Data>(*std::move(opened_far));
}

TwoWorlds::~TwoWorlds() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void TwoWorlds::compare_rows(const std::string& statement, const std::string& near_sql,
                             const std::string& far_sql, Engine* far_engine) {
  last_words().clear();
  if (far_engine == nullptr) far_engine = &far_->engine();
  const auto near = read_all(near_->engine(), near_sql);
  ASSERT_TRUE(near.has_value()) << statement << "\n" << near_sql << "\n" << last_words();
  const auto begin = std::chrono::steady_clock::now();
  const auto far = read_all(*far_engine, far_sql);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  if (took.count() > 5) std::cout << "slow (" << took.count() << " s): " << far_sql << "\n";
  ASSERT_TRUE(far.has_value()) << statement << "\n"
                               << far_sql << "\n"
                               << last_words() << far.error().message;
  ++statements_run_;
  rows_compared_ += near->size();
  if (*near == *far) return;
  std::vector<std::string> only_near, only_far;
  std::set_difference(near->begin(), near->end(), far->begin(), far->end(),
                      std::back_inserter(only_near));
  std::set_difference(far->begin(), far->end(), near->begin(), near->end(),
                      std::back_inserter(only_far));
  only_near.resize(std::min<std::size_t>(only_near.size(), 5));
  only_far.resize(std::min<std::size_t>(only_far.size(), 5));
  ADD_FAILURE() << statement << "\nhere: " << near_sql << "\nthere: " << far_sql
                << "\nonly here: " << ::testing::PrintToString(only_near)
                << "\nonly there: " << ::testing::PrintToString(only_far);
}

/// What units add to groups, in no order.
std::multiset<std::string> TwoWorlds::shown(const Contributions& all, const Groups& groups) {
  std::multiset<std::string> units;
  for (std::size_t unit = 0; unit < all.units(); ++unit) {
    std::set<std::string> rows;
    for (std::size_t row = all.begin(unit); row < all.end(unit); ++row) {
      std::string text;
      for (const Cell& key : groups.keys(all.group(row))) text += "|" + exact(key);
      for (std::size_t f = 0; f < all.features(); ++f) text += "|" + wide(all.values(row)[f]);
      rows.insert(text);
    }
    if (!rows.empty()) units.insert(::testing::PrintToString(rows));
  }
  return units;
}

/// Rows that stream to the curator, from the engine's rows and from its files where they are to be
/// had, must add up there to what the engine's own sums are.
void TwoWorlds::compare_streamed(const std::string& statement, const sql::Release& near,
                                 const sql::Release& far, bool files_alone) {
  auto here = Groups::make(near, near_->engine()), there = Groups::make(far, far_->engine());
  if (!here || !there) return;
  SeededRandom random(1);
  const auto summed = Contributions::load_partials(near, *here, near_->engine());
  ASSERT_TRUE(summed.has_value()) << statement << last_words();
  const auto expected = shown(*summed, *here);
  const auto compare = [&](const sql::Release& release) {
    // Inside a question, as the curator does it: one snapshot is what reading by pages needs.
    ASSERT_TRUE(far_->engine().begin().has_value()) << last_words();
    const auto streamed = Contributions::load(release, *there, far_->engine(), random);
    far_->engine().end();
    ASSERT_TRUE(streamed.has_value()) << statement << last_words();
    EXPECT_EQ(shown(*streamed, *there), expected) << statement;
  };
  if (!files_alone) {
    compare_placed(statement, near, expected);
    sql::Release rows = far;
    rows.over_files = {};
    compare(rows);
    compare_totals(statement, rows, far_->engine());
  }
  if (Engine* files = over_files(statement, far.over_files.rows.sql, far)) {
    EXPECT_TRUE(files->check(far.over_files.rows.sql)) << statement << last_words();
    ++read_over_files_;
    compare(far);
  }
}

/// The reader of the other engine's own files, for one of its statements. Null: there is none.
Engine* TwoWorlds::over_files(const std::string& statement, const std::string& sql,
                              const sql::Release& far) {
  if (sql.empty()) return nullptr;
  EXPECT_TRUE(far_->snapshot(far.over_files.tables).has_value()) << last_words();
  const auto files = far_->engine().over_files({far.over_files.tables, {sql}});
  EXPECT_TRUE(files.has_value()) << statement << last_words();
  return files.value_or(nullptr);
}

/// Rows of files, whose they are known by their places: not at first, and then always.
void TwoWorlds::compare_placed(const std::string& statement, const sql::Release& release,
                               const std::multiset<std::string>& expected) {
  if (release.streamed.placed_sql.empty() || !release.needs.empty()) return;
  // Files just written are not trusted yet.
  const auto has_state = [&] {
    return !near_->engine().files_state(release.streamed.owners_tables).empty();
  };
  for (int tries = 0; tries < 100 && !has_state(); ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  ASSERT_TRUE(has_state()) << statement;
  SeededRandom random(1);
  for (int i = 0; i < 3; ++i) {
    auto groups = Groups::make(release, near_->engine());
    const auto loaded = Contributions::load(release, *groups, near_->engine(), random);
    ASSERT_TRUE(loaded.has_value()) << statement << last_words();
    EXPECT_EQ(shown(*loaded, *groups), expected) << statement << "\n"
                                                 << release.streamed.placed_sql;
  }
  const OwnersAsked asked{release.streamed.owners_sql,
                          release.streamed.owners_by_link ? release.streamed.link_sql : "",
                          release.streamed.owners_tables};
  const auto owners = near_->engine().owners_kept()->find(
      near_->engine(), asked, near_->engine().files_state(asked.tables));
  ASSERT_TRUE(owners.has_value()) << statement << last_words();
  EXPECT_NE(*owners, nullptr) << statement;
  ++read_by_places_;
  compare_totals(statement, release, near_->engine());
}

/// Sums of one sign from units' totals are to the last digit those from all groups of all units.
void TwoWorlds::compare_totals(const std::string& statement, const sql::Release& release,
                               Engine& engine) {
  const SumPlan plan = plan_sums(release);
  ASSERT_TRUE(engine.begin().has_value()) << last_words();
  auto groups = Groups::make(release, engine);
  const auto done = [&] { engine.end(); };
  if (!groups || !groups->is_public()) return done();
  SeededRandom unused(1);
  const auto all = Contributions::load(release, *groups, engine, unused);
  const auto some = Contributions::load(release, *groups, engine, unused, std::nullopt, true);
  done();
  ASSERT_TRUE(all.has_value() && some.has_value()) << statement << last_words();
  if (some->totals() == nullptr) return;
  ++read_by_totals_;
  for (const Sum& sum : plan.sums)
    for (const double epsilon : {0.01, 0.3, 5.0, 100.0})
      for (const bool one_row : {false, true}) {  // the smaller bound takes most units apart
        if (!is_of_one_sign(release, sum) || (one_row && !sum.bounded)) continue;
        ClipOptions options;
        if (one_row) options.size_max = 1;
        const auto clipped = ClippedSums::make(Epsilon::make(epsilon).value(), {sum}, options);
        if (!clipped) continue;
        SeededRandom one(7), other(7);
        const auto expected = clipped->release(*all, groups->size(), one);
        const auto found = clipped->release(*some, groups->size(), other);
        EXPECT_EQ(found.bound, expected.bound) << statement;
        EXPECT_TRUE(found.cells == expected.cells) << statement << " at " << epsilon;
      }
}

TwoWorlds::Verdict TwoWorlds::compare(const std::string& statement, bool files_alone) {
  const auto near = sql::Planner(*near_policy_, *near_).plan(statement);
  const auto far = sql::Planner(*far_policy_, *far_).plan(statement);
  EXPECT_EQ(near.has_value(), far.has_value()) << statement;
  if (!near || !far) {
    if (!near && !far) {
      EXPECT_EQ(near.error().message, far.error().message) << statement;
    }
    return Verdict::Refused;
  }
  // Plans: what is shown, and everything that decides the price.
  EXPECT_EQ(sql::explain_text(*near), sql::explain_text(*far)) << statement;
  EXPECT_EQ(near->final_text_sql, far->final_text_sql) << statement;
  EXPECT_EQ(near->normalised_text, far->normalised_text);
  EXPECT_EQ(near->releases.size(), far->releases.size());
  const auto checked = far_->check(*far);
  EXPECT_TRUE(checked.has_value()) << statement << "\n"
                                   << far->releases.front().partials_sql << "\n"
                                   << last_words();
  for (std::size_t i = 0; i < near->releases.size(); ++i) {
    const sql::Release &here = near->releases[i], &there = far->releases[i];
    if (files_alone && !there.needs.empty()) break;
    const ApproxDp budget{Epsilon::make(0.7).value(), Delta::make(1e-6).value()};
    const auto job = ReleaseJob::make(here, budget), other = ReleaseJob::make(there, budget);
    EXPECT_EQ(job.has_value(), other.has_value()) << statement;
    if (job && other) {
      EXPECT_EQ(to_json(job->loss()).dump(), to_json(other->loss()).dump()) << statement;
    }
    const auto& over_files_sql = there.over_files.totals_sql;
    if (Engine* files = over_files(statement, over_files_sql, there)) {
      compare_rows(statement, *here.totals_sql, over_files_sql, files);
      ++totals_over_files_;
    }
    if (!there.streamed.sql.empty()) compare_streamed(statement, here, there, files_alone);
    if (files_alone) continue;
    compare_rows(statement, here.partials_sql, there.partials_sql);
    compare_rows(statement, here.rows_sql, there.rows_sql);
    if (here.totals_sql) compare_rows(statement, *here.totals_sql, *there.totals_sql);
    for (std::size_t s = 0; s < here.streams.size(); ++s)
      compare_rows(statement, here.streams[s].sql, there.streams[s].sql);
    for (std::size_t s = 0; s < here.public_key_sets.size(); ++s)
      compare_rows(statement, here.public_key_sets[s].sql, there.public_key_sets[s].sql);
    // Bounded inside the engine: the keyed hash must choose the same groups. Texts of reals differ.
    const bool texts_agree = std::none_of(here.keys.begin(), here.keys.end(), [](const auto& key) {
      return key.type.kind == sql::TypeKind::Double;
    });
    if (texts_agree && !here.unit_is_row) {
      const sql::SqlBounding bounding{
          2, std::vector<std::pair<std::int64_t, std::int64_t>>(here.features.size(), {-50, 50}),
          "k'y"};
      compare_rows(statement, sql::bounded_totals_sql(here, bounding),
                   sql::bounded_totals_sql(there, bounding, far_->dialect()));
    }
    if (i + 1 < near->releases.size()) {
      const auto table = stand_in(here, near_->engine());
      EXPECT_TRUE(table.has_value());
      if (!table) break;
      EXPECT_TRUE(store_released(here, *table, near_->local()).has_value());
      far_->carry(there, *table);
    }
  }
  far_->carry_nothing();
  return Verdict::Same;
}

}  // namespace discreet::testing
