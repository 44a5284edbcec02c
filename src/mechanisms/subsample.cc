#include "mechanisms/subsample.h"

#include <cmath>
#include <unordered_set>

#include <fmt/format.h>

#include "random/uniform.h"

namespace discreet {

ApproxDp amplified(ApproxDp inside, double rate) {
  DISCREET_CHECK(rate >= 0 && rate <= 1, "a sampling rate within [0, 1]");
  const double grown = log1p_up(mul_up(rate, expm1_up(inside.epsilon.value())));
  // Sampling never costs more than not sampling; this also holds where e^epsilon overflows.
  const double epsilon = std::fmin(std::fmax(0, grown), inside.epsilon.value());
  return {Epsilon::make(epsilon).value(),
          Delta::make(std::fmin(1, mul_up(rate, inside.delta.value()))).value()};
}

Result<ApproxDp> inside_for(ApproxDp wanted, double rate) {
  if (!(rate > 0 && rate <= 1))
    return invalid_parameter(fmt::format("a sampling rate must lie within (0, 1], not {}", rate));
  double epsilon = log1p_down(div_down(expm1_down(wanted.epsilon.value()), rate));
  if (!std::isfinite(epsilon)) epsilon = wanted.epsilon.value();
  epsilon = std::fmax(0, epsilon);
  while (epsilon > 0 &&
         amplified({Epsilon::make(epsilon).value(), Delta::zero()}, rate).epsilon > wanted.epsilon)
    epsilon = next_down(epsilon);
  // At most 1, since a delta above it means nothing.
  const double delta = std::fmin(1, div_down(wanted.delta.value(), rate));
  return ApproxDp{Epsilon::make(epsilon).value(), Delta::make(delta).value()};
}

Result<PoissonSample> PoissonSample::make(double probability) {
  if (!(probability > 0 && probability <= 1))
    return invalid_parameter(
        fmt::format("a sampling probability must lie within (0, 1], not {}", probability));
  DISCREET_TRY(auto exact, Probability::rational(exact_rational(probability).value()));
  return PoissonSample(probability, Bernoulli(std::move(exact)));
}

std::vector<std::size_t> PoissonSample::draw(std::size_t units, RandomSource& random) const {
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < units; ++i)
    if (coin_.draw(random)) chosen.push_back(i);
  return chosen;
}

LossEvent PoissonSample::loss(LossEvent inside) const {
  return loss::PoissonSubsampled{probability_,
                                 std::make_shared<const LossEvent>(std::move(inside))};
}

Result<FixedSample> FixedSample::make(std::uint64_t sample, std::uint64_t population) {
  if (sample == 0 || sample > population)
    return invalid_parameter(
        fmt::format("a sample must hold between 1 and {} units, not {}", population, sample));
  return FixedSample(sample, population);
}

// Floyd's method: for j = n - m .. n - 1 take a uniform place up to j, or j itself when it is
// taken.
std::vector<std::size_t> FixedSample::draw(RandomSource& random) const {
  std::unordered_set<std::size_t> taken;
  std::vector<std::size_t> chosen;
  for (std::uint64_t j = population_ - sample_; j < population_; ++j) {
    const std::uint64_t place = uniform_below(j + 1, random);
    chosen.push_back(taken.insert(place).second ? place : j);
    taken.insert(chosen.back());
  }
  return chosen;
}

double FixedSample::rate() const {
  return std::fmin(1, div_up(count_up(sample_), count_down(population_)));
}

LossEvent FixedSample::loss(LossEvent inside) const {
  return loss::SampledWithoutReplacement{sample_, population_,
                                         std::make_shared<const LossEvent>(std::move(inside))};
}

}  // namespace discreet
