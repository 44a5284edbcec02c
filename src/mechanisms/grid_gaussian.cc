#include "mechanisms/grid_gaussian.h"

#include <vector>

#include <fmt/format.h>

namespace discreet {

Result<GridGaussian> GridGaussian::make(Rho rho, L2Sensitivity sensitivity, Grid grid,
                                        std::uint64_t dimension) {
  if (dimension == 0) return invalid_parameter("a release has at least one coordinate");
  DISCREET_TRY(const auto steps, grid.steps(sensitivity, dimension));
  DISCREET_TRY(auto noise, DiscreteGaussian::make(rho, steps, dimension));
  return GridGaussian(std::move(grid), dimension, std::move(noise));
}

Result<GridGaussian> GridGaussian::make(ApproxDp target, L2Sensitivity sensitivity, Grid grid,
                                        std::uint64_t dimension) {
  if (dimension == 0) return invalid_parameter("a release has at least one coordinate");
  DISCREET_TRY(const auto steps, grid.steps(sensitivity, dimension));
  DISCREET_TRY(auto noise, DiscreteGaussian::make(target, steps, dimension));
  return GridGaussian(std::move(grid), dimension, std::move(noise));
}

Result<GridGaussian> GridGaussian::for_error(double error, double confidence,
                                             L2Sensitivity sensitivity, Grid grid) {
  const double steps_wanted = sub_down(div_down(error, grid.step_up()), 0.5);
  if (!(steps_wanted >= 0))
    return invalid_parameter(fmt::format("an error of {} is below half a step of the grid", error));
  DISCREET_TRY(const auto steps, grid.steps(sensitivity, 1));
  DISCREET_TRY(auto noise, DiscreteGaussian::for_error(steps_wanted, confidence, steps));
  return GridGaussian(std::move(grid), 1, std::move(noise));
}

double GridGaussian::release(double exact, RandomSource& random) const {
  return grid_.value(noise_.release(grid_.nearest(exact), random));
}

void GridGaussian::release(std::span<double> exact, RandomSource& random) const {
  DISCREET_CHECK(exact.size() <= dimension_, "more coordinates than the noise was made for");
  std::vector<std::int64_t> steps(exact.size());
  for (std::size_t i = 0; i < exact.size(); ++i) steps[i] = grid_.nearest(exact[i]);
  noise_.release(steps, random);
  for (std::size_t i = 0; i < exact.size(); ++i) exact[i] = grid_.value(steps[i]);
}

// Noise of this many steps, and the half step that rounding may have moved the value.
double GridGaussian::in_units(double steps) const {
  return mul_up(add_up(steps, 0.5), grid_.step_up());
}

double GridGaussian::error_bound(double confidence) const {
  return in_units(noise_.error_bound(confidence));
}

double GridGaussian::error_bound_of_worst(double confidence, std::uint64_t k) const {
  return in_units(noise_.error_bound_of_worst(confidence, k));
}

double GridGaussian::sigma() const {
  return mul_up(sqrt_up(noise_.sigma2()), grid_.step_up());
}

}  // namespace discreet
