#include "synth/zcdp_budget.h"

#include <cmath>

#include "mechanisms/exponential.h"
#include "mechanisms/top_k.h"
#include "privacy/zcdp_conversion.h"
#include "synth/marginals.h"

namespace discreet::synth {

Result<ZcdpBudget> ZcdpBudget::make(ApproxDp target) {
  DISCREET_TRY(const Rho total, zcdp_meeting(target));
  return ZcdpBudget(total);
}

double ZcdpBudget::left() const {
  return std::fmax(0, sub_down(total_.value(), spent_.value()));
}

Result<void> ZcdpBudget::pay(Rho cost, const LossEvent& event) {
  const Rho after = spent_ + cost;
  if (after > total_)
    return Error{ErrorCode::BudgetExhausted, "the twin's budget does not pay for another step"};
  spent_ = after;
  events_.push_back(event);
  return {};
}

Result<NoisyMarginal> ZcdpBudget::measure(const CodedTable& table, const Clique& clique,
                                          double sigma, RandomSource& random) {
  return measure(count_marginal(table, clique), clique, sigma, random);
}

Result<NoisyMarginal> ZcdpBudget::measure(std::vector<std::int64_t> exact, const Clique& clique,
                                          double sigma, RandomSource& random) {
  DISCREET_TRY(const Rho wanted, Rho::make(div_down(1, mul_up(2, mul_up(sigma, sigma)))));
  DISCREET_TRY(const auto noise, DiscreteGaussian::make(wanted, L2Sensitivity{1}, exact.size()));
  DISCREET_TRY_VOID(pay(noise.rho(), noise.loss()));
  noise.release(exact, random);
  return NoisyMarginal{clique, std::move(exact), std::sqrt(noise.sigma2())};
}

Result<std::size_t> ZcdpBudget::select(std::span<const std::int64_t> scores,
                                       std::uint32_t sensitivity, double epsilon,
                                       RandomSource& random) {
  DISCREET_TRY(const Epsilon each, Epsilon::make(epsilon));
  DISCREET_TRY(const auto mechanism,
               ExponentialMechanism::make(
                   each, {.sensitivity = LInfSensitivity{sensitivity}, .monotone = false}));
  DISCREET_TRY(const Rho cost, Rho::make(div_up(mul_up(epsilon, epsilon), 8)));
  DISCREET_TRY_VOID(pay(cost, mechanism.loss()));
  return mechanism.release(scores, random);
}

Result<std::vector<std::size_t>> ZcdpBudget::select_several(std::span<const std::int64_t> scores,
                                                            std::uint32_t sensitivity,
                                                            double epsilon, std::size_t count,
                                                            RandomSource& random) {
  DISCREET_TRY(const Epsilon each, Epsilon::make(epsilon));
  DISCREET_TRY(
      const auto mechanism,
      TopK::make(each, count, {.sensitivity = LInfSensitivity{sensitivity}, .monotone = false}));
  DISCREET_TRY(const Rho one, Rho::make(div_up(mul_up(epsilon, epsilon), 8)));
  DISCREET_TRY_VOID(pay(std::uint64_t{count} * one, mechanism.loss()));
  return mechanism.release(scores, random);
}

}  // namespace discreet::synth
