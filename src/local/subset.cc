// Subset selection (Ye and Barg 2018): a set of w values, which holds the true one more often than
// not by a factor e^epsilon.
#include "local/coin.h"
#include "local/oracles_internal.h"
#include "local/report_bytes_internal.h"
#include "local/unary_bits_internal.h"
#include "random/uniform.h"

namespace discreet::local {
namespace {

class SubsetSelection final : public PureOracle {
 public:
  SubsetSelection(const Spec& spec, Coin left_out)
      : PureOracle(spec, (spec.values + 7) / 8, spec.values, left_out.opposite().chance(),
                   other_chance(spec, left_out)),
        left_out_(left_out) {}

  // The true value is in or not, the rest is a uniform subset of the others: Floyd's method takes
  // w - 1 or w draws. A w-th is drawn in either case, so the time is the same.
  void randomize(std::uint64_t input, RandomSource& random,
                 std::span<std::uint8_t> report) const override {
    std::fill(report.begin(), report.end(), std::uint8_t{0});
    const bool in = !left_out_.toss(random);
    const std::uint64_t others = spec().values - 1;
    const std::uint64_t wanted = spec().subset - (in ? 1 : 0);
    const auto place = [&](std::uint64_t other) { return other + (other >= input ? 1 : 0); };
    for (std::uint64_t top = others - wanted; top < others; ++top) {
      const std::uint64_t drawn = uniform_below(top + 1, random);
      set_bit(report, bit(report.data(), place(drawn)) ? place(top) : place(drawn), true);
    }
    if (in) (void)uniform_below(others, random);
    set_bit(report, input, in);
  }

  // P[S] = in / C(d-1, w-1) or out / C(d-1, w); the binomials differ by (d - w) / w.
  Rational likelihood(Bytes report, std::uint64_t input) const override {
    if (!valid(report)) return 0;
    const std::uint64_t d = spec().values, w = spec().subset;
    Rational sets = 1;  // C(d-1, w-1)
    for (std::uint64_t i = 1; i < w; ++i) sets = sets * Rational(d - i) / Rational(i);
    if (bit(report.data(), input)) return (1 - left_out_.exact()) / sets;
    return left_out_.exact() / (sets * Rational(d - w) / Rational(w));
  }

  bool valid(Bytes report) const override {
    if (report.size() != report_bytes() || !tail_is_zero(report.data(), spec().values))
      return false;
    std::uint64_t ones = 0;
    for (const auto byte : report) ones += static_cast<std::uint64_t>(__builtin_popcount(byte));
    return ones == spec().subset;
  }

 protected:
  void add_valid(Bytes reports, std::span<std::int64_t> cells) const override {
    count_columns({reports, report_bytes(), 0}, cells);
  }

 private:
  static double other_chance(const Spec& spec, Coin left_out) {
    const auto d = static_cast<double>(spec.values);
    const double w = spec.subset, in = left_out.opposite().chance();
    return (in * (w - 1) + (1 - in) * w) / (d - 1);
  }

  Coin left_out_;
};

}  // namespace

// The chance to be left out is (d - w) / (d - w + w e^epsilon).
std::unique_ptr<Oracle> make_subset(const Spec& spec) {
  const Rational weight(spec.values - spec.subset, spec.subset);
  return std::make_unique<SubsetSelection>(
      spec, Coin::at_least(Probability::logistic(exact_epsilon(spec), weight)));
}

}  // namespace discreet::local
