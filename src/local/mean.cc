// Means of numbers in a range, from one report a person: Duchi, Jordan and Wainwright 2018; the
// piecewise and hybrid mechanisms of Wang et al. 2019; Laplace noise.
//
// A number is first rounded to one of 2^21 + 1 grid points (below a millionth of the range), so
// that every chance is a whole number of 2^-64 and every estimate is exactly unbiased for the grid
// point. t in [-1, 1] below is the grid point's place.
#include <algorithm>
#include <cmath>

#include "local/coin.h"
#include "local/mean_internal.h"
#include "local/oracles_internal.h"
#include "local/report_bytes_internal.h"
#include "random/discrete_laplace_sampler.h"
#include "random/uniform.h"

namespace discreet::local {

std::uint64_t grid_point(const Spec& spec, double value) {
  const double share = (std::clamp(value, spec.low, spec.high) - spec.low) / (spec.high - spec.low);
  return static_cast<std::uint64_t>(std::llround(share * double{2 * kGridHalf}));
}

namespace {

constexpr std::uint64_t kPoints = 2 * kGridHalf + 1;
constexpr double kHalf = double{kGridHalf};

/// One of two values: up with chance (1 + t gain) / 2.
class TwoPoint {
 public:
  // The gain (e - 1)/(e + 1) is rounded down to a multiple of the grid, so that chances are exact.
  explicit TwoPoint(const Rational& epsilon) {
    const Coin lie = Coin::at_least(Probability::logistic(epsilon));
    step_ = ((std::uint64_t{1} << 63) - lie.heads()) / static_cast<std::uint64_t>(kGridHalf);
  }
  Coin up(std::uint64_t point) const {
    const std::int64_t from_middle = static_cast<std::int64_t>(point) - kGridHalf;
    return Coin::of((std::uint64_t{1} << 63) +
                    static_cast<std::uint64_t>(static_cast<std::int64_t>(step_) * from_middle));
  }
  double size() const { return 0x1p63 / (static_cast<double>(step_) * kHalf); }

 private:
  std::uint64_t step_;
};

/// A window of `window` cells slides over the line as t grows; the report is uniform within it with
/// chance inside, else uniform over the rest, which always has 2 kGridHalf cells.
class Window {
 public:
  explicit Window(double epsilon, const Rational& exact)
      : cells_(std::max<std::uint64_t>(
            1, static_cast<std::uint64_t>(std::llround(2 * kHalf * std::exp(-epsilon / 2))))),
        outside_(Coin::at_least(Probability::logistic(exact, Rational(2 * kGridHalf, cells_)))) {}

  std::uint64_t size() const { return cells_ + 2 * kGridHalf; }
  std::uint64_t draw(std::uint64_t point, RandomSource& random) const {
    const bool out = outside_.toss(random);
    const std::uint64_t within = point + uniform_below(cells_, random);
    const std::uint64_t rest = uniform_below(2 * kGridHalf, random);
    return out ? rest + (rest >= point ? cells_ : 0) : within;
  }
  Rational chance(std::uint64_t cell, std::uint64_t point) const {
    const bool within = cell >= point && cell < point + cells_;
    return within ? (1 - outside_.exact()) / Rational(cells_)
                  : outside_.exact() / Rational(2 * kGridHalf);
  }
  // The expected cell is a line in t; this is its inverse, with t's slope.
  double slope() const {
    const double out = outside_.chance();
    return kHalf * (1 - out - out * static_cast<double>(cells_) / (2 * kHalf));
  }
  double from_middle(std::uint64_t cell) const {
    return static_cast<double>(cell) - (static_cast<double>(size()) - 1) / 2;
  }
  /// Exact variance of from_middle(cell) / slope() at t.
  double variance(double t) const {
    const double w = static_cast<double>(cells_), all = static_cast<double>(size());
    const double out = outside_.chance(), centre = t * kHalf;  // of the window, from the middle
    const auto square = [](double from, double count) {
      return from * from * count + count * (count * count - 1) / 12;
    };
    const double inside = square(centre, w);
    const double second = (1 - out) * inside / w + out * (square(0, all) - inside) / (2 * kHalf);
    return second / (slope() * slope()) - t * t;
  }

