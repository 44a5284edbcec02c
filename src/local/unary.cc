// Unary encodings: one bit per value, each bit randomised on its own (SUE, OUE, THE).
#include "local/coin.h"
#include "local/oracles_internal.h"
#include "local/report_bytes_internal.h"
#include "local/unary_bits_internal.h"

namespace discreet::local {
namespace {

class Unary final : public PureOracle {
 public:
  Unary(const Spec& spec, Coin one_if_one, Coin one_if_zero)
      : PureOracle(spec, (spec.values + 7) / 8, spec.values, one_if_one.chance(),
                   one_if_zero.chance()),
        one_if_one_(one_if_one),
        one_if_zero_(one_if_zero) {}

  // Every bit is drawn as if it were zero, then the person's own is drawn again.
  void randomize(std::uint64_t input, RandomSource& random,
                 std::span<std::uint8_t> report) const override {
    toss_bits(one_if_zero_, spec().values, random, report);
    set_bit(report, input, one_if_one_.toss(random));
  }

  Rational likelihood(Bytes report, std::uint64_t input) const override {
    if (!valid(report)) return 0;
    Rational chance = 1;
    for (std::uint64_t i = 0; i < spec().values; ++i) {
      const Rational one = (i == input ? one_if_one_ : one_if_zero_).exact();
      chance *= bit(report.data(), i) ? one : Rational(1 - one);
    }
    return chance;
  }

  bool valid(Bytes report) const override {
    return report.size() == report_bytes() && tail_is_zero(report.data(), spec().values);
  }

 protected:
  void add_valid(Bytes reports, std::span<std::int64_t> cells) const override {
    count_columns({reports, report_bytes(), 0}, cells);
  }

 private:
  Coin one_if_one_, one_if_zero_;
};

}  // namespace

std::unique_ptr<Oracle> make_unary(const Spec& spec) {
  if (spec.kind == OracleKind::SymmetricUnary) {
    const Coin flip = Coin::at_least(Probability::logistic(exact_epsilon(spec, 1, 2)));
    return std::make_unique<Unary>(spec, flip.opposite(), flip);
  }
  if (spec.kind == OracleKind::OptimizedUnary)
    return std::make_unique<Unary>(spec, Coin::fair(),
                                   Coin::at_least(Probability::logistic(exact_epsilon(spec))));
  // THE: a Laplace variable of scale 2 / epsilon exceeds t with chance exp(-epsilon t / 2) / 2, and
  // falls below t - 1 with chance exp(-epsilon (1 - t) / 2) / 2. Only these two chances matter, so
  // the bits are drawn and the Laplace variables never are.
  const Rational t = exact_rational(spec.threshold).value();
  const Rational half_epsilon = exact_epsilon(spec, 1, 2);
  const Coin missed = Coin::half_at_least(Probability::exp_minus(half_epsilon * (1 - t)));
  const Coin exceeds = Coin::half_at_least(Probability::exp_minus(half_epsilon * t));
  return std::make_unique<Unary>(spec, missed.opposite(), exceeds);
}

}  // namespace discreet::local
