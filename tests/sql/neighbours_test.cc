// Without one person, exactly their rows are gone: random statements, each with somebody taken out,
// and what shows that the comparison can fail.
#include <cstdlib>
#include <iostream>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include "random_statements.h"
#include "support/seeded_random.h"
#include "world.h"

namespace discreet::sql {
namespace {

/// Rows and a digest of them in one row: what differs is then shown by check_neighbour.
std::string digest(const std::string& sql, std::size_t number = 0) {
  return fmt::format("SELECT count(*) AS n{0}, sum(hash(r)) AS h{0} FROM ({1}) r", number, sql);
}

/// Guarantee (b): every q is within its bounds, so a row adds no more than was planned.
std::string outside_bounds(const Release& release) {
  std::string outside = "false";
  for (std::size_t i = 0; i < release.values.size(); ++i)
    if (release.values[i].type.kind != TypeKind::Text)
      outside += fmt::format(" OR q{0} < {1} OR q{0} > {2}", i + 1, release.values[i].lower,
                             release.values[i].upper);
  return fmt::format("SELECT count(*) AS outside FROM ({}) WHERE {}", release.rows_sql, outside);
}

/// One statement for each of the two worlds; only where they differ is looked at what differs.
void compare_without(const Release& release, const std::string& person) {
  const bool of_removed = release.people == "patients.patient_id";
  std::vector<std::string> all{release.partials_sql};
  for (const auto& stream : release.streams) all.push_back(stream.sql);
  std::string with, without;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto kept =
        of_removed ? fmt::format("SELECT * FROM ({}) WHERE unit <> {}", all[i], person) : all[i];
    with += fmt::format("({}), ", digest(kept, i));
    without += fmt::format("{}({})", i == 0 ? "" : ", ", digest(all[i], i));
  }
  const std::string one_row =
      release.bounds.one_row_per_unit
          ? fmt::format(
                "SELECT coalesce(max(n), 0) <= 1 AS single FROM (SELECT count(*) AS n FROM ({}) "
                "GROUP BY unit)",
                release.rows_sql)
          : "SELECT true AS single";
  const auto here =
      world("hospital")
          .rows(fmt::format("SELECT * FROM {}({}), ({})", with, outside_bounds(release), one_row));
  const auto there =
      world("hospital", "remove", person).rows(fmt::format("SELECT * FROM {}", without));
  ASSERT_TRUE(here.has_value() && there.has_value()) << World::last_engine_message();
  ASSERT_EQ(there->size(), 1u);
  if (*here == std::vector<std::string>{there->front() + "|0|true"}) return;
  check_neighbour("hospital", release, person);
  EXPECT_EQ(here->front(), there->front() + "|0|true")
      << "digests, values outside their bounds, one row per unit\n"
      << release.rows_sql;
}

/// DISCREET_SQL_CASES statements (600 unless told; the slow suite asks for 100,000), each with
/// another person taken out.
TEST(SqlNeighboursTest, NoRandomStatementLetsOnePersonChangeAnothersRows) {
  const char* asked = std::getenv("DISCREET_SQL_CASES");
  const int cases = asked == nullptr ? 600 : std::atoi(asked);
  const std::vector<std::string> people = {"7", "1", "64", "150", "199"};  // the last has no visits
  SeededRandom random(20261115);
  Statements statements(random);
  int planned_count = 0, refused = 0, released = 0, known = 0;
  std::set<std::string> seen;
  for (int i = 0; i < cases; ++i) {
    const auto text = statements.next();
    const auto& person = people[random.bits64() % people.size()];
    SCOPED_TRACE(text + "\nwithout " + person);
    const auto planned = world("hospital").plan(text);
    if (!planned) {
      ++refused;
      continue;
    }
    ++planned_count;
    for (const Release& release : planned->releases) {
      if (!release.needs.empty() || release.unit_is_row) continue;
      ++released;
      // Short statements repeat: what was compared once need not be again.
      if (!seen.insert(person + release.rows_sql + release.partials_sql).second) {
        ++known;
        continue;
      }
      compare_without(release, person);
    }
    if (HasFailure()) break;
  }
  std::cout << cases << " statements: " << planned_count << " planned, " << refused << " refused, "
            << released << " releases compared, " << known << " of them seen before\n";
  RecordProperty("releases_compared", released);
  EXPECT_GT(released, cases / 6);
  EXPECT_GT(refused, cases / 6);
}
void compare_planted_leak() {
  Release release;
  release.people = "patients.patient_id";
  release.partials_sql =
      "SELECT p.patient_id AS unit, count(*) AS f1 FROM patients p JOIN visits v ON p.ward = "
      "v.ward "
      "GROUP BY p.patient_id";
  check_neighbour("hospital", release);
}

TEST(SqlNeighboursTest, TheComparisonCatchesAPlantedJoinWithoutTheUnit) {
  EXPECT_NONFATAL_FAILURE(compare_planted_leak(), "another unit's rows changed");
}

TEST(SqlNeighboursTest, ADigestSeesAChangedRowAndAValueOutsideItsBounds) {
  const std::string rows = "SELECT patient_id AS unit, age AS f1 FROM patients";
  const auto all = world("hospital").rows(digest(rows));
  EXPECT_NE(all.value(), world("hospital").rows(digest(rows + " WHERE age <> 30")).value());
  EXPECT_NE(all.value(), world("hospital")
                             .rows(digest("SELECT patient_id AS unit, age + (patient_id = "
                                          "11)::INTEGER AS f1 FROM patients"))
                             .value());
  Release release;
  release.rows_sql = "SELECT age AS q1 FROM patients";
  release.values.push_back({{}, integer_type(), 0, 90, BoundsOrigin::Declared, "age"});
  EXPECT_NE(world("hospital").rows(outside_bounds(release)).value(),
            std::vector<std::string>{"|0"});
}
}  // namespace
}  // namespace discreet::sql
