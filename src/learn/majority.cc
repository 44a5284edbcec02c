#include "learn/majority.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace discreet::learn {

std::uint32_t most_common_class(const ClassTables& tables) {
  return static_cast<std::uint32_t>(std::max_element(tables.rates.begin(), tables.rates.end()) -
                                    tables.rates.begin());
}

double check_share_for(double rows, double mu, double least) {
  const double wanted = 60 / (rows * mu);
  return std::clamp(wanted * wanted, least, std::fmax(least, 0.1));
}

Result<void> compare_with_majority(std::span<const std::uint32_t> predicted,
                                   std::span<const std::uint16_t> labels, const ClassTables& tables,
                                   double rows_min, double share, GaussianBudget& budget,
                                   RandomSource& random, TrainingNotes& notes) {
  const std::uint32_t majority = most_common_class(tables);
  constexpr std::int64_t kUnit = 16;  // a grid fine enough for small noise
  std::vector<std::int64_t> gain(1, 0);
  for (std::size_t row = 0; row < labels.size(); ++row)
    gain[0] += kUnit * ((predicted[row] == labels[row]) - (majority == labels[row]));
  DISCREET_TRY(const double sigma, budget.release(gain, kUnit, share, random));
  const double noisy = static_cast<double>(gain[0]) / kUnit;
  notes.gain = noisy;
  const bool too_few = tables.rows < rows_min;
  if (!too_few && noisy >= sigma / kUnit) {
    notes.notes.push_back(
        fmt::format("on its training rows it is right about {:.3f} more often than always saying "
                    "the most common class (noise {:.3f})",
                    noisy / tables.rows, sigma / kUnit / tables.rows));
    return {};
  }
  notes.majority = true;
  notes.notes.push_back(fmt::format(
      "CANNOT DO BETTER THAN THE MAJORITY at this epsilon with about {:.0f} rows{}: the model "
      "always says the most common class, and its scores only rank rows",
      tables.rows,
      too_few ? fmt::format(" (about {:.0f} are needed)", std::ceil(rows_min)) : std::string()));
  return {};
}

Result<bool> give_up_early(std::span<const std::uint16_t> labels, double rows_min, double share,
                           GaussianBudget& budget, RandomSource& random, ClassTables& tables,
                           TrainingNotes& notes) {
  if (tables.rows >= rows_min) return false;
  constexpr std::int64_t kUnit = 16;
  std::vector<std::int64_t> counts(tables.classes, 0);
  for (const std::uint16_t label : labels) counts[label] += kUnit;
  DISCREET_TRY_VOID(budget.release(counts, kUnit, share, random));
  double sum = 0;
  for (std::size_t y = 0; y < counts.size(); ++y)
    sum += tables.rates[y] = std::fmax(1, static_cast<double>(counts[y]) / kUnit);
  for (double& rate : tables.rates) rate /= sum;
  notes.majority = true;
  notes.notes.push_back(fmt::format(
      "CANNOT DO BETTER THAN THE MAJORITY at this epsilon with about {:.0f} rows (about {:.0f} are "
      "needed): the model always says the most common class, and its scores only rank rows",
      sum, std::ceil(rows_min)));
  return true;
}

std::vector<double> reach_of(std::span<const double> weights, std::uint32_t classes,
                             std::uint32_t majority) {
  const std::size_t k = outputs_of(classes);
  std::vector<double> reach(classes, 0.0);
  for (std::uint32_t y = 0; y < classes; ++y) {
    if (y == majority || weights.empty()) continue;
    double most = -1e300;
    for (std::size_t at = 0; at * k < weights.size(); ++at)
      most = std::fmax(most, k == 1 ? (y == 1 ? weights[at] : -weights[at])
                                    : weights[at * k + y] - weights[at * k + majority]);
    reach[y] = most;
  }
  return reach;
}

Damping damp(const ClassTables& tables, std::span<const double> reach) {
  const std::uint32_t majority = most_common_class(tables);
  Damping damping{prior_log_odds(tables), 1};
  const bool two = damping.prior.size() == 1;
  if (two) {
    const double sign = majority == 1 ? 1 : -1;
    damping.prior[0] = sign * std::fmax(std::fabs(damping.prior[0]), 1e-3);
  } else {
    damping.prior[majority] += 1e-3;
  }
  for (std::uint32_t y = 0; y < reach.size(); ++y) {
    if (y == majority || reach[y] <= 0) continue;
    const double room =
        two ? std::fabs(damping.prior[0]) : damping.prior[majority] - damping.prior[y];
    damping.scale = std::fmin(damping.scale, 0.99 * room / reach[y]);
  }
  return damping;
}

}  // namespace discreet::learn
