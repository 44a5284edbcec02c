#include "inference/mean_tests.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "inference/bootstrap_internal.h"
#include "inference/bounded_rows.h"

namespace discreet::inference {
namespace {

constexpr double kNormal975 = 1.959963984540054;
constexpr double kBack = 0.75;  // of a spread below zero: how far above it may be
constexpr double kNotGiven = std::numeric_limits<double>::quiet_NaN();

// What is read off one group, in z.
struct Reading {
  double rows, mean, spread2, error2;  // error2: variance of the mean, noise included
};

Reading read(double rows, double linear, double square, const NoisyMoments& group) {
  Reading r{};
  // Fewer rows than this cannot be told from none; dividing by less would be noise by noise.
  r.rows = std::max(rows, std::max(2.0, std::sqrt(group.noise.count)));
  r.mean = std::clamp(linear / r.rows, -1.0, 1.0);
  const double second = std::clamp((square / r.rows + 1) / 2, 0.0, 1.0);
  r.spread2 = std::max(0.0, second - r.mean * r.mean);
  r.error2 = (r.spread2 * r.rows * r.rows / (r.rows - 1) + group.noise.linear +
              group.noise.count * r.mean * r.mean) /
             (r.rows * r.rows);
  return r;
}

Reading read(const NoisyMoments& group) {
  return read(group.rows, group.linear, group.square, group);
}

// The noise hides how many rows there are: nothing is claimed of their mean beyond its range.
bool hidden(double rows, const NoisyMoments& group) {
  return rows < 3 * std::sqrt(group.noise.count);
}
bool hidden(const NoisyMoments& group) {
  return hidden(group.rows, group);
}

// One group's sums, in z.
struct Sums {
  double rows, linear, square;

