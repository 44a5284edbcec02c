#include "inference/count_tests.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "inference/bootstrap_internal.h"
#include "inference/table_score.h"

namespace discreet::inference {
namespace {

constexpr double kTiny = 1e-9;          // of a variance, so that none is zero
constexpr double kSmooth = 0.5;         // rows added to each cell where a share may be none
constexpr double kAsGoodAsExact = 0.5;  // noise of counts, in rows
// Tables of more rows or columns are scored at the margins of the release in every draw: finding
// the score of each draw's own margins would take longer than it is worth where so many are few.
constexpr std::size_t kTurnedMax = 10;
constexpr double kNotGiven = std::numeric_limits<double>::quiet_NaN();

double total(std::span<const double> cells) {
  return std::accumulate(cells.begin(), cells.end(), 0.0);
}

// A number of rows that the release allows: the sum of the cells less noise drawn anew. No number
// is negative, so what says otherwise is drawn again.
double rows_of(std::span<const double> cells, double epsilon, Resample& random) {
  double rows = 0;
  for (int i = 0; i < kTries; ++i) {
    rows = total(cells);
    for (std::size_t cell = 0; cell < cells.size(); ++cell)
      rows -= random.discrete_laplace(epsilon);
    if (rows >= 0) break;
  }
  return std::max(0.0, std::round(rows));
}

// Fewer rows than the noise of all cells cannot be told from none.
double floored(double rows, const NoisyCounts& counts) {
  return std::max(
      rows, std::max(1.0, counts.noise_sd() * std::sqrt(static_cast<double>(counts.cells.size()))));
}

// The textbook's rule: five rows in the cell where fewest are expected. With fewer there are so few
// outcomes that a test of a share that is itself estimated has no level to speak of. Only where the
// counts are as good as exact: noise fills the gaps between outcomes, and a rule that reads noisy
// counts would choose among them.
bool too_few(double least_expected, const NoisyCounts& counts) {
  return counts.noise_sd() < kAsGoodAsExact && least_expected < 5;
}

std::vector<double> seed_of(const NoisyCounts& counts, std::span<const double> more = {}) {
  std::vector<double> seed = counts.cells;
  seed.push_back(counts.epsilon);
  seed.push_back(counts.tie);  // few outcomes: the draws' own error must differ between data sets
  seed.insert(seed.end(), more.begin(), more.end());
  return seed;
}

// A table of `rows` rows with these chances, and the noise.
void redraw(double rows, std::span<const double> chances, double epsilon, Resample& random,
            std::vector<double>& cells) {
  cells.resize(chances.size());
  double left = rows, chance_left = 1;
  for (std::size_t i = 0; i < chances.size(); ++i) {
    const bool last = i + 1 == chances.size();
    const double hits =
        last ? left
             : random.binomial(left, chance_left > 0 ? std::min(1.0, chances[i] / chance_left) : 0);
    left -= hits;
    chance_left -= chances[i];
    cells[i] = hits + random.discrete_laplace(epsilon);
  }
}

struct Share {
  double value, error2;
};

// Of the first of two cells.
Share share_of(double hits, double misses, double noise2) {
  const double rows = std::max(hits + misses, std::max(2.0, std::sqrt(2 * noise2)));
  Share share{};
  share.value = std::clamp(hits / rows, 0.0, 1.0);
  const double p = share.value, q = 1 - p;
  // Sampling as if half a row more were in each cell, so that a share of none has an error too.
  const double smooth = (p * rows + 0.5) / (rows + 1);
  share.error2 = (rows * smooth * (1 - smooth) + noise2 * (p * p + q * q)) / (rows * rows);
  return share;
}

// Pearson's sum with the noise's variance under the line. What is under the line is the release's
// in every draw: tables that are as far from the null then count as equally far.
double pearson(std::span<const double> cells, std::span<const double> expected,
               std::span<const double> variance) {
  double sum = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const double gap = cells[i] - expected[i];
    sum += gap * gap / variance[i];
  }
  return sum;
}

std::vector<double> variances(std::span<const double> expected, double noise2) {
  std::vector<double> variance;
  for (const double one : expected) variance.push_back(std::max(one, 0.5) + noise2);
  return variance;
}

// The noise hides how many rows there are.
bool drowned(std::span<const double> cells, const NoisyCounts& counts) {
  const double noise = counts.noise_sd() * std::sqrt(static_cast<double>(cells.size()));
  return total(cells) < kRowsOverNoise * noise;
}

// Tables drawn from a table that was released, as `draw` does, until there is one that would be
// `given` a p-value.
template <class Draw, class Given>
void redraw_given(Draw draw, Given given) {
  for (int i = 0; i < kTries; ++i) {
    draw();
    if (given()) return;
  }
}

// A table that the release allows: each cell less noise drawn anew, no margin negative. Cells may
// be, since only sums are read off it.
std::vector<double> allowed(std::span<const double> cells, std::size_t columns, double epsilon,
                            Resample& random) {
  std::vector<double> truth(cells.size()), sums;
  for (int i = 0; i < kTries; ++i) {
    sums.assign(cells.size() / columns + columns, 0.0);
    for (std::size_t k = 0; k < cells.size(); ++k) {
      truth[k] = cells[k] - random.discrete_laplace(epsilon);
      sums[k % columns] += truth[k];
      sums[columns + k / columns] += truth[k];
    }
    if (*std::min_element(sums.begin(), sums.end()) >= 0) break;
  }
  return truth;
}

// Two samples, cells hits and misses of one and of the other. With the common share p the gap
// (1 - p) hits - p misses of a sample is zero on average whatever its number of rows; at the
// table's own p this is the difference of the shares.
double two_shares(std::span<const double> c, double noise2) {
  const double all = std::max(total(c), 1.0);
  const double p = (std::clamp(c[0] + c[2], 0.0, all) + kSmooth) / (all + 2 * kSmooth);
  const double a = std::max(c[0] + c[1], 1.0), b = std::max(c[2] + c[3], 1.0);
  const double noise = noise2 * (p * p + (1 - p) * (1 - p)) + kTiny;
  const double under =
      std::sqrt(b * b * (a * p * (1 - p) + noise) + a * a * (b * p * (1 - p) + noise));
  return (((1 - p) * c[0] - p * c[1]) * b - ((1 - p) * c[2] - p * c[3]) * a) / under;
}

}  // namespace