 private:
  std::uint64_t cells_;
  Coin outside_;
};

enum class Part : std::uint8_t { TwoPoint = 0, Window = 1 };

// Cells of a tally: reports and their sums for either part, and sums of squares of the window's in
// units of 256 cells, from which the spread is measured.
enum Cell : std::size_t { kTwoCount, kTwoSum, kWindowCount, kWindowSum, kWindowSquares, kCells };

class MeanOracle final : public Oracle {
 public:
  explicit MeanOracle(const Spec& spec)
      : Oracle(spec, spec.kind == OracleKind::MeanDuchi ? 1 : 5, kCells, kPoints),
        two_(exact_epsilon(spec)),
        window_(spec.epsilon, exact_epsilon(spec)),
        use_window_(choose(spec)) {}

  void randomize(std::uint64_t input, RandomSource& random,
                 std::span<std::uint8_t> report) const override {
    const bool window = use_window_.toss(random) || always_window();
    const bool up = two_.up(input).toss(random);
    const std::uint64_t cell = window_.draw(input, random);
    if (report_bytes() == 1) {
      report[0] = up ? 1 : 0;
      return;
    }
    report[0] = static_cast<std::uint8_t>(window ? Part::Window : Part::TwoPoint);
    put(report.data() + 1, window ? cell : std::uint64_t{up}, 4);
  }

  Rational likelihood(Bytes report, std::uint64_t input) const override {
    if (!valid(report)) return 0;
    const Rational up = two_.up(input).exact();
    const Rational chosen = always_window() ? Rational(1) : use_window_.exact();
    if (report_bytes() == 1) return report[0] != 0 ? up : Rational(1 - up);
    const std::uint64_t value = get(report.data() + 1, 4);
    if (report[0] != 0) return chosen * window_.chance(value, input);
    return (1 - chosen) * (value != 0 ? up : Rational(1 - up));
  }

  bool valid(Bytes report) const override {
    if (report.size() != report_bytes() || report[0] > 1) return false;
    if (report_bytes() == 1) return true;
    const std::uint64_t value = get(report.data() + 1, 4);
    if (report[0] == 0) return spec().kind == OracleKind::MeanHybrid && value < 2;
    return value < window_.size();
  }

  /// At the ends of the range, where piecewise is worst, or in the middle, where Duchi's is.
  Variance variance() const override {
    const double worst = std::max(variance_at(1), variance_at(0)), scale = unit();
    return {worst * scale * scale, 0};
  }

  /// counts[i] people hold grid point inputs[i]; the variance of the mean times n^2.
  std::vector<double> variances(double, std::span<const double> counts,
                                std::span<const std::uint64_t> inputs) const override {
    double sum = 0;
    for (std::size_t i = 0; i < counts.size(); ++i)
      sum += counts[i] * variance_at(static_cast<double>(inputs[i]) / kHalf - 1);
    return {sum * unit() * unit()};
  }

 protected:
  void add_valid(Bytes reports, std::span<std::int64_t> cells) const override {
    for (std::size_t at = 0; at < reports.size(); at += report_bytes()) {
      const std::uint8_t* report = reports.data() + at;
      if (report_bytes() > 1 && report[0] != 0) {
        const std::uint64_t cell = get(report + 1, 4);
        const auto coarse =
            static_cast<std::int64_t>(std::llround(window_.from_middle(cell) / 256));
        ++cells[kWindowCount];
        cells[kWindowSum] += static_cast<std::int64_t>(cell);
        cells[kWindowSquares] += coarse * coarse;
      } else {
        ++cells[kTwoCount];
        cells[kTwoSum] += (report_bytes() == 1 ? report[0] : report[1]) != 0 ? 1 : -1;
      }
    }
  }

  // Every report is unbiased for its person's t, whichever part it came from.
  std::vector<Estimate> estimate_mean(const Tally& tally) const override {
    const auto n = static_cast<double>(tally.reports);
    if (tally.reports == 0) return {{(spec().low + spec().high) / 2, INFINITY, 0}};
    const auto cell = [&](Cell c) { return static_cast<double>(tally.cells[c]); };
    const double middle = (static_cast<double>(window_.size()) - 1) / 2;
    const double slope = window_.slope();
    const double mean =
        (two_.size() * cell(kTwoSum) + (cell(kWindowSum) - middle * cell(kWindowCount)) / slope) /
        n;
    const double second = (two_.size() * two_.size() * cell(kTwoCount) +
                           cell(kWindowSquares) * 65536 / (slope * slope)) /
                          n;
    // The reports' own spread: that of the randomisation and of the people, so never too small.
    const double error = std::sqrt(std::max(0.0, second - mean * mean) / n);
    return {{spec().low + (mean + 1) * unit(), error * unit(), 0}};
  }
  std::vector<double> estimate_valid(const Tally&, std::span<const std::uint64_t>) const override {
    return {};
  }

