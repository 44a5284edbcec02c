#include "mechanisms/extreme.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "mechanisms/for_error.h"
#include "random/interval_weights.h"
#include "random/uniform.h"

namespace discreet {

Result<Extreme> Extreme::for_rows_beyond(double rows, double confidence, ExtremeSide side,
                                         IntegerRange range, double caution) {
  if (!(confidence > 0 && confidence < 1))
    return invalid_parameter("confidence must lie strictly between 0 and 1");
  return least_epsilon_for_error(
      rows, {0x1p-40, 0x1p20}, [&](Epsilon epsilon) { return make(epsilon, side, range, caution); },
      [&](const Extreme& mechanism) { return mechanism.rows_beyond_bound(confidence); });
}

Result<Extreme> Extreme::make(Epsilon epsilon, ExtremeSide side, IntegerRange range,
                              double caution) {
  DISCREET_TRY_VOID(check_range(range));
  if (epsilon.value() < 0x1p-40 || epsilon.value() > 0x1p20)
    return invalid_parameter(
        fmt::format("epsilon must lie between 2^-40 and 2^20, not {}", epsilon.value()));
  if (!(caution >= 0 && caution <= 100))
    return invalid_parameter(fmt::format("caution must lie between 0 and 100, not {}", caution));
  const double log_size = std::log(count_up(range.size()));
  const double tau = std::ceil(caution * log_size / (0.75 * epsilon.value()));
  // The extreme beats each other value by exp(epsilon / 8) at least, hence all of them together
  // with chance 1 - e^-7.
  const bool decisive = epsilon.value() >= 8 * (log_size + 7) && caution > 0;
  return Extreme(epsilon, side, range, decisive ? 1 : 2 * static_cast<std::uint64_t>(tau));
}

std::int64_t Extreme::release(std::span<const std::int64_t> values, RandomSource& random) const {
  // Distances are eight times the score: a row above counts two, one that is missing six.
  // The minimum is the maximum of the mirrored values; indices run from 0 at the safe end.
  const bool maximum = side_ == ExtremeSide::Maximum;
  std::vector<std::uint64_t> sorted(values.size());
  std::transform(values.begin(), values.end(), sorted.begin(), [&](std::int64_t value) {
    const std::int64_t kept = range_.clamp(value);
    return static_cast<std::uint64_t>(maximum ? kept : range_.upper) -
           static_cast<std::uint64_t>(maximum ? range_.lower : kept);
  });
  std::sort(sorted.begin(), sorted.end());

  std::vector<IntervalWeight> candidates;
  std::vector<std::uint64_t> starts;
  const auto consider = [&](std::uint64_t start, std::uint64_t length, std::uint64_t above,
                            std::uint64_t reach) {
    const UInt128 twice_above = UInt128{2} * above, twice_reach = UInt128{2} * reach;
    const UInt128 many = twice_above > twice_tau_ ? twice_above - twice_tau_ : 0;
    const UInt128 few = twice_tau_ > twice_reach ? twice_tau_ - twice_reach : 0;
    candidates.push_back({length, many + 3 * few});
    starts.push_back(start);
  };
  const std::size_t n = sorted.size();
  std::uint64_t next = 0;
  for (std::size_t i = 0; i < n;) {
    std::size_t j = i;
    while (j < n && sorted[j] == sorted[i]) ++j;
    if (sorted[i] > next) consider(next, sorted[i] - next, n - i, n - i);
    consider(sorted[i], 1, n - j, n - i);
    next = sorted[i] + 1;
    i = j;
  }
  if (next < range_.size()) consider(next, range_.size() - next, 0, 0);

  const std::size_t chosen = draw_interval(candidates, powers_, random);
  const auto offset =
      static_cast<std::int64_t>(starts[chosen] + uniform_below(candidates[chosen].length, random));
  return maximum ? range_.lower + offset : range_.upper - offset;
}

LossEvent Extreme::loss() const {
  return loss::BoundedRange{epsilon_};
}

double Extreme::rows_beyond_bound(double confidence) const {
  DISCREET_CHECK(confidence > 0 && confidence < 1, "confidence within (0, 1)");
  // A value with more than tau + t rows beyond scores below -t/4, one with a score of zero exists
  // whenever more than tau rows do, and there are at most `size` values.
  const double excess =
      div_up(mul_up(4, log_up(div_up(count_up(range_.size()), sub_down(1, confidence)))),
             epsilon_.value());
  return add_up(tau(), excess);
}

}  // namespace discreet