double NoisyCounts::noise_sd() const {
  return std::sqrt(2 * std::exp(-epsilon)) / -std::expm1(-epsilon);
}

TestOutcome proportion_test(const NoisyCounts& counts, double chance, const Options& options) {
  const double noise2 = counts.noise_sd() * counts.noise_sd();
  // Over the deviation that the release's number of rows has: the same in every draw.
  const double rows = std::max(total(counts.cells), 1.0);
  const auto statistic = [&](std::span<const double> cells, double at) {
    const double gap = (1 - at) * cells[0] - at * cells[1];
    return gap / std::sqrt(rows * at * (1 - at) + noise2 * (at * at + (1 - at) * (1 - at)) + kTiny);
  };
  TestOutcome outcome;
  outcome.rows = total(counts.cells);
  outcome.statistic = statistic(counts.cells, chance);
  const Share found = share_of(counts.cells[0], counts.cells[1], noise2);
  outcome.estimate = found.value;
  outcome.standard_error = std::sqrt(found.error2);
  const auto redraws = [&](double at) {
    return [&, at, cells = std::vector<double>()](Resample& random) mutable {
      const double chances[] = {at, 1 - at};
      redraw(rows_of(counts.cells, counts.epsilon, random), chances, counts.epsilon, random, cells);
      return std::fabs(statistic(cells, at));
    };
  };
  const double null[] = {chance};
  outcome.p_value = p_value(std::fabs(outcome.statistic), redraws(chance), seed_of(counts, null),
                            options, counts.tie);
  if (!options.intervals) return outcome;
  // The interval holds the chances that the test does not reject. Each end is where the statistic
  // meets its critical value, which is found at the normal law's end first.
  const auto meets = [&](double outside, double critical) {
    double inside = found.value;
    if (std::fabs(statistic(counts.cells, outside)) <= critical) return outside;
    for (int i = 0; i < 40; ++i) {
      const double middle = (outside + inside) / 2;
      (std::fabs(statistic(counts.cells, middle)) <= critical ? inside : outside) = middle;
    }
    return outside;
  };
  const auto end = [&](double side) {
    double at = meets(side, 1.96);
    for (int i = 0; i < 2; ++i)
      at = meets(side, quantile(redraws(std::clamp(at, 1e-6, 1 - 1e-6)), seed_of(counts), options));
    return at;
  };
  outcome.interval = {end(0), end(1)};
  return outcome;
}

