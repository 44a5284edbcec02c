#include "curator/centred_sums.h"

#include <algorithm>
#include <cmath>

#include "mechanisms/discrete_laplace.h"

namespace discreet {
namespace {

constexpr double kTestShare = 0.02, kCrudeShare = 0.1, kCrudeSearchShare = 0.5,
                 kSearchShare = 1.0 / 6;
// Fewer units than this over epsilon do not pay for a crude mean.
constexpr double kUnitsMin = 1000;
// The crude mean is used where its count stands out of its noise by this many deviations.
constexpr double kCountDeviations = 10;

}  // namespace

Result<CentredSums> CentredSums::make(Epsilon epsilon, std::vector<Sum> sums,
                                      std::vector<CentredColumn> columns, ClipOptions options) {
  DISCREET_CHECK(!columns.empty(), "there is something to move");
  std::vector<Sum> crude_sums;
  for (const CentredColumn& column : columns) {
    crude_sums.push_back(sums[column.count]);
    crude_sums.push_back(sums[column.sum]);
    crude_sums.back().weight = 1;
  }
  DISCREET_TRY(const Epsilon test, Epsilon::make(mul_down(kTestShare, epsilon.value())));
  DISCREET_TRY(const Epsilon tested, Epsilon::make(sub_down(epsilon.value(), test.value())));
  DISCREET_TRY(const Epsilon crude, Epsilon::make(mul_down(kCrudeShare, epsilon.value())));
  DISCREET_TRY(const Epsilon rest, Epsilon::make(sub_down(tested.value(), crude.value())));
  DISCREET_TRY(ClippedSums plain, ClippedSums::make(tested, sums, options));
  DISCREET_TRY(ClippedSums first, ClippedSums::make(crude, std::move(crude_sums),
                                                    {.rows_max = options.rows_max,
                                                     .size_max = std::nullopt,
                                                     .search_share = kCrudeSearchShare,
                                                     .one_group = true,
                                                     .delta = Delta::zero()}));
  options.search_share = kSearchShare;
  // The second phase's limits do not depend on where the centres are: found impossible now.
  DISCREET_TRY([[maybe_unused]] const ClippedSums second, ClippedSums::make(rest, sums, options));
  return CentredSums(std::move(sums), std::move(columns), std::move(first), std::move(plain), test,
                     rest, options);
}

CentredRelease CentredSums::release(const Contributions& contributions, std::size_t groups,
                                    RandomSource& random) const {
  CentredRelease out;
  // One unit changes their number by one.
  const auto units = DiscreteLaplace::make(test_, L1Sensitivity{1});
  const auto noisy = static_cast<double>(
      units.value().release(static_cast<std::int64_t>(contributions.units()), random));
  if (noisy * rest_.value() < kUnitsMin) {
    for (const CentredColumn& column : columns_) out.centres.push_back(column.middle);
    out.sums = plain_.release(contributions, groups, random);
    return out;
  }
  const NoisySums crude = crude_.release(contributions, 1, random);
  std::vector<Sum> sums = sums_;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const CentredColumn& column = columns_[i];
    const auto count = static_cast<double>(crude.cells[2 * i][0]);
    const auto moved = static_cast<double>(crude.cells[2 * i + 1][0]);
    std::int64_t centre = column.middle;
    if (count > kCountDeviations * crude.noise_sd[2 * i])
      centre = std::clamp(
          column.middle + static_cast<std::int64_t>(std::clamp(moved / count, -0x1p61, 0x1p61)),
          column.lower, column.upper);
    out.centres.push_back(centre);
    Sum& sum = sums[column.sum];
    std::erase_if(sum.terms,
                  [&](const Sum::Term& term) { return term.feature == column.count_feature; });
    if (centre != 0) sum.terms.push_back({column.count_feature, -Int128{centre}});
  }
  const auto second = ClippedSums::make(rest_, std::move(sums), options_);
  out.sums = second.value().release(contributions, groups, random);
  return out;
}

double CentredSums::noise_sd_per_row(std::size_t sum) const {
  return ClippedSums::make(rest_, sums_, options_).value().noise_sd_per_row(sum);
}

}  // namespace discreet