  // Of squares around a mean.
  double around(double mean) const {
    return (square + rows) / 2 - 2 * mean * linear + mean * mean * rows;
  }
};

Sums sums_of(const NoisyMoments& group) {
  return {group.rows, group.linear, group.square};
}

// The noise hides how many rows all groups have: the common mean could be anything, and no p-value
// that is right has anything to say.
bool drowned(std::span<const Sums> sums, std::span<const NoisyMoments> groups) {
  double rows = 0, noise = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    rows += sums[i].rows;
    noise += groups[i].noise.count;
  }
  return rows < kRowsOverNoise * std::sqrt(noise);
}

// A uniform point of the body times a Gamma radius. The radius is kept on rejection: the law is
// continuous here, so that all radii accept alike.
void draw_noise(const NoisyMoments& group, Resample& random, double (&noise)[3]) {
  const double radius = random.gamma(4) / group.epsilon;
  for (;;) {
    const double a = 2 * random.unit() - 1, b = 2 * random.unit() - 1, c = 2 * random.unit() - 1;
    if (group.curve) {  // knorm.md, "The bodies"
      const double lam = (1 + a) / 2, mu = (1 - a) / 2, reach = std::fabs(b);
      const double over = std::max(0.0, reach - lam), under = std::max(0.0, reach - mu);
      if ((1 - c) * mu < 2 * over * over || (1 + c) * lam < 2 * under * under) continue;
    }
    noise[0] = radius * a;
    noise[1] = radius * b;
    noise[2] = radius * c;
    return;
  }
}

// A law of the rows that the release allows, in z.
struct Truth {
  double rows, mean, spread2;
};

double noise_around(const NoisyMoments& group, double mean) {
  return group.noise.linear + mean * mean * group.noise.count;
}

// One group against a mean: the sum of z - mean, and the sum of its squares less what the noise of
// the first tells about the noise of the second (they go together, nearly fully so at the ends of
// the range). Under the null both are right on average, and they are uncorrelated.
struct Gap {
  double sum, squares, slope;
};

Gap gap_at(const Sums& sums, double mean, const NoisyMoments& group) {
  const MomentNoise& noise = group.noise;
  const double m2 = mean * mean, around = sums.around(mean), sum = sums.linear - mean * sums.rows;
  const double together =
      -mean * ((0.5 + m2) * noise.count + noise.count_square / 2 + 2 * noise.linear);
  const double slope = together / (std::max(0.0, around) + noise_around(group, mean));
  return {sum, around - slope * sum, slope};
}

// What the release leaves open about a group's number of rows and spread: the release less noise
// drawn anew. Rows are two at least, so what says otherwise is drawn again. A spread that comes out
// below zero is some small one: from none to nearly as far above zero as it was below, evenly.
// (None at all would be too small on average: groups whose spread the noise hides were rejected
// 5.7 % of the time. Drawn again it would be far too large: most laws of rows are far narrower than
// the range allows.)
Truth truth_of(const Sums& sums, const NoisyMoments& group, double mean, Resample& random) {
  const Gap gap = gap_at(sums, mean, group);
  const double sampling = gap.slope * std::sqrt(std::max(0.0, gap.squares));
  double rows = 0, squares = 0;
  for (int i = 0; i < kTries; ++i) {
    double noise[3];
    draw_noise(group, random, noise);
    const Sums drawn{noise[0], noise[1], noise[2]};
    rows = sums.rows - noise[0];
    squares = gap.squares - drawn.around(mean) + gap.slope * (drawn.linear - mean * drawn.rows) +
              sampling * random.normal();
    if (rows >= 2) break;
  }
  rows = std::max(2.0, rows);
  if (squares < 0) squares *= -kBack * random.unit();
  return {rows, mean, std::clamp(squares / rows, 0.0, 1 - mean * mean)};
}

// Sums of one group drawn anew: rows of the truth, and the noise.
Sums redraw(const Truth& truth, const NoisyMoments& group, Resample& random) {
  double noise[3];
  draw_noise(group, random, noise);
  const DrawnRows rows = BoundedRows(truth.rows, truth.mean, truth.spread2).draw(random);
  const double squares = rows.squares + truth.rows * rows.mean * rows.mean;
  return {truth.rows + noise[0], truth.rows * rows.mean + noise[1],
          2 * squares - truth.rows + noise[2]};
}

// The sum of z - mean over its standard deviation, spread and noise. Nothing noisy is divided by:
// under the null its mean is zero whatever the noise.
double score(const Sums& sums, double mean, const NoisyMoments& group) {
  const Gap gap = gap_at(sums, mean, group);
  return gap.sum / std::sqrt(std::max(0.0, gap.squares) + noise_around(group, mean));
}

// The mean of all groups' rows, as far from the middle of the range as its square less its variance
// by noise says: the noise would else look larger than it is where it hides the rows.
double pooled(std::span<const Sums> sums, std::span<const NoisyMoments> groups) {
  double linear = 0, rows = 0, noise = 0;
  for (const Sums& s : sums) linear += s.linear, rows += s.rows;
  rows = std::max(rows, 2.0 * static_cast<double>(sums.size()));
  const double mean = std::clamp(linear / rows, -1.0, 1.0);
  for (const NoisyMoments& group : groups) noise += noise_around(group, mean);
  return std::copysign(std::sqrt(std::max(0.0, mean * mean - noise / (rows * rows))), mean);
}

// The sum of squared scores at the common mean that makes it least: of two groups the square of
// Welch's t with the noise in it.
double between(std::span<const Sums> sums, std::span<const NoisyMoments> groups) {
  const double centre = pooled(sums, groups);
  double weight = 0, mean = 0, sum = 0;
  std::vector<double> variance(sums.size());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    variance[i] =
        std::max(0.0, gap_at(sums[i], centre, groups[i]).squares) + noise_around(groups[i], centre);
    weight += sums[i].rows * sums[i].rows / variance[i];
    mean += sums[i].rows * sums[i].linear / variance[i];
  }
  mean /= weight;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const double gap = sums[i].linear - mean * sums[i].rows;
    sum += gap * gap / variance[i];
  }
  return sum;
}

double common_mean(std::span<const Reading> groups) {
  double weight = 0, mean = 0;
  for (const Reading& g : groups) {
    weight += 1 / g.error2;
    mean += g.mean / g.error2;
  }
  return mean / weight;
}

