#include "inference/count_tests.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "inference/bootstrap_internal.h"

namespace discreet::inference {
namespace {

double total(std::span<const double> cells) {
  return std::accumulate(cells.begin(), cells.end(), 0.0);
}

double rows_at(const NoisyCounts& counts, double shift) {
  const double sd = counts.noise_sd() * std::sqrt(static_cast<double>(counts.cells.size()));
  return std::max(1.0, std::round(total(counts.cells) + shift * sd));
}

// Standard deviations of the noise by which the number of rows may be off. Where rows are many
// times the noise every draw takes a number of its own from what the noise allows; elsewhere the
// worst of three counts.
class RowShifts {
 public:
  explicit RowShifts(const NoisyCounts& counts)
      : known_(total(counts.cells) >
               kKnown * counts.noise_sd() * std::sqrt(static_cast<double>(counts.cells.size()))) {}
  std::size_t scenarios() const { return known_ ? 1 : std::size(kWorst); }
  double draw(std::size_t scenario, Resample& random) const {
    return known_ ? random.normal() : kWorst[scenario];
  }

 private:
  static constexpr double kWorst[] = {0, 2, -2};
  static constexpr double kKnown = 10;
  bool known_;
};

// Fewer rows than the noise of all cells cannot be told from none.
double floored(double rows, const NoisyCounts& counts) {
  return std::max(
      rows, std::max(1.0, counts.noise_sd() * std::sqrt(static_cast<double>(counts.cells.size()))));
}

std::vector<double> seed_of(const NoisyCounts& counts, std::span<const double> more = {}) {
  std::vector<double> seed = counts.cells;
  seed.push_back(counts.epsilon);
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

double pearson(std::span<const double> cells, std::span<const double> expected, double noise2) {
  double sum = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const double gap = cells[i] - expected[i];
    sum += gap * gap / (std::max(expected[i], 0.5) + noise2);
  }
  return sum;
}

// Expected counts under independence: margins with negative ones taken as (nearly) empty.
struct Margins {
  std::vector<double> rows, columns;  // chances
  double total = 0;
};

Margins margins_of(std::span<const double> cells, std::size_t columns, double least) {
  const std::size_t rows = cells.size() / columns;
  Margins m{std::vector<double>(rows), std::vector<double>(columns), 0};
  for (std::size_t i = 0; i < cells.size(); ++i) {
    m.rows[i / columns] += cells[i];
    m.columns[i % columns] += cells[i];
  }
  const auto to_chances = [least](std::vector<double>& margin) {
    double sum = 0;
    for (double& one : margin) sum += one = std::max(one, least);
    for (double& one : margin) one /= sum;
    return sum;
  };
  m.total = to_chances(m.rows);
  to_chances(m.columns);
  return m;
}

std::vector<double> products(const Margins& margins) {
  std::vector<double> chances;
  for (const double row : margins.rows)
    for (const double column : margins.columns) chances.push_back(row * column);
  return chances;
}

double independence_statistic(std::span<const double> cells, std::size_t columns, double noise2) {
  const Margins margins = margins_of(cells, columns, 0.5);
  auto expected = products(margins);
  const double rows = std::max(1.0, total(cells));
  for (double& one : expected) one *= rows;
  return pearson(cells, expected, noise2);
}

}  // namespace

double NoisyCounts::noise_sd() const {
  return std::sqrt(2 * std::exp(-epsilon)) / -std::expm1(-epsilon);
}

TestOutcome proportion_test(const NoisyCounts& counts, double chance, const Options& options) {
  const double noise2 = counts.noise_sd() * counts.noise_sd();
  const auto statistic = [&](std::span<const double> cells, double at) {
    const double rows = floored(cells[0] + cells[1], counts);
    const double gap = (1 - at) * cells[0] - at * cells[1];
    return gap / std::sqrt(std::max(rows * at * (1 - at), 0.25) +
                           noise2 * (at * at + (1 - at) * (1 - at)));
  };
  TestOutcome outcome;
  outcome.rows = total(counts.cells);
  outcome.statistic = statistic(counts.cells, chance);
  const Share found = share_of(counts.cells[0], counts.cells[1], noise2);
  outcome.estimate = found.value;
  outcome.standard_error = std::sqrt(found.error2);
  std::vector<double> cells;
  const RowShifts shifts(counts);
  const auto redraws = [&](double at) {
    return [&, at](std::size_t scenario, Resample& random) {
      const double chances[] = {at, 1 - at};
      redraw(rows_at(counts, shifts.draw(scenario, random)), chances, counts.epsilon, random,
             cells);
      return std::fabs(statistic(cells, at));
    };
  };
  const double null[] = {chance};
  outcome.p_value = worst_p_value(std::fabs(outcome.statistic), shifts.scenarios(), redraws(chance),
                                  seed_of(counts, null), options);
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
      at = meets(side, worst_quantile(shifts.scenarios(), redraws(std::clamp(at, 1e-6, 1 - 1e-6)),
                                      seed_of(counts), options));
    return at;
  };
  outcome.interval = {end(0), end(1)};
  return outcome;
}

