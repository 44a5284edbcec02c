#include "curator/released_view.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace discreet {
namespace {

sql::Type of_kind(sql::TypeKind kind) {
  sql::Type type = sql::integer_type();
  type.kind = kind;
  return type;
}

sql::Release release_of(sql::Type key, sql::Type aggregate) {
  sql::Release release;
  release.table = "released_1";
  sql::Key made;
  made.column = "k1";
  made.type = key;
  release.keys.push_back(made);
  sql::AggregateRelease one;
  one.column = "a1";
  one.type = aggregate;
  release.aggregates.push_back(one);
  return release;
}

void put(const Cell& key, const Cell& value, std::optional<double> error, ReleasedTable& table) {
  table.aggregates.resize(1);
  table.keys.push_back({key});
  table.aggregates[0].values.push_back(value);
  table.aggregates[0].error95.push_back(error);
}

/// What the engine writes after it has stored the table.
Texts by_engine(const sql::Release& release, const ReleasedTable& table) {
  auto engine = DuckDb::open({}).value();
  EXPECT_TRUE(store_released(release, table, engine).has_value());
  return read_texts(
             "SELECT CAST(a2 AS VARCHAR), CAST(k1 AS VARCHAR), CAST(a1 AS VARCHAR) FROM released_1",
             3, engine)
      .value();
}
const std::vector<std::size_t> kPicked = {2, 0, 1};

/// Numbers of every size, and those where a way of writing changes into another.
std::vector<double> numbers() {
  std::vector<double> all = {0.0,
                             -0.0,
                             0.1,
                             1.0 / 3,
                             100,
                             123456.789,
                             std::numeric_limits<double>::min(),
                             std::numeric_limits<double>::denorm_min(),
                             std::numeric_limits<double>::max(),
                             std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN()};
  for (int exponent = -330; exponent <= 308; ++exponent) {
    const double power = std::pow(10.0, exponent);
    for (const double x : {power, 9.5 * power, std::nextafter(power, 0.0),
                           std::nextafter(power, INFINITY), 1.2345 * power})
      all.push_back(x);
  }
  for (int bit = 0; bit < 64; ++bit) all.push_back(std::ldexp(1.0, bit));
  std::mt19937_64 bits(20261118);
  for (int i = 0; i < 20'000; ++i) all.push_back(std::bit_cast<double>(bits()));
  for (int i = 0; i < 20'000; ++i)
    all.push_back(static_cast<double>(static_cast<std::int64_t>(bits()) >> (bits() % 64)) / 1024);
  const std::size_t size = all.size();
  for (std::size_t i = 0; i < size; ++i) all.push_back(-all[i]);
  return all;
}

TEST(ReleasedViewTest, PickedTextsAreThoseOfTheEngine) {
  for (const auto kind : {sql::TypeKind::Double, sql::TypeKind::Decimal, sql::TypeKind::Integer}) {
    const sql::Release release = release_of(sql::integer_type(), of_kind(kind));
    ReleasedTable table;
    std::int64_t key = INT64_MIN;
    for (const double number : numbers()) put(key += 97'003'001'001, number, number, table);
    put(INT64_MAX, std::int64_t{-7}, std::nullopt, table);
    put(std::monostate{}, std::monostate{}, 1.5, table);
    const auto made = picked_texts(release, table, kPicked);
    ASSERT_TRUE(made.has_value());
    const Texts expected = by_engine(release, table);
    ASSERT_EQ(made->size(), expected.size());
    for (std::size_t row = 0; row < expected.size(); ++row)
      ASSERT_EQ((*made)[row], expected[row]) << "row " << row;
  }
}

TEST(ReleasedViewTest, TextsTruthsAndWhatIsOfAnotherKind) {
  const Cell cells[] = {std::string("north"),
                        std::string(""),
                        std::string("ä 'x' \n\t\"…"),
                        std::monostate{},
                        true,
                        false,
                        std::int64_t{12},
                        2.5};
  for (const auto kind : {sql::TypeKind::Text, sql::TypeKind::Boolean}) {
    const sql::Release release = release_of(of_kind(kind), of_kind(kind));
    ReleasedTable table;
    for (const Cell& cell : cells) put(cell, cell, std::nullopt, table);
    EXPECT_EQ(picked_texts(release, table, kPicked), by_engine(release, table));
  }
}

TEST(ReleasedViewTest, WhatOnlyTheEngineWritesIsLeftToIt) {
  for (const auto kind : {sql::TypeKind::Date, sql::TypeKind::Timestamp, sql::TypeKind::List}) {
    ReleasedTable table;
    put(std::int64_t{1}, std::int64_t{1}, 1.0, table);
    EXPECT_FALSE(picked_texts(release_of(of_kind(kind), sql::integer_type()), table, kPicked));
    EXPECT_FALSE(picked_texts(release_of(sql::integer_type(), of_kind(kind)), table, kPicked));
  }
  ReleasedTable list;
  put(std::int64_t{1}, std::int64_t{1}, 1.0, list);
  list.aggregates[0].is_list = true;
  EXPECT_FALSE(picked_texts(release_of(sql::integer_type(), sql::double_type()), list, kPicked));
}

}  // namespace
}  // namespace discreet
