#include "synth/noisy_marginals.h"

#include <cmath>

#include "synth/marginals.h"

namespace discreet::synth {

Result<Measurements> Measurements::make(ApproxDp target, std::vector<double> shares,
                                        std::uint64_t cells_max) {
  if (shares.empty()) return invalid_parameter("there is nothing to measure");
  double sum = 0;
  for (const double share : shares) {
    if (!std::isfinite(share) || share <= 0)
      return invalid_parameter("shares of the budget are positive numbers");
    sum = add_up(sum, share);
  }
  // One row moves one cell of each marginal by one; a marginal scaled by the root of its share
  // moves by that root, so all together move by at most the root of the sum (proof page).
  DISCREET_TRY(const auto sensitivity, L2Sensitivity::make(sqrt_up(sum)));
  DISCREET_TRY(const auto whole, DiscreteGaussian::make(target, sensitivity, cells_max));
  const double sigma2 = whole.sigma2();
  std::vector<DiscreteGaussian> noise;
  Rho rho = Rho::zero();
  for (const double share : shares) {
    // Enough both for the sum of zCDP and for the smoothed form of the analytic Gaussian, in which
    // 3 of the variance is set aside.
    const double least =
        std::fmax(div_up(sigma2, share), add_up(div_up(sub_up(sigma2, 3), share), 3));
    DISCREET_TRY(const auto part, Rho::make(div_down(1, mul_up(2, least))));
    DISCREET_TRY(auto mechanism, DiscreteGaussian::make(part, L2Sensitivity{1}, cells_max));
    rho = rho + mechanism.rho();
    noise.push_back(std::move(mechanism));
  }
  return Measurements(std::move(noise), rho, cells_max);
}

std::vector<LossEvent> Measurements::events() const {
  std::vector<LossEvent> events;
  for (std::size_t i = 0; i < next_; ++i) events.push_back(noise_[i].loss());
  return events;
}

double Measurements::sigma(std::size_t marginal) const {
  return std::sqrt(noise_[marginal].sigma2());
}

std::vector<NoisyMarginal> Measurements::measure(const CodedTable& table,
                                                 std::span<const Clique> cliques, Workers& workers,
                                                 RandomSource& random) {
  DISCREET_CHECK(cliques.size() <= left(), "more marginals than were paid for");
  auto counts = count_marginals(table, cliques, workers);
  std::vector<NoisyMarginal> measured;
  for (std::size_t i = 0; i < cliques.size(); ++i) {
    DISCREET_CHECK(counts[i].size() <= cells_left_, "more cells than the noise was made for");
    cells_left_ -= counts[i].size();
    const DiscreteGaussian& mechanism = noise_[next_++];
    mechanism.release(counts[i], random);
    measured.push_back({cliques[i], std::move(counts[i]), std::sqrt(mechanism.sigma2())});
  }
  return measured;
}

}  // namespace discreet::synth
