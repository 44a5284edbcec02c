// Domains, workloads, text tables and codes.
#include <gtest/gtest.h>

#include "support/seeded_random.h"
#include "synth/encoding.h"
#include "synth/marginals.h"
#include "synth/workload.h"

namespace discreet::synth {
namespace {

TEST(DomainTest, ReadsADomainFileInItsOrder) {
  const Domain domain = Domain::parse(R"({"b": 3, "a": 2})").value();
  ASSERT_EQ(domain.size(), 2u);
  EXPECT_EQ(domain[0].name, "b");
  EXPECT_EQ(domain.cells(std::vector<std::uint32_t>{0, 1}), 6u);
  EXPECT_EQ(domain.width(), 5u);
}

TEST(DomainTest, RefusesWhatIsNoDomain) {
  for (const char* text : {"[]", "{}", R"({"a": 0})", R"({"a": -1})", R"({"a": 1.5})",
                           R"({"a": 100000})", "{", R"({"a": "x"})"})
    EXPECT_FALSE(Domain::parse(text)) << text;
}

TEST(WorkloadTest, TakesAllSetsThatFitAndFallsBackToFewerWays) {
  const Domain domain = Domain::parse(R"({"a": 10, "b": 10, "c": 2, "d": 2})").value();
  EXPECT_EQ(Workload::all(domain, 3, 40).value().marginals.size(), 2u);  // acd, bcd
  EXPECT_EQ(Workload::all(domain, 3, 20).value().marginals.size(), 5u);  // pairs but ab
  EXPECT_EQ(Workload::all(domain, 3, 1).value().marginals.size(), 4u);
}

TEST(WorkloadTest, ReadsMarginalsOnceEachAndRefusesUnknownColumns) {
  const Domain domain = Domain::parse(R"({"a": 10, "b": 10})").value();
  const auto workload = Workload::parse(
      R"({"marginals": [["b", "a"], ["a", "b"], ["a"]], "weights": [2, 1, 1]})", domain);
  ASSERT_TRUE(workload);
  ASSERT_EQ(workload->marginals.size(), 2u);
  EXPECT_EQ(workload->marginals[0].attributes, (Clique{0, 1}));
  EXPECT_EQ(workload->marginals[0].weight, 2);
  for (const char* text :
       {R"({"marginals": []})", R"({"marginals": [["z"]]})", R"({"marginals": [[]]})",
        R"({"marginals": [["a", "a"]]})", "[]", R"({"marginals": [["a"]], "weights": [-1]})"})
    EXPECT_FALSE(Workload::parse(text, domain)) << text;
}

TEST(WorkloadTest, ClosureHoldsEverySubsetWithItsOverlaps) {
  Workload workload;
  workload.marginals = {{{0, 1, 2}, 1}, {{1, 3}, 2}};
  const auto closure = downward_closure(workload);
  EXPECT_EQ(closure.size(), 4u + 4u + 1u);  // 0 1 2 3, 01 02 12 13, 012
  for (const auto& candidate : closure)
    if (candidate.attributes == Clique{1, 2}) {
      EXPECT_EQ(candidate.weight, 2 * 1 + 1 * 2);
    }
}

TEST(CsvTest, KeepsQuotesNullsAndUnevenRows) {
  const RawTable table = parse_csv("a,b\r\n1,\"x, \"\"y\"\"\"\n,\n3\n4,5,6\n").value();
  ASSERT_EQ(table.rows(), 4u);
  EXPECT_EQ(table.columns[1].texts[0], "x, \"y\"");
  EXPECT_EQ(table.columns[0].rows[1], RawColumn::kNull);
  EXPECT_EQ(table.columns[1].rows[2], RawColumn::kNull);
  EXPECT_EQ(format_csv(table), "a,b\n1,\"x, \"\"y\"\"\"\n,\n3,\n4,5\n");
  EXPECT_FALSE(parse_csv(""));
  EXPECT_FALSE(parse_csv("a,a\n1,2\n"));
}

TEST(EncodingTest, DatesGoThereAndBack) {
  for (const char* text : {"1970-01-01", "2000-02-29", "1899-12-31", "2026-11-15"})
    EXPECT_EQ(format_date(parse_date(text).value()), text);
  EXPECT_EQ(parse_date("1970-01-02").value(), 1);
  for (const char* text : {"1970-1-2x", "yesterday", "", "1970-13-01"})
    EXPECT_FALSE(parse_date(text));
}

TEST(EncodingTest, ValuesThatDoNotFitGoToTheNearestCodeAndNeverFail) {
  const auto specs =
      parse_specs(R"({"n": 5, "age": {"range": [0, 120]}, "ward": {"values": ["ICU", "ER"]}})");
  const RawTable raw = parse_csv("n,age,ward\n9,200,ICU\n-3,x,elsewhere\nabc,,ER\n2,30,\n").value();
  SeededRandom random(1);
  const auto encoded = encode(raw, specs.value(), {Epsilon::zero(), Delta::zero()}, random).value();
  EXPECT_EQ(encoded.table.columns[0], (std::vector<std::uint16_t>{4, 0, 0, 2}));
  EXPECT_EQ(encoded.table.columns[1],
            (std::vector<std::uint16_t>{120, 121, 121, 30}));  // 121: NULL
  EXPECT_EQ(encoded.table.columns[2], (std::vector<std::uint16_t>{0, 2, 1, 2}));
  Dice dice(1, 0);
  const RawTable back = decode(encoded.table, encoded.codecs, dice);
  EXPECT_EQ(format_csv(back), "n,age,ward\n4,120,ICU\n0,,\n0,,ER\n2,30,\n");
}

TEST(EncodingTest, WideRangesAreBinnedByPrivateQuantilesAndSpikesStayAlone) {
  std::string text = "pay,day\n";
  for (int i = 0; i < 4000; ++i)
    text += (i % 2 == 0 ? "0" : std::to_string(1000 + i)) + ",2020-0" + std::to_string(1 + i % 9) +
            "-05\n";
  const auto specs = parse_specs(
      R"({"pay": {"range": [0, 100000], "nullable": false}, "day": {"range": ["2000-01-01", "2026-01-01"]}})");
  ASSERT_TRUE(specs);
  EXPECT_EQ(columns_to_find(*specs), 2u);
  SeededRandom random(2);
  const auto encoded =
      encode(parse_csv(text).value(), *specs, {Epsilon::make(20).value(), Delta::zero()}, random)
          .value();
  const auto& bins = encoded.codecs[0].bins;
  ASSERT_LT(bins.size(), 40u);
  EXPECT_EQ(bins[0].low, 0);
  EXPECT_EQ(bins[0].high, 0);  // half the rows: a bin of its own
  std::int64_t next = 0;
  for (const auto& bin : bins) {
    EXPECT_EQ(bin.low, next);
    next = bin.high + 1;
  }
  EXPECT_EQ(next, 100001);
  Dice dice(3, 0);
  for (const std::uint16_t code : encoded.table.columns[1]) {
    const auto day = encoded.codecs[1].decode(code, dice);
    ASSERT_TRUE(day);
    EXPECT_TRUE(parse_date(*day));
  }
}

TEST(EncodingTest, KeysOfOnePersonStayPrivateAndSharedKeysAreKept) {
  std::string text = "zip\n";
  for (int i = 0; i < 3000; ++i) text += "z" + std::to_string(i % 3) + "\n";
  for (int i = 0; i < 200; ++i) text += "alone" + std::to_string(i) + "\n";
  const auto specs = parse_specs(R"({"zip": {}})").value();
  SeededRandom random(3);
  const auto encoded = encode(parse_csv(text).value(), specs,
                              {Epsilon::make(1).value(), Delta::make(1e-9).value()}, random)
                           .value();
  ASSERT_EQ(encoded.table.domain[0].size, 4u);  // three keys and NULL
  EXPECT_EQ(encoded.codecs[0].bins[0].text, "z0");
}

TEST(MarginalTest, CountsAreThoseOfTheRowsWhateverTheThreads) {
  SeededRandom random(4);
  Dice dice(random);
  CodedTable table{Domain::parse(R"({"a": 5, "b": 3, "c": 7})").value(), {}};
  for (const Attribute& attribute : table.domain.attributes()) {
    auto& column = table.columns.emplace_back();
    for (int i = 0; i < 10'000; ++i)
      column.push_back(static_cast<std::uint16_t>(dice.below(attribute.size)));
  }
  const std::vector<Clique> cliques = {{0}, {2, 0}, {0, 1, 2}};
  Workers one(1), three(3);
  const auto counts = count_marginals(table, cliques, one);
  EXPECT_EQ(counts, count_marginals(table, cliques, three));
  std::vector<std::int64_t> slow(35, 0);
  for (std::size_t row = 0; row < table.rows(); ++row)
    ++slow[table.columns[2][row] * 5u + table.columns[0][row]];
  EXPECT_EQ(counts[1], slow);
}

TEST(MarginalTest, CountsOfPackedBitsAreThoseOfTheRows) {
  SeededRandom random(5);
  Dice dice(random);
  for (const std::size_t rows : {0u, 1u, 63u, 64u, 700u, 40'000u}) {
    CodedTable table{
        Domain::parse(R"({"a": 2, "b": 3, "c": 4, "d": 2, "e": 7, "f": 1, "g": 64})").value(), {}};
    for (const Attribute& attribute : table.domain.attributes()) {
      auto& column = table.columns.emplace_back();
      for (std::size_t i = 0; i < rows; ++i)
        column.push_back(static_cast<std::uint16_t>(dice.below(attribute.size)));
    }
    const std::vector<Clique> cliques = {{0},       {4},          {6},       {0, 1},
                                         {3, 0, 2}, {2, 1, 0},    {4, 5, 2}, {0, 3},
                                         {0, 1, 4}, {0, 1, 2, 3}, {4, 6},    {1, 2, 4}};
    Workers workers(2);
    const auto counts = count_marginals(table, cliques, workers);
    for (std::size_t i = 0; i < cliques.size(); ++i)
      EXPECT_EQ(counts[i], count_marginal(table, cliques[i])) << rows << " rows, marginal " << i;
  }
}

}  // namespace
}  // namespace discreet::synth