 private:
  static Coin choose(const Spec& spec) {
    if (spec.kind == OracleKind::MeanDuchi) return Coin::of(0);
    if (spec.kind == OracleKind::MeanPiecewise) return Coin::of(~std::uint64_t{0});
    // 1 - exp(-epsilon / 2) where that helps (Wang et al. 2019, equation 8), else never.
    if (spec.epsilon <= 0.61) return Coin::of(0);
    return Coin::at_least(Probability::exp_minus(exact_epsilon(spec, 1, 2))).opposite();
  }
  double unit() const { return (spec().high - spec().low) / 2; }
  bool always_window() const { return spec().kind == OracleKind::MeanPiecewise; }
  double variance_at(double t) const {
    const double a = use_window_.chance();
    return a * window_.variance(t) + (1 - a) * (two_.size() * two_.size() - t * t);
  }

  TwoPoint two_;
  Window window_;
  Coin use_window_;
};

constexpr std::int64_t kLaplaceLimit = std::int64_t{1} << 46;

class MeanLaplaceOracle final : public Oracle {
 public:
  MeanLaplaceOracle(const Spec& spec, DiscreteLaplaceSampler noise)
      : Oracle(spec, 6, 1, kPoints), noise_(std::move(noise)) {}

  void randomize(std::uint64_t input, RandomSource& random,
                 std::span<std::uint8_t> report) const override {
    const std::int64_t noisy = static_cast<std::int64_t>(input) - kGridHalf + noise_.draw(random);
    put(report.data(),
        static_cast<std::uint64_t>(std::clamp(noisy, -kLaplaceLimit, kLaplaceLimit) +
                                   kLaplaceLimit),
        6);
  }

  // Up to the constant that is the same for every input.
  Rational likelihood(Bytes report, std::uint64_t input) const override {
    if (!valid(report)) return 0;
    const std::int64_t z = value(report.data()) - (static_cast<std::int64_t>(input) - kGridHalf);
    return Rational(Probability::exp_minus(noise_.rate() * Rational(z < 0 ? -z : z)).digits(256),
                    BigInt(1) << 256);
  }

  bool valid(Bytes report) const override {
    return report.size() == 6 && get(report.data(), 6) <= 2 * kLaplaceLimit;
  }

  Variance variance() const override {
    const double rate = spec().epsilon / (2 * kHalf);
    const double r = std::exp(-rate), gap = -std::expm1(-rate);
    const double unit = (spec().high - spec().low) / 2 / kHalf;
    return {2 * r / (gap * gap) * unit * unit, 0};
  }
  std::vector<double> variances(double n, std::span<const double>,
                                std::span<const std::uint64_t>) const override {
    return {n * variance().per_report};
  }

 protected:
  void add_valid(Bytes reports, std::span<std::int64_t> cells) const override {
    for (std::size_t at = 0; at < reports.size(); at += 6) cells[0] += value(reports.data() + at);
  }
  std::vector<Estimate> estimate_mean(const Tally& tally) const override {
    const auto n = static_cast<double>(tally.reports);
    if (tally.reports == 0) return {{(spec().low + spec().high) / 2, INFINITY, 0}};
    const double mean = static_cast<double>(tally.cells[0]) / n / kHalf;
    return {{spec().low + (mean + 1) * (spec().high - spec().low) / 2,
             std::sqrt(variance().per_report / n), 0}};
  }
  std::vector<double> estimate_valid(const Tally&, std::span<const std::uint64_t>) const override {
    return {};
  }

 private:
  static std::int64_t value(const std::uint8_t* report) {
    return static_cast<std::int64_t>(get(report, 6)) - kLaplaceLimit;
  }
  DiscreteLaplaceSampler noise_;
};

}  // namespace

std::unique_ptr<Oracle> make_mean(const Spec& spec) {
  if (spec.kind != OracleKind::MeanLaplace) return std::make_unique<MeanOracle>(spec);
  return std::make_unique<MeanLaplaceOracle>(
      spec, DiscreteLaplaceSampler::make(exact_epsilon(spec, 1, static_cast<int>(2 * kGridHalf)))
                .value());
}

}  // namespace discreet::local
