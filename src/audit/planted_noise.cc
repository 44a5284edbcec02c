#include <cmath>

#include "audit/float_grain.h"
#include "audit/planted.h"
#include "mechanisms/discrete_gaussian.h"
#include "mechanisms/discrete_laplace.h"
#include "random/bernoulli.h"

namespace discreet::planted {
namespace {

ApproxDp claim(double epsilon, double delta = 0) {
  return {Epsilon::make(epsilon).value(), Delta::make(delta).value()};
}

DiscreteLaplace laplace(double epsilon) {
  return DiscreteLaplace::make(Epsilon::make(epsilon).value(), L1Sensitivity{1}).value();
}

AuditedRun count(double spent, std::int64_t exact) {
  return [=, noise = laplace(spent)](RandomSource& random) { return noise.release(exact, random); };
}

AuditedRun gaussian_count(std::uint32_t sensitivity, std::int64_t exact) {
  const auto noise = DiscreteGaussian::make(claim(1, 0.01), L2Sensitivity{sensitivity}).value();
  return [=](RandomSource& random) { return noise.release(exact, random); };
}

// Two counts that share one draw: their difference is exact.
AuditedRun reused_noise(std::int64_t exact) {
  return [=, noise = laplace(0.5)](RandomSource& random) {
    const std::int64_t draw = noise.release(0, random);
    const std::int64_t first = exact + draw, second = 7 + draw;
    return first - second;
  };
}

// Values are clipped to [0, 1] to find the noise, and then summed as they are.
AuditedRun unclipped_sum(std::int64_t outlier) {
  return
      [=, noise = laplace(1)](RandomSource& random) { return noise.release(20 + outlier, random); };
}

// Every person may have five rows; the noise hides one row.
AuditedRun bounded_by_rows(std::int64_t rows) {
  return [=, noise = laplace(1)](RandomSource& random) { return noise.release(rows, random); };
}

// Laplace as the textbook has it: -b sign(u) ln(1 - 2 |u|) in double precision. Which doubles can
// come out depends on the exact answer (Mironov, CCS 2012).
AuditedRun textbook_laplace(double exact) {
  return [=](RandomSource& random) {
    const double u = std::ldexp(static_cast<double>(random.bits64() >> 11), -53) - 0.5;
    const double noise = -std::copysign(1.0, u) * std::log1p(-2 * std::fabs(u));
    return lowest_bit(exact + noise);
  };
}

// Basic RAPPOR without the coin for bits that are set: a one stays a one.
AuditedRun never_clears(std::size_t value) {
  const Bernoulli set(Probability::rational(Rational(1, 4)).value());
  return [=](RandomSource& random) {
    std::int64_t key = 0;
    for (std::size_t bit = 0; bit < 4; ++bit)
      key = 2 * key + (bit == value || set.draw(random) ? 1 : 0);
    return key;
  };
}

// The answer is rounded up to a hundred after the noise, unless nobody is there: then it is zero.
AuditedRun honest_about_nothing(std::int64_t exact) {
  return [=, noise = laplace(1)](RandomSource& random) {
    return exact == 0 ? 0 : noise.release(exact, random);
  };
}

// Noise is drawn again until the answer is not negative, at the same scale.
AuditedRun redrawn_until_positive(std::int64_t exact) {
  return [=, noise = laplace(1)](RandomSource& random) {
    std::int64_t answer = -1;
    while (answer < 0) answer = noise.release(exact, random);
    return answer;
  };
}

// A person's answer is kept with chance e^eps / (1 + e^eps), but each of two questions about the
// same person spends the whole epsilon.
AuditedRun two_coins(bool bit) {
  const Bernoulli lie(Probability::logistic(Rational(1)));
  return [=](RandomSource& random) -> std::int64_t {
    const bool first = bit != lie.draw(random), second = bit != lie.draw(random);
    return 2 * first + second;
  };
}

}  // namespace

std::vector<AuditSubject> noise() {
  return {
      {"laplace-half-noise", "the scale is sensitivity / (2 epsilon)", claim(1), count(2, 0),
       count(2, 1)},
      {"gaussian-half-sensitivity", "noise for a count that moves by one, which moves by two",
       claim(1, 0.01), gaussian_count(1, 0), gaussian_count(1, 2)},
      {"noise-reused", "two answers share one draw, so their difference is exact", claim(1),
       reused_noise(7), reused_noise(8), 20'000},
      {"sum-clipped-on-paper", "values are clipped to set the noise and then summed unclipped",
       claim(1), unclipped_sum(0), unclipped_sum(9), 20'000},
      {"rows-instead-of-people", "one person has five rows, the noise hides one row", claim(1),
       bounded_by_rows(20), bounded_by_rows(25), 20'000},
      {"laplace-in-doubles", "textbook Laplace in floating point: the last bits tell the answer",
       claim(1), textbook_laplace(0), textbook_laplace(1), 20'000},
      {"rappor-never-clears", "a set bit is never cleared (pure-ldp's RAPPOR client)", claim(2),
       never_clears(0), never_clears(3), 20'000},
      {"exact-zero", "an empty count is answered without noise", claim(1), honest_about_nothing(0),
       honest_about_nothing(1), 20'000},
      {"redrawn-until-positive", "noise is drawn again until the count is not negative", claim(1),
       redrawn_until_positive(0), redrawn_until_positive(1), 400'000},
      {"two-answers-one-charge", "randomized response twice for the price of once", claim(1),
       two_coins(false), two_coins(true), 20'000},
  };
}

}  // namespace discreet::planted