TestOutcome two_proportion_test(const NoisyCounts& counts, const Options& options) {
  const double noise2 = counts.noise_sd() * counts.noise_sd();
  const auto& c = counts.cells;
  const Share first = share_of(c[0], c[1], noise2), second = share_of(c[2], c[3], noise2);
  const std::span<const double> one(c.data(), 2), two(c.data() + 2, 2);
  TestOutcome outcome;
  outcome.rows = total(c);
  outcome.estimate = first.value - second.value;
  outcome.standard_error = std::sqrt(first.error2 + second.error2);
  outcome.statistic = two_shares(c, noise2);
  const auto given = [&](std::span<const double> cells) {
    const double a = cells[0] + cells[1], b = cells[2] + cells[3];
    const double common = (cells[0] + cells[2]) / std::max(a + b, 1.0);
    return !drowned(cells, counts) &&
           !too_few(std::min(a, b) * std::min(common, 1 - common), counts);
  };
  // Draws of a common share and of numbers of rows that the release allows.
  const auto redraw_null = [&](std::span<const double> from, Resample& random,
                               std::vector<double>& into) {
    const auto truth = allowed(from, 2, counts.epsilon, random);
    const double hits = std::max(0.0, truth[0] + truth[2]),
                 misses = std::max(0.0, truth[1] + truth[3]);
    const double p = (hits + kSmooth) / (hits + misses + 2 * kSmooth), chances[] = {p, 1 - p};
    redraw_given(
        [&] {
          std::vector<double> other;
          redraw(std::max(0.0, truth[0] + truth[1]), chances, counts.epsilon, random, into);
          redraw(std::max(0.0, truth[2] + truth[3]), chances, counts.epsilon, random, other);
          into.insert(into.end(), other.begin(), other.end());
        },
        [&] { return given(into); });
  };
  const auto seed = seed_of(counts);
  std::vector<double> x, y;
  outcome.p_value = kNotGiven;
  if (given(c))
    outcome.p_value = double_p_value(
        std::fabs(outcome.statistic),
        [&](Resample& random) {
          redraw_null(c, random, x);
          return std::fabs(two_shares(x, noise2));
        },
        [&](Resample& random) {
          redraw_null(c, random, x);
          redraw_null(x, random, y);
          return std::fabs(two_shares(y, noise2));
        },
        seed, options, counts.tie);
  if (!options.intervals) return outcome;
  const auto deviation = [&](Resample& random) {
    const double chances_a[] = {first.value, 1 - first.value};
    const double chances_b[] = {second.value, 1 - second.value};
    redraw(rows_of(one, counts.epsilon, random), chances_a, counts.epsilon, random, x);
    redraw(rows_of(two, counts.epsilon, random), chances_b, counts.epsilon, random, y);
    const Share a = share_of(x[0], x[1], noise2), b = share_of(y[0], y[1], noise2);
    return std::fabs(a.value - b.value - (first.value - second.value)) /
           std::sqrt(a.error2 + b.error2);
  };
  const double reach = quantile(deviation, seed, options) * outcome.standard_error;
  outcome.interval = {std::max(-1.0, outcome.estimate - reach),
                      std::min(1.0, outcome.estimate + reach)};
  return outcome;
}

TestOutcome goodness_of_fit(const NoisyCounts& counts, std::span<const double> chances,
                            const Options& options) {
  const double noise2 = counts.noise_sd() * counts.noise_sd();
  std::vector<double> cells, expected(chances.size());
  const auto expect = [&](std::span<const double> drawn) {
    const double rows = std::max(1.0, total(drawn));
    for (std::size_t i = 0; i < chances.size(); ++i) expected[i] = rows * chances[i];
  };
  expect(counts.cells);
  const auto variance = variances(expected, noise2);
  const auto statistic = [&](std::span<const double> drawn) {
    expect(drawn);
    return pearson(drawn, expected, variance);
  };
  TestOutcome outcome;
  outcome.rows = total(counts.cells);
  outcome.degrees = static_cast<double>(chances.size()) - 1;
  outcome.statistic = statistic(counts.cells);
  outcome.p_value = p_value(
      outcome.statistic,
      [&](Resample& random) {
        redraw(rows_of(counts.cells, counts.epsilon, random), chances, counts.epsilon, random,
               cells);
        return statistic(cells);
      },
      seed_of(counts, chances), options, counts.tie);
  outcome.estimate =
      std::sqrt(std::max(0.0, outcome.statistic - outcome.degrees) / std::max(1.0, outcome.rows));
  return outcome;
}

