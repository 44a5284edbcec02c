#include "learn/coding.h"

#include <gtest/gtest.h>

#include "learn/class_tables.h"

namespace discreet::learn {
namespace {

synth::RawColumn column(std::initializer_list<const char*> texts) {
  synth::RawColumnBuilder builder("x");
  for (const char* text : texts) {
    if (text == nullptr)
      builder.add_null();
    else
      builder.add(text);
  }
  return builder.take();
}

ColumnCoder coder(const char* json) {
  return ColumnCoder::make(synth::parse_specs(json).value().front()).value();
}

TEST(CodingTest, CodesOutsideTheDomainGoToTheNearest) {
  const auto x = coder(R"({"x": 10})");
  EXPECT_EQ(x.codes(column({"3", "99", "-4", "abc", nullptr})),
            (std::vector<std::uint16_t>{3, 9, 0, 0, 0}));
  EXPECT_EQ(x.size(), 10u);
  EXPECT_FALSE(x.ordered());
  EXPECT_TRUE(coder(R"({"x": 100})").ordered());
}

TEST(CodingTest, TextsHaveACodeForWhatIsMissing) {
  const auto x = coder(R"({"x": {"values": ["ICU", "ER"]}})");
  EXPECT_EQ(x.size(), 3u);
  EXPECT_EQ(x.codes(column({"ER", "ICU", "spa", nullptr})),
            (std::vector<std::uint16_t>{1, 0, 2, 2}));
  EXPECT_EQ(x.text_of(1), "ER");
}

TEST(CodingTest, WideRangesGetEdgesThatKeepSmallNumbersApart) {
  const auto x = coder(R"({"x": {"range": [0, 1000000]}})");
  EXPECT_LT(x.size(), 600u);
  const auto codes = x.codes(column({"0", "10", "100", "1000", "500000", "1000000", "2000000"}));
  for (std::size_t i = 1; i < 6; ++i) EXPECT_GT(codes[i], codes[i - 1]);
  EXPECT_EQ(codes[6], codes[5]);
}

TEST(CodingTest, NumbersAreScaledByTheDeclaredRangeAndBack) {
  const auto x = coder(R"({"x": {"range": [-10, 30]}})");
  EXPECT_EQ(x.numbers(column({"-10", "10", "30", "99", nullptr})),
            (std::vector<double>{-1, 0, 1, 1, 0}));
  EXPECT_DOUBLE_EQ(x.unscaled(x.scaled(12)), 12);
  const auto day = coder(R"({"x": {"range": ["2026-01-01", "2026-12-31"]}})");
  EXPECT_EQ(day.numbers(column({"2026-01-01", "2026-12-31"})), (std::vector<double>{-1, 1}));
}

TEST(CodingTest, WhatOnlyTheRowsKnowIsRefused) {
  const auto specs = synth::parse_specs(R"({"zip": {}})").value();
  EXPECT_EQ(ColumnCoder::make(specs.front()).error().code, ErrorCode::Refused);
}

TEST(ClassTablesTest, ProjectionKeepsTheTotalAndTheOrder) {
  const std::vector<double> counts = {10, -5, 3, 0.5};
  const auto projected = project_to_simplex(counts, 9);
  double total = 0;
  for (const double p : projected) {
    EXPECT_GE(p, 0);
    total += p;
  }
  EXPECT_NEAR(total, 9, 1e-9);
  EXPECT_GT(projected[0], projected[2]);
  EXPECT_EQ(projected[1], 0);
}

TEST(ClassTablesTest, BinsAreContiguousAndOnlyOrderedColumnsAreCut) {
  const auto specs = synth::parse_specs(R"({"a": 100, "b": 30, "y": 2})").value();
  const Coding coding = Coding::make(specs, "y").value();
  ClassTables tables{
      2, {std::vector<double>(200, 10), std::vector<double>(60, 10)}, 1, 2000, {0.5, 0.5}};
  const auto bins = choose_bins(tables, coding, 8);
  EXPECT_EQ(bins[0].size, 8u);
  EXPECT_EQ(bins[1].size, 30u);
  for (std::size_t i = 1; i < 100; ++i) {
    EXPECT_GE(bins[0].bin_of_code[i], bins[0].bin_of_code[i - 1]);
    EXPECT_LE(bins[0].bin_of_code[i], bins[0].bin_of_code[i - 1] + 1);
  }
  const auto merged = merge_bins(tables, bins);
  EXPECT_EQ(merged.counts[0].size(), 16u);
}

}  // namespace
}  // namespace discreet::learn
