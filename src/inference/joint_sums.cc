#include "inference/joint_sums.h"

#include <fmt/format.h>

namespace discreet::inference {

Result<JointSumsMechanism> JointSumsMechanism::make(Epsilon epsilon,
                                                    std::vector<RegressionColumn> columns) {
  if (columns.empty() || columns.size() > kColumnsMax)
    return invalid_parameter(
        fmt::format("a joint release takes 1 to {} columns, not {}", kColumnsMax, columns.size()));
  std::vector<Int128> most = {1};
  for (const auto& column : columns) {
    DISCREET_TRY_VOID(check_range(column.range));
    const Int128 width = Int128{column.range.upper} - column.range.lower;
    if (width == 0) return invalid_parameter("a column whose range is one value explains nothing");
    if (width > (Int128{1} << 36))
      return invalid_parameter("a column's range must span at most 2^36 steps; use a coarser grid");
    most.push_back(width);
  }
  for (std::size_t i = 1; i <= columns.size(); ++i)
    for (std::size_t j = i; j <= columns.size(); ++j) most.push_back(most[i] * most[j]);
  DISCREET_TRY(auto box, BoxNorm::make(epsilon, std::move(most)));
  return JointSumsMechanism(std::move(box), std::move(columns));
}

void fill_joint_sums(std::span<const double> features, NoisyJointSums& into) {
  const std::size_t d = into.columns, side = d + 1;
  into.sums.assign(side * side, 0);
  into.sums[0] = features[0];
  for (std::size_t i = 1; i <= d; ++i) into.sums[i] = into.sums[i * side] = features[i];
  std::size_t next = side;
  for (std::size_t i = 1; i <= d; ++i)
    for (std::size_t j = i; j <= d; ++j, ++next)
      into.sums[i * side + j] = into.sums[j * side + i] =
          i == j ? (features[next] + features[0]) / 2 : features[next];
}

NoisyJointSums JointSumsMechanism::release(Int128 rows, std::span<const Int128> sums,
                                           std::span<const Int128> products,
                                           RandomSource& random) const {
  const std::size_t d = columns_.size();
  DISCREET_CHECK(sums.size() == d && products.size() == d * (d + 1) / 2,
                 "one sum a column, one sum of products a pair");
  // With w_i the width: w_i z_i = 2 x_i - e_i, e_i the sum of the ends.
  std::vector<Int128> exact = {rows}, ends, width;
  for (std::size_t i = 0; i < d; ++i) {
    const IntegerRange range = columns_[i].range;
    ends.push_back(Int128{range.lower} + range.upper);
    width.push_back(Int128{range.upper} - range.lower);
    exact.push_back(2 * sums[i] - rows * ends[i]);
  }
  std::size_t next = 0;
  for (std::size_t i = 0; i < d; ++i)
    for (std::size_t j = i; j < d; ++j, ++next) {
      const Int128 product = 4 * products[next] - 2 * ends[i] * sums[j] - 2 * ends[j] * sums[i] +
                             rows * ends[i] * ends[j];
      exact.push_back(i == j ? 2 * product - rows * width[i] * width[i] : product);
    }
  NoisyJointSums noisy;
  noisy.columns = d;
  noisy.noise_sd = box_.noise_sd();
  noisy.epsilon = box_.epsilon().value();
  for (std::size_t i = 0; i < d; ++i) {
    noisy.middle.push_back(static_cast<double>(ends[i]) / 2 * columns_[i].unit);
    noisy.half.push_back(static_cast<double>(width[i]) / 2 * columns_[i].unit);
  }
  fill_joint_sums(box_.release(exact, random), noisy);
  return noisy;
}

NoisyJointSums JointSumsMechanism::release(std::span<const std::vector<std::int64_t>> rows,
                                           RandomSource& random) const {
  const std::size_t d = columns_.size();
  std::vector<Int128> sums(d), products(d * (d + 1) / 2);
  for (const auto& row : rows) {
    DISCREET_CHECK(row.size() == d, "one value a column");
    std::size_t next = 0;
    for (std::size_t i = 0; i < d; ++i) {
      const Int128 x = columns_[i].range.clamp(row[i]);
      sums[i] += x;
      for (std::size_t j = i; j < d; ++j, ++next)
        products[next] += x * columns_[j].range.clamp(row[j]);
    }
  }
  return release(static_cast<Int128>(rows.size()), sums, products, random);
}

}  // namespace discreet::inference
