#include "curator/clipped_sums.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <mutex>

#include "base/parallel.h"
#include "curator/clipped_sums_internal.h"
#include "curator/clipping_internal.h"
#include "curator/estimates.h"
#include "mechanisms/bound_search.h"
#include "mechanisms/discrete_gaussian.h"
#include "mechanisms/discrete_laplace.h"
#include "random/discrete_laplace_sampler.h"
#include "random/pooled_random.h"

namespace discreet {
namespace {

// Sizes are whole numbers; a row of largest size counts 2^kSizeBits (bounded sums), so that
// rounding up costs nothing that can be seen.
constexpr int kSizeBits = 20;
constexpr double kTestShare = 0.02;
// The search has its whole share of epsilon up to this many cells, and never less than the least.
constexpr double kWholeShareCells = 4, kSearchShareMin = 0.1;
// The largest row is at least so many steps of the lattice on which clipped cells are added up.
constexpr UInt128 kFineMin = 4096;
// A cell counts no more than this, so that squares of all cells of a unit fit 128 bits.
constexpr std::int64_t kStepsMax = std::int64_t{1} << 44;

Error too_small() {
  return invalid_parameter(
      "this epsilon is too small for values of this range: the noise would not fit 64 bits");
}

// The least whole number whose square is at least `square`.
UInt128 root_up(UInt128 square) {
  auto root = static_cast<UInt128>(std::sqrt(static_cast<long double>(square)));
  while (root * root > square) --root;
  while (root * root < square) ++root;
  return root;
}

}  // namespace

Result<ClippedSums> ClippedSums::make(Epsilon epsilon, std::vector<Sum> sums, ClipOptions options) {
  DISCREET_CHECK(!sums.empty(), "a release of sums needs a sum");
  const bool bounded =
      std::all_of(sums.begin(), sums.end(), [](const Sum& s) { return s.bounded; });
  DISCREET_CHECK(sums.size() == 1 || bounded,
                 "sums without declared bounds are released one by one");
  if (!bounded) options.delta = Delta::zero();
  if (options.size_max) {
    DISCREET_CHECK(bounded, "a proved size is in rows of largest size");
    options.delta = Delta::zero();  // so few cells that Laplace noise is the least
    options.search_share = 0;
  }
  ClippedSums clipped(epsilon, std::move(sums), options);
  for (const Sum& sum : clipped.sums_) {
    Measure measure;
    measure.factor = static_cast<UInt128>(std::ldexp(sum.weight, kSizeBits));
    measure.row_max = static_cast<UInt128>(sum.row_max);
    // A clipped count of 1 is a part of 1: whole numbers alone would make it 0.
    while (sum.bounded && measure.row_max << measure.fine < kFineMin) ++measure.fine;
    measure.rows_max = static_cast<UInt128>(kStepsMax) / measure.factor;
    measure.narrow = measure.factor <= UInt128{1} << 21 && measure.row_max <= UInt128{1} << 42;
    if (measure.narrow)
      measure.by_row_max = Reciprocal(static_cast<std::uint64_t>(measure.row_max));
    if (sum.terms.size() == 1 && sum.terms.front().factor == 1)
      measure.plain = sum.terms.front().feature;
    if (sum.terms.size() == 2 && sum.terms[0].factor == 1) {
      measure.moved = sum.terms[0].feature;
      measure.by = sum.terms[1].feature;
      measure.times = sum.terms[1].factor;
    }
    clipped.measures_.push_back(measure);
  }
  DISCREET_TRY(clipped.noise_,
               Epsilon::make(sub_down(epsilon.value(), clipped.search_epsilon(1).value())));
  if (options.delta.value() > 0) {
    DISCREET_TRY(clipped.test_, Epsilon::make(mul_down(kTestShare, epsilon.value())));
  }

  // Bounded: from 1/64 of a row to all the rows a unit may have, by factors of sqrt(2).
  // Unbounded: from one grid unit to 2^50 of them.
  double weight = 0;
  for (const Sum& sum : clipped.sums_) weight += sum.weight;
  const double rows = options.rows_max ? static_cast<double>(*options.rows_max) : 0x1p20;
  const double first = bounded ? kSizeBits - 6 : 0;
  const double last = bounded ? kSizeBits + std::log2(weight * rows) : 50;
  for (double power = first; power < last + 0.5 && !options.size_max; power += 0.5)
    clipped.bounds_.push_back(static_cast<UInt128>(std::exp2(power)));
  if (options.size_max) clipped.bounds_ = {static_cast<UInt128>(*options.size_max) << kSizeBits};
  // The noise at the largest bound must still fit: bounds beyond that are left out, which is
  // decided before anything is charged. Nobody has that many rows of largest size where noise would
  // fit.
  const Epsilon least =
      Epsilon::make(sub_down(clipped.noise_.value(), clipped.test_.value())).value();
  const auto noise_fits = [&] {
    for (std::size_t sum = 0; sum < clipped.sums_.size(); ++sum)
      if (!GeometricSampler::check(clipped.rate(sum, to_big(clipped.bounds_.back()), least)))
        return false;
    return true;
  };
  const auto one_row = static_cast<UInt128>(bounded ? std::exp2(kSizeBits) * weight : 1);
  while (!noise_fits()) {
    clipped.bounds_.pop_back();
    if (clipped.bounds_.empty() || clipped.bounds_.back() < one_row) return too_small();
  }
  // The search's own noise must fit too, however many cells there will be.
  if (!options.size_max && !BoundSearch::make(clipped.search_epsilon(SIZE_MAX), 0))
    return too_small();
  if (options.delta.value() > 0) {
    const auto most = L2Sensitivity::make(static_cast<double>(clipped.bounds_.back()));
    if (!most || !DiscreteGaussian::make(ApproxDp{least, options.delta}, *most, 2))
      clipped.options_.delta = Delta::zero();  // Laplace noise fits
  }
  return clipped;
}

// size_of() with its sign, rounded towards zero: the cell on the lattice of sizes.
std::int64_t ClippedSums::steps_of(Int128 value, std::size_t sum) const {
  const UInt128 magnitude = absolute(value);
  const Measure& of = measures_[sum];
  std::int64_t steps = 0;
  if (of.narrow && magnitude >> 63 == 0) {
    const auto row = static_cast<std::uint64_t>(of.row_max),
               each = static_cast<std::uint64_t>(of.factor),
               m = static_cast<std::uint64_t>(magnitude), rows = of.by_row_max.of(m);
    steps =
        rows >= of.rows_max
            ? kStepsMax
            : static_cast<std::int64_t>(rows * each + of.by_row_max.of((m - rows * row) * each));
  } else {
    const UInt128 rows = magnitude / of.row_max;
    steps = rows >= of.rows_max
                ? kStepsMax
                : static_cast<std::int64_t>(rows * of.factor +
                                            magnitude % of.row_max * of.factor / of.row_max);
  }
  return value < 0 ? -steps : steps;
}

Rational ClippedSums::rate(std::size_t sum, const BigInt& bound, Epsilon noise_epsilon) const {
  const Rational noise = exact_rational(noise_epsilon.value()).value();
  if (!sums_[sum].bounded) return noise / Rational(bound);
  const BigInt factor = BigInt(static_cast<std::int64_t>(std::ldexp(sums_[sum].weight, kSizeBits)));
  return noise * Rational(factor, (to_big(measures_[sum].row_max) << measures_[sum].fine) * bound);
}

// One unit changes the difference by one.
bool ClippedSums::most_touch_many_cells(const Contributions& contributions,
                                        RandomSource& random) const {
  std::atomic<std::int64_t> difference = 0;
  contributions.for_each_piece([&](std::size_t unit, std::size_t last, std::size_t) {
    std::int64_t of_piece = 0;
    for (; unit < last; ++unit) {
      std::size_t touched = 0;
      each_cell(contributions, unit,
                [&](std::uint32_t, std::size_t, Int128 value) { touched += value != 0; });
      of_piece += touched > kLaplaceCellsMax ? 1 : -1;
    }
    difference += of_piece;
  });
  const auto noise = DiscreteLaplace::make(test_, L1Sensitivity{1});
  return noise.value().release(difference, random) > 0;
}

void ClippedSums::prepare_noise(std::size_t groups, NoiseAhead& ahead) const {
  if (!options_.size_max || options_.delta.value() > 0) return;
  for (std::size_t sum = 0; sum < sums_.size(); ++sum)
    ahead.prepare(DiscreteLaplaceSampler::make(rate(sum, to_big(bounds_.front()), noise_)).value(),
                  options_.one_group ? 1 : groups);
}

NoisySums ClippedSums::release(const Contributions& contributions, std::size_t groups,
                               RandomSource& random) const {
  if (options_.one_group) groups = 1;
  const std::size_t cells = groups * sums_.size();
  const double noise = sub_down(epsilon_.value(), search_epsilon(cells).value());
  if (options_.delta.value() == 0 || cells <= kLaplaceCellsMax)
    return release_laplace(contributions, groups, Epsilon::make(noise).value(), random);
  const Epsilon left = Epsilon::make(sub_down(noise, test_.value())).value();
  return most_touch_many_cells(contributions, random)
             ? release_gaussian(contributions, groups, left, random)
             : release_laplace(contributions, groups, left, random);
}

// A search among few cells stops at a few units above the bound and must not be misled by its own
// noise; among many it stops at many units, and what it does not need goes to the cells.
Epsilon ClippedSums::search_epsilon(std::size_t cells) const {
  const double whole = options_.search_share;
  const double more = static_cast<double>(std::max<std::size_t>(1, cells)) / kWholeShareCells;
  const double share = std::min(whole, std::max(kSearchShareMin, whole / std::sqrt(more)));
  return Epsilon::make(mul_down(share, epsilon_.value())).value();
}

UInt128 ClippedSums::find_bound(const std::vector<std::int64_t>& above, Epsilon noise,
                                std::size_t cells, RandomSource& random) const {
  if (options_.size_max) return bounds_.front();
  const auto search = BoundSearch::balanced(search_epsilon(cells), noise, cells);
  return bounds_[search.value().release(above, random)];
}

void ClippedSums::Sizes::count(const std::vector<std::int64_t>& just_above) {
  std::int64_t counted = 0;
  for (std::size_t i = above.size(); i-- > 0;) above[i] += counted += just_above[i + 1];
}

// The size of every unit, and how many are above each bound.
template <class SizeOf>
ClippedSums::Sizes ClippedSums::measure(const Contributions& contributions,
                                        const SizeOf& size_of_unit) const {
  Sizes sizes{RawVector<std::uint64_t>(contributions.units()),
              std::vector<std::int64_t>(bounds_.size())};
  const BoundsByWidth<UInt128> bounds(bounds_);
  std::mutex mutex;
  contributions.for_each_piece([&](std::size_t unit, std::size_t last, std::size_t) {
    CountAbove<UInt128> above(bounds);
    for (; unit < last; ++unit) {
      const UInt128 size = size_of_unit(unit);
      sizes.of_unit[unit] = static_cast<std::uint64_t>(std::min<UInt128>(size, UINT64_MAX));
      above.add(size);
    }
    const std::lock_guard lock(mutex);
    sizes.count(above.counts());
  });
  return sizes;
}

// Cells of all units on their lattice, those of too large ones scaled down: by sum, then by group.
template <class SizeOf, class OnLattice>
std::vector<Int128> ClippedSums::add_up(const Contributions& contributions, std::size_t groups,
                                        const Sizes& sizes, const SizeOf& size_of_unit,
                                        UInt128 bound, const OnLattice& on_lattice) const {
  std::vector<std::vector<Int128>> of_worker(worker_count());
  contributions.for_each_piece(
      [&](std::size_t unit, std::size_t last, std::size_t worker) {
        auto& cells = of_worker[worker];
        cells.resize(groups * sums_.size());
        for (; unit < last; ++unit) {
          UInt128 size = sizes.of_unit[unit];
          if (size == UINT64_MAX) [[unlikely]]
            size = size_of_unit(unit);
          each_cell(contributions, unit, [&](std::uint32_t group, std::size_t sum, Int128 value) {
            const Int128 cell = on_lattice(value, sum);
            cells[sum * groups + group] += size > bound ? scaled_down(cell, bound, size) : cell;
          });
        }
      },
      groups * sums_.size() <= kCellsForThreads);
  std::vector<Int128> all = std::move(of_worker.front());
  all.resize(groups * sums_.size());
  for (std::size_t worker = 1; worker < of_worker.size(); ++worker)
    for (std::size_t i = 0; i < of_worker[worker].size(); ++i) all[i] += of_worker[worker][i];
  return all;
}

bool ClippedSums::is_of_one_cell(const Contributions& contributions) const {
  return sums_.size() == 1 && contributions.has_one_row_each();
}

// The largest magnitude whose size is at most `bound`: ceil(m f / r) <= b exactly if m <= b r / f.
UInt128 ClippedSums::value_within(UInt128 bound) const {
  if (!sums_.front().bounded) return bound;
  const auto& measure = measures_.front();
  const BigInt largest = to_big(bound) * to_big(measure.row_max) / to_big(measure.factor);
  constexpr int kBits = 126;
  if ((largest >> kBits) != 0) return UInt128{1} << kBits;  // no value is as large
  return UInt128{static_cast<std::uint64_t>(largest >> 64)} << 64 |
         static_cast<std::uint64_t>(largest & UINT64_MAX);
}

ClippedSums::Sizes ClippedSums::measure_values(const Contributions& contributions) const {
  Sizes sizes{{}, std::vector<std::int64_t>(bounds_.size())};
  std::vector<UInt128> within;
  for (const UInt128 bound : bounds_) within.push_back(value_within(bound));
  const BoundsByWidth<UInt128> bounds(within);
  std::mutex mutex;
  contributions.for_each_piece([&](std::size_t unit, std::size_t last, std::size_t) {
    CountAbove<UInt128> above(bounds);
    for (; unit < last; ++unit) above.add(absolute(value_of(0, contributions.values(unit))));
    const std::lock_guard lock(mutex);
    sizes.count(above.counts());
  });
  return sizes;
}

std::vector<Int128> ClippedSums::add_up_values(const Contributions& contributions,
                                               std::size_t groups, UInt128 bound) const {
  const UInt128 within = value_within(bound);
  const int fine = measures_.front().fine;
  std::vector<Int128> all(groups);
  std::mutex mutex;
  contributions.for_each_piece([&](std::size_t unit, std::size_t last, std::size_t) {
    // Units of one row are of one group.
    const std::size_t group = options_.one_group || unit == last ? 0 : contributions.group(unit);
    Int128 total = 0;
    for (; unit < last; ++unit) {
      const Int128 value = value_of(0, contributions.values(unit));
      const Int128 cell = value * (Int128{1} << fine);
      total +=
          absolute(value) > within ? scaled_down(cell, bound, size_of(absolute(value), 0)) : cell;
    }
    const std::lock_guard lock(mutex);
    all[group] += total;
  });
  return all;
}

std::vector<Int128> ClippedSums::add_up_totals(const Contributions& contributions,
                                               std::size_t groups, UInt128 bound) const {
  const UInt128 within = value_within(bound);
  const auto total_of = [&](std::size_t unit) { return value_of(0, contributions.values(unit)); };
  std::vector<bool> too_large(contributions.units());
  for (std::size_t unit = 0; unit < too_large.size(); ++unit)
    too_large[unit] = absolute(total_of(unit)) > within;
  const auto [others, apart, units] = contributions.totals()->split(too_large, groups);
  const Int128 step = Int128{1} << measures_.front().fine;
  std::vector<Int128> all(groups);
  for (const Sum::Term& term : sums_.front().terms)
    for (std::size_t group = 0; group < groups; ++group)
      all[group] += term.factor * others[term.feature * groups + group] * step;
  for (std::size_t i = 0; i < units.size(); ++i) {
    const UInt128 size = size_of(absolute(total_of(units[i])), 0);
    for (std::size_t row = apart.begin(i); row < apart.end(i); ++row)
      all[apart.group(row)] += scaled_down(value_of(0, apart.values(row)) * step, bound, size);
  }
  return all;
}

// A sum's cells are measured together: of values of one sign the total of all groups says it all.
NoisySums ClippedSums::release_laplace(const Contributions& contributions, std::size_t groups,
                                       Epsilon noise_epsilon, RandomSource& random) const {
  const std::size_t count = sums_.size();
  const auto size_of_unit = [&](std::size_t unit) {
    UInt128 size = 0;
    for (std::size_t sum = 0; sum < count; ++sum) {
      UInt128 magnitude = 0;
      Int128 total = 0;
      for (std::size_t row = contributions.begin(unit); row < contributions.end(unit); ++row) {
        const Int128 value = value_of(sum, contributions.values(row));
        total += value;
        magnitude += absolute(value);
      }
      size += size_of(options_.one_group ? absolute(total) : magnitude, sum);
    }
    return size;
  };
  const bool one_cell = is_of_one_cell(contributions);
  DISCREET_CHECK(one_cell || contributions.totals() == nullptr, "totals are for one sum");
  const auto short_sums = narrow(contributions);
  const Measured measured = one_cell
                                ? Measured{short_sums ? measure_values(contributions, *short_sums)
                                                      : measure_values(contributions),
                                           {}}
                            : short_sums ? measure(contributions, *short_sums, groups)
                                         : Measured{measure(contributions, size_of_unit), {}};
  const Sizes& sizes = measured.sizes;
  const UInt128 bound = find_bound(sizes.above, noise_epsilon, groups * count, random);

  const auto add_up_cells = [&] {
    if (contributions.totals() != nullptr) return add_up_totals(contributions, groups, bound);
    if (short_sums)
      return one_cell ? add_up_values(contributions, *short_sums, groups, bound)
                      : add_up(contributions, *short_sums, groups, measured, bound);
    if (one_cell) return add_up_values(contributions, groups, bound);
    return add_up(
        contributions, groups, sizes, size_of_unit, bound,
        [&](Int128 value, std::size_t sum) { return value * (Int128{1} << measures_[sum].fine); });
  };
  const std::vector<Int128> cells = add_up_cells();
  NoisySums noisy;
  std::vector<std::int64_t> noise(groups);
  for (std::size_t sum = 0; sum < count; ++sum) {
    const Rational exact = rate(sum, to_big(bound), noise_epsilon);
    const auto sampler = DiscreteLaplaceSampler::make(exact).value();
    draw_noise(sampler, noise, random);
    const int fine = measures_[sum].fine;
    const Int128 half = fine == 0 ? 0 : Int128{1} << (fine - 1);
    auto& of_sum = noisy.cells.emplace_back(groups);
    for (std::size_t group = 0; group < groups; ++group)
      of_sum[group] = (cells[sum * groups + group] + noise[group] + half) >> fine;
    // Below one row everybody is cut, so a count is that much too small; its error is that of one.
    const double one_row = sums_[sum].row_max == 1 && sums_[sum].bounded
                               ? std::fmax(1, std::exp2(kSizeBits) / static_cast<double>(bound))
                               : 1;
    noisy.noise_sd.push_back(std::ldexp(laplace_sd(exact), -fine) * one_row);
  }
  noisy.bound = static_cast<double>(bound) / (sums_.front().bounded ? std::exp2(kSizeBits) : 1);
  return noisy;
}

// On the lattice of sizes all cells have one scale, so one Gaussian serves them all.
NoisySums ClippedSums::release_gaussian(const Contributions& contributions, std::size_t groups,
                                        Epsilon noise_epsilon, RandomSource& random) const {
  const std::size_t count = sums_.size();
  const auto size_of_unit = [&](std::size_t unit) {
    UInt128 squares = 0;
    each_cell(contributions, unit, [&](std::uint32_t, std::size_t sum, Int128 value) {
      const Int128 steps = steps_of(value, sum);
      squares += static_cast<UInt128>(steps * steps);
    });
    return root_up(squares);
  };
  const Sizes sizes = measure(contributions, size_of_unit);
  // Fewer clipped units than under Laplace noise: they are clipped in every cell.
  const double cells = static_cast<double>(groups * count);
  const Epsilon for_search = search_epsilon(groups * count);
  const double threshold = 4 * std::sqrt(cells) / noise_epsilon.value() + 3 / for_search.value();
  const auto search = BoundSearch::make(
      for_search, static_cast<std::int64_t>(std::fmin(std::round(threshold), 0x1p62)));
  const UInt128 bound = bounds_[search.value().release(sizes.above, random)];

  const std::vector<Int128> exact =
      add_up(contributions, groups, sizes, size_of_unit, bound,
             [&](Int128 value, std::size_t sum) { return Int128{steps_of(value, sum)}; });
  std::vector<std::int64_t> steps(exact.size());
  std::transform(exact.begin(), exact.end(), steps.begin(), saturate);
  const auto sensitivity = L2Sensitivity::make(static_cast<double>(bound));
  const auto gaussian = DiscreteGaussian::make(ApproxDp{noise_epsilon, options_.delta},
                                               sensitivity.value(), steps.size());
  gaussian.value().release(steps, random);

  NoisySums noisy;
  noisy.gaussian = true;
  noisy.cells.assign(count, std::vector<Int128>(groups));
  for (std::size_t sum = 0; sum < count; ++sum) {
    const double unit =
        static_cast<double>(sums_[sum].row_max) / std::ldexp(sums_[sum].weight, kSizeBits);
    for (std::size_t group = 0; group < groups; ++group)
      noisy.cells[sum][group] =
          static_cast<Int128>(std::round(static_cast<double>(steps[sum * groups + group]) * unit));
    noisy.noise_sd.push_back(std::sqrt(gaussian.value().variance()) * unit);
  }
  noisy.bound = static_cast<double>(bound) / std::exp2(kSizeBits);
  return noisy;
}

LossEvent ClippedSums::loss() const {
  if (options_.delta.value() == 0) return loss::Pure{epsilon_};
  return loss::Approximate{epsilon_, options_.delta};
}

double ClippedSums::noise_sd_per_row(std::size_t sum) const {
  const double row_max =
      sums_[sum].bounded ? static_cast<double>(sums_[sum].row_max) / sums_[sum].weight : 1;
  return std::sqrt(2.0) * row_max / noise_.value();
}

std::optional<double> ClippedSums::noise_sd(std::size_t sum) const {
  if (!options_.size_max) return std::nullopt;
  return std::ldexp(laplace_sd(rate(sum, to_big(bounds_.front()), noise_)), -measures_[sum].fine);
}

}  // namespace discreet
