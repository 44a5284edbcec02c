// One statistical test of a release: its noisy sums, and the text of its result.
//
// make() sees no data. release() draws the noise for one group of the question (GROUP BY) and hands
// the noisy sums to inference/, which is post-processing; the text is a JSON object.
//
// Guarantee: epsilon-DP under add/remove of a unit, for all groups of the question together: groups
//            exclude each other, and so do the samples and cells of one test.
// Assumes:   one row per unit, values within their bounds (question.h).
// Proof:     docs/proofs/box_norm.md, docs/proofs/inference.md
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "curator/joint_moments.h"
#include "inference/joint_sums.h"
#include "inference/mean_tests.h"

namespace discreet {

class TestJob {
 public:
  /// InvalidParameter: epsilon or a range that the mechanism does not take.
  static Result<TestJob> make(const sql::Release& release, std::size_t aggregate, Epsilon epsilon);

  std::string release(const GroupTotals& totals, RandomSource& random) const;

  std::size_t aggregate() const { return aggregate_; }
  const char* mechanism() const;
  /// Of the estimate, for 1,000 rows of a third of the range's half as standard deviation (in each
  /// sample); nothing where the estimate is not a mean, a share or a difference of two.
  std::optional<double> error95_before() const;

  /// Could one row have made this? The cells of one test exclude each other, and so do its samples.
  static bool from_one_row(const sql::TestRelease& test, const WholesView& features);

 private:
  using Mechanism =
      std::variant<inference::MomentsMechanism, inference::JointSumsMechanism, DiscreteLaplace>;
  TestJob(const sql::TestRelease& test, std::size_t aggregate, Epsilon epsilon, Mechanism mechanism)
      : test_(&test), aggregate_(aggregate), epsilon_(epsilon), mechanism_(std::move(mechanism)) {}

  const sql::TestRelease* test_;
  std::size_t aggregate_;
  Epsilon epsilon_;
  Mechanism mechanism_;
};

/// {"estimate": ..., "low": ..., ...} of a quantile, values in the column's own measure.
std::string quantile_text(double estimate, double low, double high, double rows);

}  // namespace discreet
