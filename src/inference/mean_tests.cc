#include "inference/mean_tests.h"

#include <algorithm>
#include <cmath>

#include "inference/bootstrap_internal.h"
#include "inference/bounded_rows.h"

namespace discreet::inference {
namespace {

constexpr double kNormal975 = 1.959963984540054;

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
bool hidden(const NoisyMoments& group) {
  return group.rows < 3 * std::sqrt(group.noise.count);
}

// A law of the rows that the release does not rule out, in z.
struct Truth {
  double rows, mean, spread2;
};

// Of the sum of squares around the mean: the noise's standard deviation.
double squares_sd(const NoisyMoments& group, double mean) {
  const double m2 = mean * mean, of_rows = 0.5 + m2;
  return std::sqrt(of_rows * of_rows * group.noise.count + group.noise.square / 4 +
                   of_rows * group.noise.count_square + 4 * m2 * group.noise.linear);
}

// Truths `squares` standard deviations of the noise from the estimated sum of squares, `rows` from
// the estimated number of rows.
Truth truth(const NoisyMoments& group, double mean, double squares, double rows) {
  const double n = std::max(2.0, group.rows + rows * std::sqrt(group.noise.count));
  const double around =
      (group.square + group.rows) / 2 - 2 * mean * group.linear + mean * mean * group.rows;
  const double moved = around + squares * squares_sd(group, mean);
  return {n, mean, std::clamp(moved / n, 0.0, 1 - mean * mean)};
}

// What the release leaves open about spreads and numbers of rows, in standard deviations of noise.
// Where spreads stand well above their noise, every draw takes a truth of its own from what the
// noise allows, which keeps the level near the nominal one; elsewhere the worst of several truths
// counts, since nothing can be said about which are likely.
class Shifts {
 public:
  explicit Shifts(std::span<const NoisyMoments> groups) {
    known_ = std::all_of(groups.begin(), groups.end(), [](const NoisyMoments& group) {
      const double n = std::max(2.0, group.rows), mean = std::clamp(group.linear / n, -1.0, 1.0);
      return truth(group, mean, 0, 0).spread2 * n > kKnown * squares_sd(group, mean) &&
             group.rows > kKnown * std::sqrt(group.noise.count);
    });
  }
  std::size_t scenarios() const { return known_ ? 1 : std::size(kWorst); }
  Truth truth_of(const NoisyMoments& group, double mean, std::size_t scenario,
                 Resample& random) const {
    if (known_) {
      const double squares = random.normal(), rows = random.normal();
      return truth(group, mean, squares, rows);
    }
    return truth(group, mean, kWorst[scenario].squares, kWorst[scenario].rows);
  }

 private:
  struct Shift {
    double squares, rows;
  };
  static constexpr Shift kWorst[] = {{0, 0}, {2, 0}, {4, 0}, {-2, 0}, {0, -2}, {2, -2}};
  static constexpr double kKnown = 2;
  bool known_ = false;
};

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

// Sums of one group drawn anew: rows of the truth, and the noise.
Reading redraw(const Truth& truth, const NoisyMoments& group, Resample& random) {
  double noise[3];
  draw_noise(group, random, noise);
  const DrawnRows rows = BoundedRows(truth.rows, truth.mean, truth.spread2).draw(random);
  const double squares = rows.squares + truth.rows * rows.mean * rows.mean;
  return read(truth.rows + noise[0], truth.rows * rows.mean + noise[1],
              2 * squares - truth.rows + noise[2], group);
}

double between(std::span<const Reading> groups) {
  double weight = 0, mean = 0, sum = 0;
  for (const Reading& g : groups) {
    weight += 1 / g.error2;
    mean += g.mean / g.error2;
  }
  mean /= weight;
  for (const Reading& g : groups) sum += (g.mean - mean) * (g.mean - mean) / g.error2;
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
  const Shifts shifts({&group, 1});
  const auto redraws = [&](double centre) {
    return [&, centre](std::size_t scenario, Resample& random) {
      const Reading drawn = redraw(shifts.truth_of(group, centre, scenario, random), group, random);
      return std::fabs(drawn.mean - centre) / std::sqrt(drawn.error2);
    };
  };
  outcome.p_value = beyond > 0 ? 0
                               : worst_p_value(std::fabs(outcome.statistic), shifts.scenarios(),
                                               redraws(null), seed, options);
  if (beyond > 0) outcome.p_value = 1.0 / (options.draws + 1);  // no mean lies outside the range
  // The interval holds the means that the test does not reject. Each end is first put where the
  // critical value at the estimate has it, then where the critical value at that mean does: near
  // the ends of the range the two differ.
  const double error = std::sqrt(found.error2);
  const auto times_at = [&](double centre) {
    return worst_quantile(shifts.scenarios(), redraws(std::clamp(centre, -1.0, 1.0)), seed,
                          options);
  };
  const double at_estimate = times_at(found.mean);
  const auto end = [&](double side) {
    const double there = times_at(found.mean + side * at_estimate * error);
    return group.middle +
           group.half *
               std::clamp(found.mean + side * std::max(at_estimate, there) * error, -1.0, 1.0);
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
  const Shifts shifts(groups);
  const auto redraws = [&](double a, double b) {
    return [&, a, b](std::size_t scenario, Resample& random) {
      const Reading x = redraw(shifts.truth_of(first, a, scenario, random), first, random);
      const Reading y = redraw(shifts.truth_of(second, b, scenario, random), second, random);
      return std::fabs(x.mean - y.mean - (a - b)) / std::sqrt(x.error2 + y.error2);
    };
  };
  const double centre = common_mean(found);
  outcome.p_value = worst_p_value(std::fabs(outcome.statistic), shifts.scenarios(),
                                  redraws(centre, centre), seed, options);
  const double reach =
      worst_quantile(shifts.scenarios(), redraws(found[0].mean, found[1].mean), seed, options) *
      outcome.standard_error;
  if (hidden(first) || hidden(second))
    outcome.interval = {-2 * first.half, 2 * first.half};
  else
    outcome.interval = {std::max(outcome.estimate - reach, -2 * first.half),
                        std::min(outcome.estimate + reach, 2 * first.half)};
  return outcome;
}

AnovaOutcome anova(std::span<const NoisyMoments> groups, const Options& options) {
  std::vector<Reading> found;
  for (const auto& group : groups) found.push_back(read(group));
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
  test.statistic = between(found) / test.degrees;
  const auto seed = seed_of(groups);
  const Shifts shifts(groups);
  std::vector<Reading> drawn(groups.size());
  test.p_value = worst_p_value(
      test.statistic, shifts.scenarios(),
      [&](std::size_t scenario, Resample& random) {
        for (std::size_t i = 0; i < groups.size(); ++i)
          drawn[i] =
              redraw(shifts.truth_of(groups[i], centre, scenario, random), groups[i], random);
        return between(drawn) / test.degrees;
      },
      seed, options);
  // Means: each by itself, and all at once by the largest deviation.
  const auto deviations = [&](std::optional<std::size_t> only) {
    return [&, only](std::size_t scenario, Resample& random) {
      double largest = 0;
      for (std::size_t i = 0; i < groups.size(); ++i) {
        if (only && i != *only) continue;
        const Reading g =
            redraw(shifts.truth_of(groups[i], found[i].mean, scenario, random), groups[i], random);
        largest = std::max(largest, std::fabs(g.mean - found[i].mean) / std::sqrt(g.error2));
      }
      return largest;
    };
  };
  const double joint = worst_quantile(shifts.scenarios(), deviations({}), seed, options);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const double alone = worst_quantile(shifts.scenarios(), deviations(i), seed, options);
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