// A common mean that the release allows: that of all rows less noise drawn anew, within the range.
double mean_allowed(std::span<const Sums> sums, std::span<const NoisyMoments> groups,
                    Resample& random) {
  for (int i = 0; i < kTries; ++i) {
    double rows = 0, linear = 0;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      double noise[3];
      draw_noise(groups[g], random, noise);
      rows += sums[g].rows - noise[0];
      linear += sums[g].linear - noise[1];
    }
    if (rows >= 2.0 * static_cast<double>(groups.size()) && std::fabs(linear) <= rows)
      return linear / rows;
  }
  return pooled(sums, groups);
}

// Sums of all groups drawn anew with one mean, as the release `sums` allows; those that would have
// no p-value are drawn again.
void redraw_null(std::span<const Sums> sums, std::span<const NoisyMoments> groups, Resample& random,
                 std::vector<Sums>& drawn) {
  std::vector<Truth> truths(groups.size());
  for (int i = 0; i < kTries; ++i) {
    const double mean = mean_allowed(sums, groups, random);
    for (std::size_t g = 0; g < groups.size(); ++g)
      truths[g] = truth_of(sums[g], groups[g], mean, random);
    for (int j = 0; j < kTries; ++j) {
      for (std::size_t g = 0; g < groups.size(); ++g)
        drawn[g] = redraw(truths[g], groups[g], random);
      if (!drowned(drawn, groups)) return;
    }
  }
}

// Of equal means.
double p_between(std::span<const Sums> sums, std::span<const NoisyMoments> groups,
                 std::span<const double> seed, const Options& options) {
  if (drowned(sums, groups)) return kNotGiven;
  std::vector<Sums> first(groups.size()), second(groups.size());
  return double_p_value(
      between(sums, groups),
      [&](Resample& random) {
        redraw_null(sums, groups, random, first);
        return between(first, groups);
      },
      [&](Resample& random) {
        redraw_null(sums, groups, random, first);
        redraw_null(first, groups, random, second);
        return between(second, groups);
      },
      seed, options);
}

// A group as it might have been read, were `mean` its mean.
Reading reread(const NoisyMoments& group, double mean, Resample& random) {
  const Sums drawn = redraw(truth_of(sums_of(group), group, mean, random), group, random);
  return read(drawn.rows, drawn.linear, drawn.square, group);
}

// The mean on this side of the estimate at which the score is `critical`; the range's end if none.
double meets(const NoisyMoments& group, double estimate, double side, double critical) {
  const auto within = [&](double at) {
    return std::fabs(score(sums_of(group), at, group)) <= critical;
  };
  double inside = estimate, outside = side;
  if (within(outside)) return outside;
  for (int i = 0; i < 40; ++i) {
    const double middle = (outside + inside) / 2;
    (within(middle) ? inside : outside) = middle;
  }
  return outside;
}

std::vector<double> seed_of(std::span<const NoisyMoments> groups) {
  std::vector<double> seed;
  for (const auto& g : groups)
    seed.insert(seed.end(), {g.rows, g.linear, g.square, g.middle, g.half, g.epsilon});
  return seed;
}

}  // namespace

Result<MomentsMechanism> MomentsMechanism::make(Epsilon epsilon, IntegerRange range, double unit) {
  DISCREET_TRY_VOID(check_range(range));
  const Int128 width = Int128{range.upper} - range.lower;
  if (width == 0) return invalid_parameter("a column whose range is one value has no spread");
  if (width > (Int128{1} << 40))
    return invalid_parameter("a column's range must span at most 2^40 steps; use a coarser grid");
  // The curve's body needs an exact grid, and one so fine that its noise is as good as continuous.
  constexpr std::int64_t kBoundMax = std::int64_t{1} << 40;  // of KNorm::from_sums
  if (width >= 32 && range.lower >= -kBoundMax && range.upper <= kBoundMax) {
    DISCREET_TRY(KNorm knorm, KNorm::make(epsilon, {{range, true}}));
    if (knorm.exact_grid()) return MomentsMechanism(std::move(knorm), range, unit);
  }
  DISCREET_TRY(auto box, BoxNorm::make(epsilon, {1, width, width * width}));
  return MomentsMechanism(std::move(box), range, unit);
}

MomentNoise MomentsMechanism::second_moments() const {
  if (const auto* knorm = std::get_if<KNorm>(&noise_)) return knorm->noise(0);
  const double sd = std::get<BoxNorm>(noise_).noise_sd();
  return {sd * sd, sd * sd, sd * sd, 0};
}

