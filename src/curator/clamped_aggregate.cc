#include "curator/clamped_aggregate.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "curator/estimates.h"
#include "random/discrete_laplace_sampler.h"
#include "random/pooled_random.h"

namespace discreet {
namespace {

constexpr double kReach = 0x1p60;  // bounds are cut here: nothing on a grid gets near
constexpr int kMeanBits = 20;      // means of whole numbers are not whole
constexpr double kMeanReach = 0x1p50;

// The grid point at or next to `bound` on the inner side. A bound that was meant to lie on the grid
// (0.07 on a grid of 0.01) and misses it by rounding alone is on it.
std::int64_t inwards(double bound, double unit, bool is_lower) {
  const double scaled = std::clamp(bound / unit, -kReach, kReach);
  const double near = std::nearbyint(scaled);
  if (std::fabs(scaled - near) <= 0x1p-50 * std::fabs(scaled))
    return static_cast<std::int64_t>(near);
  return static_cast<std::int64_t>(is_lower ? std::ceil(scaled) : std::floor(scaled));
}

std::int64_t magnitude(std::int64_t value) {
  return value < 0 ? -value : value;  // within 2^60
}

}  // namespace

bool has_bounds_per_group(const sql::AggregateRelease& aggregate) {
  return aggregate.asked && !aggregate.asked->per_row;
}

Result<ClampedAggregate> ClampedAggregate::make(const sql::Release& release, std::size_t aggregate,
                                                Epsilon epsilon, std::uint64_t groups_max) {
  const sql::AggregateRelease& asked = release.aggregates[aggregate];
  DISCREET_CHECK(has_bounds_per_group(asked), "bounds per group were asked for");
  DISCREET_CHECK(groups_max > 0, "a unit may have a group");
  ClampedAggregate made(asked, epsilon, groups_max);
  made.use_.aggregate = aggregate;
  const auto unit_of = [&](std::size_t feature) {
    return release.values[*release.features[feature].value].grid.unit();
  };
  double unit = 1;
  if (const auto* count = std::get_if<sql::CountRelease>(&asked.kind)) {
    made.total_ = count->rows;
    made.presence_ = asked.filter_rows;
  } else if (std::holds_alternative<sql::CountUnitsRelease>(asked.kind)) {
    made.presence_ = asked.filter_rows;
  } else if (const auto* sum = std::get_if<sql::SumRelease>(&asked.kind)) {
    made.total_ = sum->sum;
    made.presence_ = sum->count;
    made.use_.raw = true;
    made.use_.linear = 0;
    unit = unit_of(sum->sum);
  } else if (const auto* avg = std::get_if<sql::AvgRelease>(&asked.kind)) {
    made.total_ = avg->sum;
    made.presence_ = avg->count;
    made.is_mean_ = true;
    unit = unit_of(avg->sum);
    const double reach =
        std::max({1.0, std::fabs(asked.asked->lower), std::fabs(asked.asked->upper)}) / unit;
    while (made.mean_bits_ < kMeanBits && std::ldexp(reach, made.mean_bits_ + 1) <= kMeanReach)
      ++made.mean_bits_;
    unit = std::ldexp(unit, -made.mean_bits_);
  } else {
    return Error{ErrorCode::Refused,
                 fmt::format("{} cannot be answered under contribution_bounds_per_group, which is "
                             "for COUNT, SUM and AVG. Leave the bounds out, or bound the values "
                             "themselves with contribution_bounds_per_row.",
                             asked.text)};
  }
  made.lower_ = inwards(asked.asked->lower, unit, true);
  made.upper_ = inwards(asked.asked->upper, unit, false);
  if (made.lower_ > made.upper_)
    return invalid_parameter(
        fmt::format("{}: no value lies between the contribution bounds {} and {}, since values "
                    "come in steps of {}",
                    asked.text, asked.asked->lower, asked.asked->upper, unit));
  made.use_.x.grid_unit = unit;

  const Rational per_group = exact_rational(epsilon.value()).value() / Rational(groups_max);
  if (made.is_mean_) {
    Centre& x = made.use_.x;
    x.middle = made.lower_ + (made.upper_ - made.lower_) / 2;
    x.half = std::max<std::int64_t>(1, std::max(made.upper_ - x.middle, x.middle - made.lower_));
    x.below = x.above = static_cast<double>(x.half);
    made.use_.count = 0;
    made.use_.linear = 1;
    // An average divides the count's error away, the sum's it keeps: the sum gets twice as much.
    made.rates_ = {per_group / 3, per_group * 2 / 3 / Rational(x.half)};
  } else {
    const std::int64_t most = std::max(magnitude(made.lower_), magnitude(made.upper_));
    made.rates_ = {per_group / Rational(std::max<std::int64_t>(1, most))};
  }
  for (const Rational& rate : made.rates_)
    if (!GeometricSampler::check(rate))
      return invalid_parameter(
          fmt::format("{}: this epsilon is too small for contribution bounds this wide: the noise "
                      "would not fit 64 bits",
                      asked.text));
  return made;
}

bool ClampedAggregate::takes_part(WholesView features) const {
  return !presence_ || features[*presence_] > 0;
}

Int128 ClampedAggregate::clamped(WholesView features) const {
  Int128 value = total_ ? features[*total_] : Int128{1};
  if (is_mean_) {
    // Whole part and rest apart, so that nothing overflows; both round towards zero.
    const Int128 rows = features[*presence_];
    const Int128 whole = std::clamp<Int128>(value / rows, -(Int128{1} << 64), Int128{1} << 64);
    const Int128 part = ((value % rows) * (Int128{1} << mean_bits_)) / rows;
    value = whole * (Int128{1} << mean_bits_) + part;
  }
  return std::clamp<Int128>(value, lower_, upper_);
}

void ClampedAggregate::prepare_noise(std::size_t groups, NoiseAhead& ahead) const {
  for (const Rational& rate : rates_)
    ahead.prepare(DiscreteLaplaceSampler::make(rate).value(), groups);
}

ReleasedColumn ClampedAggregate::release(const Contributions& contributions, std::size_t groups,
                                         RandomSource& random) const {
  DISCREET_CHECK(contributions.groups_limit() <= groups_max_,
                 "every unit keeps at most the groups that the noise is made for");
  std::vector<std::vector<Int128>> cells(rates_.size(), std::vector<Int128>(groups));
  for (std::size_t unit = 0; unit < contributions.units(); ++unit)
    for (std::size_t row = contributions.begin(unit); row < contributions.end(unit); ++row) {
      const auto features = contributions.values(row);
      if (!takes_part(features)) continue;
      const std::uint32_t group = contributions.group(row);
      if (is_mean_) {
        cells[0][group] += 1;
        cells[1][group] += clamped(features) - use_.x.middle;
      } else {
        cells[0][group] += clamped(features);
      }
    }
  std::vector<std::int64_t> noise(groups);
  for (std::size_t sum = 0; sum < rates_.size(); ++sum) {
    draw_noise(DiscreteLaplaceSampler::make(rates_[sum]).value(), noise, random);
    for (std::size_t group = 0; group < groups; ++group) cells[sum][group] += noise[group];
  }

  // From here on everything is post-processing.
  const double floor = std::max(1.0, 4 * static_cast<double>(groups_max_) / epsilon_.value());
  const std::vector<double> sd = noise_sd();
  ReleasedColumn column;
  for (std::size_t group = 0; group < groups; ++group) {
    NoisyGroup noisy{{}, sd};
    for (const auto& of_sum : cells) noisy.value.push_back(static_cast<double>(of_sum[group]));
    const Estimated e = estimate(*asked_, use_, noisy, floor);
    column.values.emplace_back(e.value);
    column.error95.emplace_back(e.error95);
  }
  return column;
}

std::vector<double> ClampedAggregate::noise_sd() const {
  std::vector<double> sd;
  for (const Rational& rate : rates_) sd.push_back(laplace_sd(rate));
  return sd;
}

std::optional<double> ClampedAggregate::error95_before() const {
  if (is_mean_) return std::nullopt;
  return whole_error95(noise_sd().front()) * use_.x.grid_unit;
}

}  // namespace discreet
