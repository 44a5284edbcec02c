// Tries to refute the privacy of whole statements.
#include "statement_audit.h"

namespace discreet {
namespace {

TEST_F(StatementAuditTest, CountsByPublicKey) {
  EXPECT_LE(audit("SELECT sex, count(*) FROM people GROUP BY sex"), 1);
  EXPECT_LE(audit("SELECT sex, count(*) FROM visits GROUP BY sex"), 1);
}

TEST_F(StatementAuditTest, SumsOfSeveralRowsAPersonAreClipped) {
  EXPECT_LE(audit("SELECT sum(x) FROM visits", 4), 1);
}

TEST_F(StatementAuditTest, AveragesOfRowsThatAreUnits) {
  EXPECT_LE(audit("SELECT avg(x) FROM answers", 0.1), 1);
}

TEST_F(StatementAuditTest, PrivateKeysAndTheOrderInWhichTheyLeave) {
  EXPECT_LE(audit("SELECT town, count(*) FROM people GROUP BY town", 4, 0.05), 1);
  EXPECT_LE(audit("SELECT town, count(*) FROM visits GROUP BY town", 4, 0.05), 1);
}

TEST_F(StatementAuditTest, MediansAndDifferentValues) {
  EXPECT_LE(audit("SELECT median(x) FROM calls"), 1);
  EXPECT_LE(audit("SELECT count(DISTINCT x) FROM calls"), 1);
}

// The broken twin: the curator is told that everybody has one row, and adds up eight.
TEST_F(StatementAuditTest, ASumWithoutClippingIsCaught) {
  sql::Release release = plan("SELECT sum(x) FROM visits").releases.front();
  release.bounds.one_row_per_unit = true;
  std::string totals;
  for (const auto& feature : release.features)
    totals += "sum(" + feature.column + ") AS " + feature.column + ", ";
  release.totals_sql = "SELECT " + totals + "count(*) AS units FROM (" + release.partials_sql + ")";
  EXPECT_GT(audit(release, claim(), 4), 1);
}

// Groups are numbered as rows arrive; what leaves must be in an order that no row decides.
TEST_F(StatementAuditTest, PrivateKeysLeaveInOrderOfTheirValues) {
  const auto planned = plan("SELECT street, count(*) FROM people GROUP BY street");
  const auto job = ReleaseJob::make(planned.releases.front(),
                                    {Epsilon::make(100).value(), Delta::make(0.5).value()})
                       .value();
  SeededRandom random(20261118);
  const auto table = job.run(with_, random).value();
  EXPECT_EQ(table.keys.size(), 3U);
  EXPECT_TRUE(std::is_sorted(table.keys.begin(), table.keys.end()));
}

// The first group's aggregates, weighted and added up: what a draw that serves several of them must
// hide all at once.
std::int64_t weighted(const ReleasedTable& table, const std::vector<double>& weights) {
  double total = 0;
  for (std::size_t i = 0; i < weights.size(); ++i)
    total += weights[i] * std::get<double>(table.aggregates[i].values.front());
  return std::llround(std::clamp(total, -200.0, 200.0));
}

constexpr char kJoint[] =
    "SELECT count(*), sum(y), count(y), count(*) FILTER (WHERE x > 0) FROM answers";

TEST_F(StatementAuditTest, CountsAndSumsOfDifferentRowsShareOneDraw) {
  const auto all = plan(kJoint).releases.front();
  EXPECT_LE(audit(all, claim(), [](const auto& t) { return weighted(t, {1, 0.33, 1, 1}); }), 1);
  EXPECT_LE(audit(all, claim(), [](const auto& t) { return weighted(t, {1, 0, 0, 0}); }), 1);
  const auto two = plan("SELECT count(*), avg(y), sum(y) FROM answers").releases.front();
  EXPECT_LE(audit(two, claim(), [](const auto& t) { return weighted(t, {1, 0, 0.33}); }), 1);
}

TEST_F(StatementAuditTest, SumsAroundPrivateCentres) {
  const auto release = plan("SELECT sum(x), avg(x), count(x) FROM visits").releases.front();
  EXPECT_LE(audit(release, claim(), [](const auto& t) { return weighted(t, {0.5, 0, 0}); }), 1);
  EXPECT_LE(audit(release, claim(), [](const auto& t) { return weighted(t, {0, 0, 1}); }), 1);
}

// All cells of a release, added up.
std::int64_t total(const ReleasedTable& table, double grain) {
  double sum = 0;
  for (const Cell& cell : table.aggregates.front().values) sum += std::get<double>(cell);
  return std::llround(std::clamp(sum / grain, -1000.0, 1000.0));
}

bool says_gaussian(const ReleasedTable& table) {
  return std::any_of(table.notices.begin(), table.notices.end(), [](const std::string& notice) {
    return notice.find("Gaussian") != std::string::npos;
  });
}

TEST_F(StatementAuditTest, GaussianNoiseWhereUnitsHaveManyCells) {
  const auto release = plan("SELECT d, sum(x) FROM days GROUP BY d").releases.front();
  const ApproxDp offered{Epsilon::make(1).value(), Delta::make(1e-3).value()};
  int gaussian = 0;
  EXPECT_LE(audit(
                release, offered,
                [&](const ReleasedTable& t) {
                  gaussian += says_gaussian(t) ? 1 : 0;
                  return total(t, 20);
                },
                800),
            1);
  // All 41 have 30 cells; the test's noise has mean size 50, so it is a draw with an edge.
  std::cout << gaussian << " of 1600 runs were Gaussian\n";
  EXPECT_GT(gaussian, 800);
  EXPECT_LT(gaussian, 1600);
}

// The broken twin: the noise is for a thirty-second of what a unit adds.
TEST_F(StatementAuditTest, GaussianNoiseThatIsTooSmallIsCaught) {
  const auto release = plan("SELECT d, sum(x) FROM days GROUP BY d").releases.front();
  EXPECT_GT(audit(
                release, {Epsilon::make(32).value(), Delta::make(1e-3).value()},
                [](const auto& t) { return total(t, 20); }, 800),
            1);
}

TEST_F(StatementAuditTest, CellsOfCovariancesAndCorrelations) {
  EXPECT_LE(audit("SELECT covar_pop(x, y) FROM answers", 0.1), 1);
  EXPECT_LE(audit("SELECT corr(x, y) FROM answers", 0.1), 1);
}

// The broken twin: each of eight families is given the whole epsilon, as if no row were in two.
TEST_F(StatementAuditTest, FamiliesThatEachSpendTheWholeEpsilonAreCaught) {
  const auto planned = plan("SELECT count(*) FROM answers");
  const sql::Release& release = planned.releases.front();
  const auto one = DirectSums::make(release, plan_sums(release), claim().epsilon).value();
  const auto rows = [&](Int128 count) {
    return [&one, count](RandomSource& random) {
      std::vector<ReleasedColumn> columns(1);
      double total = 0;
      for (int family = 0; family < 8; ++family) one.release({{&count, 1}, count}, random, columns);
      for (const Cell& cell : columns.front().values) total += std::get<double>(cell);
      return static_cast<std::int64_t>(std::llround(total));
    };
  };
  AuditOptions options;
  options.trials = 20'000;
  options.confidence = 1 - 1e-7;
  SeededRandom random(20261119);
  const auto found = audit_epsilon(rows(10), rows(9), options, random);
  std::cout << "at least " << found.lower_bound << " (" << found.event << ")\n";
  EXPECT_GT(found.lower_bound, 1);
}

}  // namespace
}  // namespace discreet