TestOutcome two_proportion_test(const NoisyCounts& counts, const Options& options) {
  const double noise2 = counts.noise_sd() * counts.noise_sd();
  const auto& c = counts.cells;
  const Share first = share_of(c[0], c[1], noise2), second = share_of(c[2], c[3], noise2);
  TestOutcome outcome;
  outcome.rows = total(c);
  outcome.estimate = first.value - second.value;
  outcome.standard_error = std::sqrt(first.error2 + second.error2);
  outcome.statistic = outcome.estimate / outcome.standard_error;
  const NoisyCounts one{{c[0], c[1]}, counts.epsilon}, two{{c[2], c[3]}, counts.epsilon};
  std::vector<double> cells;
  const RowShifts shifts(counts);
  const auto redraws = [&](double a, double b) {
    return [&, a, b](std::size_t scenario, Resample& random) {
      const double chances_a[] = {a, 1 - a}, chances_b[] = {b, 1 - b};
      redraw(rows_at(one, shifts.draw(scenario, random)), chances_a, counts.epsilon, random, cells);
      const Share x = share_of(cells[0], cells[1], noise2);
      redraw(rows_at(two, shifts.draw(scenario, random)), chances_b, counts.epsilon, random, cells);
      const Share y = share_of(cells[0], cells[1], noise2);
      return std::fabs(x.value - y.value - (a - b)) / std::sqrt(x.error2 + y.error2);
    };
  };
  const double weight = 1 / first.error2 + 1 / second.error2;
  const double common = (first.value / first.error2 + second.value / second.error2) / weight;
  const auto seed = seed_of(counts);
  outcome.p_value = worst_p_value(std::fabs(outcome.statistic), shifts.scenarios(),
                                  redraws(common, common), seed, options);
  const double reach =
      worst_quantile(shifts.scenarios(), redraws(first.value, second.value), seed, options) *
      outcome.standard_error;
  outcome.interval = {std::max(-1.0, outcome.estimate - reach),
                      std::min(1.0, outcome.estimate + reach)};
  return outcome;
}

TestOutcome goodness_of_fit(const NoisyCounts& counts, std::span<const double> chances,
                            const Options& options) {
  const double noise2 = counts.noise_sd() * counts.noise_sd();
  std::vector<double> cells, expected(chances.size());
  const auto statistic = [&](std::span<const double> drawn) {
    const double rows = std::max(1.0, total(drawn));
    for (std::size_t i = 0; i < chances.size(); ++i) expected[i] = rows * chances[i];
    return pearson(drawn, expected, noise2);
  };
  TestOutcome outcome;
  outcome.rows = total(counts.cells);
  outcome.degrees = static_cast<double>(chances.size()) - 1;
  outcome.statistic = statistic(counts.cells);
  const RowShifts shifts(counts);
  outcome.p_value = worst_p_value(
      outcome.statistic, shifts.scenarios(),
      [&](std::size_t scenario, Resample& random) {
        redraw(rows_at(counts, shifts.draw(scenario, random)), chances, counts.epsilon, random,
               cells);
        return statistic(cells);
      },
      seed_of(counts, chances), options);
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
  outcome.statistic = independence_statistic(counts.cells, columns, noise2);
  const auto chances = products(margins_of(counts.cells, columns, 0.5));
  std::vector<double> cells;
  const RowShifts shifts(counts);
  outcome.p_value = worst_p_value(
      outcome.statistic, shifts.scenarios(),
      [&](std::size_t scenario, Resample& random) {
        redraw(rows_at(counts, shifts.draw(scenario, random)), chances, counts.epsilon, random,
               cells);
        return independence_statistic(cells, columns, noise2);
      },
      seed_of(counts), options);
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
  double joint = 0;
  std::vector<std::vector<double>> drawn(size, std::vector<double>(options.draws));
  const auto seed = seed_of(counts);
  const auto quantile = [&](std::vector<double>& values) {
    const auto at = static_cast<std::ptrdiff_t>(
        std::min<double>(std::ceil(options.confidence * (options.draws + 1)), options.draws) - 1);
    std::nth_element(values.begin(), values.begin() + at, values.end());
    return values[static_cast<std::size_t>(at)];
  };
  const RowShifts shifts(counts);
  for (std::size_t scenario = 0; scenario < shifts.scenarios(); ++scenario) {
    Resample random(seed);
    for (unsigned draw = 0; draw < options.draws; ++draw) {
      redraw(rows_at(counts, shifts.draw(scenario, random)), chances, counts.epsilon, random,
             cells);
      const double rows = total(cells);
      all[draw] = 0;
      for (std::size_t i = 0; i < size; ++i) {
        const Share share = read(cells, rows, i);
        drawn[i][draw] = std::fabs(share.value - chances[i]) / std::sqrt(share.error2);
        all[draw] = std::max(all[draw], drawn[i][draw]);
      }
    }
    joint = std::max(joint, quantile(all));
    for (std::size_t i = 0; i < size; ++i) alone[i] = std::max(alone[i], quantile(drawn[i]));
  }
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