TestOutcome independence_test(const NoisyCounts& counts, std::size_t columns,
                              const Options& options) {
  const double noise2 = counts.noise_sd() * counts.noise_sd();
  const std::size_t rows = counts.cells.size() / columns;
  TestOutcome outcome;
  outcome.rows = total(counts.cells);
  outcome.degrees = static_cast<double>((rows - 1) * (columns - 1));
  const TableScore own(counts.cells, columns, noise2);
  outcome.statistic = own(counts.cells);
  const auto given = [&](std::span<const double> cells) {
    if (drowned(cells, counts)) return false;
    if (counts.noise_sd() >= kAsGoodAsExact) return true;
    const auto chances = products(margins_of(cells, columns));
    return !too_few(std::max(1.0, total(cells)) * *std::min_element(chances.begin(), chances.end()),
                    counts);
  };
  const auto redraw_null = [&](std::span<const double> from, Resample& random,
                               std::vector<double>& into) {
    const auto chances = products(margins_of(from, columns));
    const double n = rows_of(from, counts.epsilon, random);
    redraw_given([&] { redraw(n, chances, counts.epsilon, random, into); },
                 [&] { return given(into); });
  };
  const auto score = [&](std::span<const double> cells) {
    return TableScore(cells, columns, noise2)(cells);
  };
  std::vector<double> first, second;
  if (!given(counts.cells)) {
    outcome.p_value = kNotGiven;
  } else if (std::max(rows, columns) > kTurnedMax) {
    outcome.p_value = p_value(
        outcome.statistic,
        [&](Resample& random) {
          redraw_null(counts.cells, random, first);
          return own(first);
        },
        seed_of(counts), options, counts.tie);
  } else {
    outcome.p_value = double_p_value(
        outcome.statistic,
        [&](Resample& random) {
          redraw_null(counts.cells, random, first);
          return score(first);
        },
        [&](Resample& random) {
          redraw_null(counts.cells, random, first);
          redraw_null(first, random, second);
          return score(second);
        },
        seed_of(counts), options, counts.tie);
  }
  const double smaller = static_cast<double>(std::min(rows, columns)) - 1;
  outcome.estimate =
      std::min(1.0, std::sqrt(std::max(0.0, outcome.statistic - outcome.degrees) /
                              (std::max(1.0, outcome.rows) * std::max(1.0, smaller))));
  return outcome;
}

std::vector<Estimated> shares(const NoisyCounts& counts, const Options& options) {
  const double noise2 = counts.noise_sd() * counts.noise_sd();
  const std::size_t size = counts.cells.size();
  // Of cell i against all others, whose noise is that of size - 1 cells.
  const auto read = [&](std::span<const double> cells, double sum, std::size_t i) {
    const double rows = floored(sum, counts);
    Share share{};
    share.value = std::clamp(cells[i] / rows, 0.0, 1.0);
    const double p = share.value, q = 1 - p;
    const double smooth = (p * rows + 0.5) / (rows + 1);
    share.error2 =
        (rows * smooth * (1 - smooth) + noise2 * (q * q + static_cast<double>(size - 1) * p * p)) /
        (rows * rows);
    return share;
  };
  const double sum = total(counts.cells);
  std::vector<Share> found;
  std::vector<double> chances;
  double mass = 0;
  for (std::size_t i = 0; i < size; ++i) {
    found.push_back(read(counts.cells, sum, i));
    chances.push_back(std::max(found.back().value, 1e-9));
    mass += chances.back();
  }
  for (double& chance : chances) chance /= mass;
  // Every table drawn serves all cells and, by its largest deviation, all at once.
  std::vector<double> alone(size), cells, all(options.draws);
  std::vector<std::vector<double>> drawn(size, std::vector<double>(options.draws));
  const auto seed = seed_of(counts);
  const auto at_confidence = [&](std::vector<double>& values) {
    const auto at = static_cast<std::ptrdiff_t>(
        std::min<double>(std::ceil(options.confidence * (options.draws + 1)), options.draws) - 1);
    std::nth_element(values.begin(), values.begin() + at, values.end());
    return values[static_cast<std::size_t>(at)];
  };
  Resample random(seed);
  for (unsigned draw = 0; draw < options.draws; ++draw) {
    redraw(rows_of(counts.cells, counts.epsilon, random), chances, counts.epsilon, random, cells);
    const double rows = total(cells);
    all[draw] = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const Share share = read(cells, rows, i);
      drawn[i][draw] = std::fabs(share.value - chances[i]) / std::sqrt(share.error2);
      all[draw] = std::max(all[draw], drawn[i][draw]);
    }
  }
  const double joint = at_confidence(all);
  for (std::size_t i = 0; i < size; ++i) alone[i] = at_confidence(drawn[i]);
  std::vector<Estimated> result;
  for (std::size_t i = 0; i < size; ++i) {
    const double error = std::sqrt(found[i].error2), value = found[i].value;
    const auto within = [&](double reach) {
      return Interval{std::max(0.0, value - reach), std::min(1.0, value + reach)};
    };
    result.push_back({value, error, within(alone[i] * error), within(joint * error)});
  }
  return result;
}

double simultaneous_reach(std::size_t cells, double epsilon, double confidence) {
  // P[|Z| <= c] = 1 - 2 r^(c+1) / (1 + r), r = exp(-epsilon), to the power of the cells.
  const double one = std::pow(confidence, 1 / static_cast<double>(cells));
  const double r = std::exp(-epsilon);
  return std::max(0.0, std::ceil(std::log((1 - one) * (1 + r) / 2) / -epsilon - 1));
}

}  // namespace discreet::inference
