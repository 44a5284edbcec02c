#include "learn/regression.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace discreet::learn {

double LinearModel::predict(const NumericRows& rows, std::size_t row) const {
  double value = intercept;
  for (std::size_t c = 0; c < coefficients.size(); ++c)
    value += coefficients[c] * rows.columns[c][row];
  return std::clamp(value, -1.0, 1.0);
}

Result<TrainedLinear> train_linear(const NumericRows& rows, GaussianBudget& budget,
                                   RandomSource& random) {
  DISCREET_TRY(const Moments moments,
               measure_moments(rows, {.share = budget.left(), .tail = 60}, budget, random));
  const std::size_t d = rows.columns.size() - 1;  // the last one is the target
  std::vector<std::vector<double>> xx(d, std::vector<double>(d));
  for (std::size_t i = 0; i < d; ++i)
    for (std::size_t j = 0; j < d; ++j) xx[i][j] = moments.products[i][j];
  const Spectrum spectrum = spectrum_of(xx);
  TrainedLinear trained{{std::vector<double>(d, 0), moments.mean[d]},
                        moments.rows,
                        moments.radius,
                        4 * moments.sigma * std::sqrt(static_cast<double>(d))};
  for (std::size_t e = 0; e < d; ++e) {
    double along = 0;
    for (std::size_t i = 0; i < d; ++i) along += spectrum.vectors[e][i] * moments.products[i][d];
    along /= std::fmax(0, spectrum.values[e]) + trained.ridge;
    for (std::size_t i = 0; i < d; ++i)
      trained.model.coefficients[i] += along * spectrum.vectors[e][i];
  }
  for (std::size_t i = 0; i < d; ++i)
    trained.model.intercept -= trained.model.coefficients[i] * moments.mean[i];
  return trained;
}

std::vector<double> ComponentsModel::project(const NumericRows& rows, std::size_t row) const {
  std::vector<double> projected;
  for (const auto& component : components) {
    double sum = 0;
    for (std::size_t c = 0; c < component.size(); ++c)
      sum += component[c] * (rows.columns[c][row] - mean[c]);
    projected.push_back(sum);
  }
  return projected;
}

Result<TrainedComponents> train_components(const NumericRows& rows, std::size_t components,
                                           GaussianBudget& budget, RandomSource& random) {
  if (components == 0 || components > rows.columns.size())
    return invalid_parameter(fmt::format("between 1 and {} components can be found, not {}",
                                         rows.columns.size(), components));
  DISCREET_TRY(const Moments moments,
               measure_moments(rows, {.share = budget.left(), .tail = 30}, budget, random));
  Spectrum spectrum = spectrum_of(moments.products);
  TrainedComponents trained;
  trained.model.mean = moments.mean;
  for (const double value : spectrum.values)
    trained.model.variances.push_back(std::fmax(0, value / moments.rows));
  spectrum.vectors.resize(components);
  trained.model.components = std::move(spectrum.vectors);
  trained.rows = moments.rows;
  trained.radius = moments.radius;
  return trained;
}

}  // namespace discreet::learn