LossEvent MomentsMechanism::loss() const {
  return std::visit([](const auto& noise) { return noise.loss(); }, noise_);
}

NoisyMoments MomentsMechanism::release(Int128 rows, Int128 sum, Int128 sum_of_squares,
                                       RandomSource& random) const {
  const Int128 ends = Int128{range_.lower} + range_.upper,
               width = Int128{range_.upper} - range_.lower;
  std::vector<double> noisy;
  if (const auto* knorm = std::get_if<KNorm>(&noise_)) {
    const Int128 sums[] = {sum}, squares[] = {sum_of_squares};
    const auto exact = knorm->from_sums(static_cast<std::uint64_t>(rows), sums, squares);
    for (const Int128 feature : knorm->release(exact.value(), random))
      noisy.push_back(static_cast<double>(feature) / static_cast<double>(knorm->scale()));
  } else {
    // In integers, with w the width: w z = 2 x - l - u, and w^2 T(z) = 2 (w z)^2 - w^2.
    const Int128 linear = 2 * sum - rows * ends;
    const Int128 centred2 = 4 * sum_of_squares - 4 * ends * sum + rows * ends * ends;
    const Int128 exact[] = {rows, linear, 2 * centred2 - rows * width * width};
    noisy = std::get<BoxNorm>(noise_).release(exact, random);
  }
  const double epsilon =
      std::visit([](const auto& noise) { return noise.epsilon().value(); }, noise_);
  return {noisy[0],
          noisy[1],
          noisy[2],
          static_cast<double>(ends) / 2 * unit_,
          static_cast<double>(width) / 2 * unit_,
          second_moments(),
          epsilon,
          std::holds_alternative<KNorm>(noise_)};
}

NoisyMoments MomentsMechanism::release(std::span<const std::int64_t> values,
                                       RandomSource& random) const {
  Int128 sum = 0, squares = 0;
  for (const std::int64_t value : values) {
    const Int128 x = range_.clamp(value);
    sum += x;
    squares += x * x;
  }
  return release(static_cast<Int128>(values.size()), sum, squares, random);
}

double MomentsMechanism::half() const {
  return (static_cast<double>(range_.upper) - static_cast<double>(range_.lower)) / 2 * unit_;
}

double MomentsMechanism::error95_before(double rows, double sd) const {
  return kNormal975 * std::sqrt(sd * sd * rows + half() * half() * second_moments().linear) / rows;
}

TestOutcome t_test(const NoisyMoments& group, double mean, const Options& options) {
  const Reading found = read(group);
  const double null = std::clamp((mean - group.middle) / group.half, -1.0, 1.0);
  const double beyond = std::fabs((mean - group.middle) / group.half - null);
  TestOutcome outcome;
  outcome.rows = group.rows;
  outcome.degrees = std::max(1.0, group.rows - 1);
  outcome.estimate = group.middle + group.half * found.mean;
  outcome.standard_error = group.half * std::sqrt(found.error2);
  outcome.statistic = (found.mean - null) / std::sqrt(found.error2);
  std::vector<double> seed = seed_of({&group, 1});
  seed.push_back(null);
  const auto redraws = [&](double centre) {
    return [&, centre](Resample& random) {
      return std::fabs(score(redraw(truth_of(sums_of(group), group, centre, random), group, random),
                             centre, group));
    };
  };
  outcome.p_value = beyond > 0 ? 1.0 / (options.draws + 1)  // no mean lies outside the range
                               : p_value(std::fabs(score(sums_of(group), null, group)),
                                         redraws(null), seed, options);
  if (!options.intervals) return outcome;
  // The interval holds the means that the test does not reject. Each end is where the statistic
  // meets its critical value, which is found at the normal law's end first.
  const auto end = [&](double side) {
    double at = meets(group, found.mean, side, kNormal975);
    for (int i = 0; i < 2; ++i)
      at = meets(group, found.mean, side, quantile(redraws(at), seed, options));
    return group.middle + group.half * at;
  };
  if (hidden(group))
    outcome.interval = {group.middle - group.half, group.middle + group.half};
  else
    outcome.interval = {end(-1), end(1)};
  return outcome;
}

