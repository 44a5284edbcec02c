#include "mechanisms/grid_laplace.h"

#include <cmath>
#include <vector>

#include <fmt/format.h>

namespace discreet {

Result<GridLaplace> GridLaplace::make(Epsilon epsilon, L1Sensitivity sensitivity, Grid grid,
                                      std::uint64_t dimension) {
  if (dimension == 0) return invalid_parameter("a release has at least one coordinate");
  if (!std::isfinite(epsilon.value())) return invalid_parameter("epsilon must be finite");
  DISCREET_TRY(const auto steps, grid.steps(sensitivity, dimension));
  DISCREET_TRY(auto noise, DiscreteLaplace::make(epsilon, steps));
  return GridLaplace(std::move(grid), dimension, std::move(noise));
}

Result<GridLaplace> GridLaplace::make(Epsilon epsilon, L1Sensitivity sensitivity,
                                      std::uint64_t dimension) {
  if (epsilon.value() == 0)
    return invalid_parameter("epsilon must be positive: at zero nothing can be released");
  // A grid fine for the noise, and fine for the sensitivity too: at a large epsilon the noise is
  // small.
  const double scale = std::fmin(sensitivity.value() / epsilon.value(),
                                 sensitivity.value() / static_cast<double>(dimension));
  DISCREET_TRY(auto grid, Grid::for_scale(scale));
  return make(epsilon, sensitivity, std::move(grid), dimension);
}

Result<GridLaplace> GridLaplace::for_error(double error, double confidence,
                                           L1Sensitivity sensitivity, Grid grid,
                                           std::uint64_t dimension) {
  if (dimension == 0) return invalid_parameter("a release has at least one coordinate");
  const double steps_wanted = sub_down(div_down(error, grid.step_up()), 0.5);
  if (!(steps_wanted >= 0))
    return invalid_parameter(fmt::format("an error of {} is below half a step of the grid", error));
  DISCREET_TRY(const auto steps, grid.steps(sensitivity, dimension));
  DISCREET_TRY(auto noise, DiscreteLaplace::for_error(steps_wanted, confidence, steps));
  return GridLaplace(std::move(grid), dimension, std::move(noise));
}

double GridLaplace::release(double exact, RandomSource& random) const {
  return grid_.value(noise_.release(grid_.nearest(exact), random));
}

void GridLaplace::release(std::span<double> exact, RandomSource& random) const {
  DISCREET_CHECK(exact.size() <= dimension_, "more coordinates than the noise was made for");
  std::vector<std::int64_t> steps(exact.size());
  for (std::size_t i = 0; i < exact.size(); ++i) steps[i] = grid_.nearest(exact[i]);
  noise_.release(steps, random);
  for (std::size_t i = 0; i < exact.size(); ++i) exact[i] = grid_.value(steps[i]);
}

// Noise of this many steps, and the half step that rounding may have moved the value.
double GridLaplace::in_units(double steps) const {
  return mul_up(add_up(steps, 0.5), grid_.step_up());
}

double GridLaplace::error_bound(double confidence) const {
  return in_units(noise_.error_bound(confidence));
}

double GridLaplace::error_bound_of_worst(double confidence, std::uint64_t k) const {
  return in_units(noise_.error_bound_of_worst(confidence, k));
}

double GridLaplace::textbook_error_bound(double beta, std::uint64_t k) const {
  return in_units(noise_.textbook_error_bound(beta, k));
}

}  // namespace discreet