TestOutcome t_test(const NoisyMoments& first, const NoisyMoments& second, const Options& options) {
  // Both in the units of the first: the groups share a column, hence a range.
  const NoisyMoments groups[] = {first, second};
  const Sums sums[] = {sums_of(first), sums_of(second)};
  const Reading found[] = {read(first), read(second)};
  const double error = std::sqrt(found[0].error2 + found[1].error2);
  TestOutcome outcome;
  outcome.rows = first.rows + second.rows;
  outcome.estimate = first.half * (found[0].mean - found[1].mean);
  outcome.standard_error = first.half * error;
  outcome.statistic = (found[0].mean - found[1].mean) / error;
  const double v0 = found[0].spread2 / found[0].rows, v1 = found[1].spread2 / found[1].rows;
  outcome.degrees = (v0 + v1) * (v0 + v1) /
                    std::max(1e-300, v0 * v0 / (found[0].rows - 1) + v1 * v1 / (found[1].rows - 1));
  const auto seed = seed_of(groups);
  outcome.p_value = p_between(sums, groups, seed, options);
  if (!options.intervals) return outcome;
  const auto deviation = [&](Resample& random) {
    Reading drawn[2];
    for (int i = 0; i < 2; ++i) drawn[i] = reread(groups[i], found[i].mean, random);
    return std::fabs(drawn[0].mean - drawn[1].mean - (found[0].mean - found[1].mean)) /
           std::sqrt(drawn[0].error2 + drawn[1].error2);
  };
  const double reach = quantile(deviation, seed, options) * outcome.standard_error;
  if (hidden(first) || hidden(second))
    outcome.interval = {-2 * first.half, 2 * first.half};
  else
    outcome.interval = {std::max(outcome.estimate - reach, -2 * first.half),
                        std::min(outcome.estimate + reach, 2 * first.half)};
  return outcome;
}

AnovaOutcome anova(std::span<const NoisyMoments> groups, const Options& options) {
  std::vector<Reading> found;
  std::vector<Sums> sums;
  for (const auto& group : groups) {
    found.push_back(read(group));
    sums.push_back(sums_of(group));
  }
  AnovaOutcome outcome;
  TestOutcome& test = outcome.test;
  double within = 0;
  for (const Reading& g : found) {
    test.rows += g.rows;
    within += g.rows * g.spread2;
  }
  const double centre = common_mean(found);
  double spread = 0;
  for (const Reading& g : found) spread += g.rows * (g.mean - centre) * (g.mean - centre);
  test.estimate = spread + within > 0 ? spread / (spread + within) : 0;
  test.interval = {0, 1};
  test.degrees = static_cast<double>(groups.size()) - 1;
  for (const Reading& g : found)
    test.statistic += (g.mean - centre) * (g.mean - centre) / g.error2 / test.degrees;
  const auto seed = seed_of(groups);
  test.p_value = p_between(sums, groups, seed, options);
  if (!options.intervals) return outcome;
  // Means: each by itself, and all at once by the largest deviation.
  const auto deviations = [&](std::optional<std::size_t> only) {
    return [&, only](Resample& random) {
      double largest = 0;
      for (std::size_t i = 0; i < groups.size(); ++i) {
        if (only && i != *only) continue;
        const Reading g = reread(groups[i], found[i].mean, random);
        largest = std::max(largest, std::fabs(g.mean - found[i].mean) / std::sqrt(g.error2));
      }
      return largest;
    };
  };
  const double joint = quantile(deviations({}), seed, options);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const double alone = quantile(deviations(i), seed, options);
    Estimated mean;
    const NoisyMoments& g = groups[i];
    mean.value = g.middle + g.half * found[i].mean;
    mean.standard_error = g.half * std::sqrt(found[i].error2);
    const auto within_range = [&](double times) {
      if (hidden(g)) return Interval{g.middle - g.half, g.middle + g.half};
      return Interval{std::max(mean.value - times * mean.standard_error, g.middle - g.half),
                      std::min(mean.value + times * mean.standard_error, g.middle + g.half)};
    };
    mean.interval = within_range(alone);
    mean.simultaneous = within_range(joint);
    outcome.means.push_back(mean);
  }
  return outcome;
}

}  // namespace discreet::inference
