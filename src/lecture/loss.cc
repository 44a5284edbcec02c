#include "lecture/loss.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "accounting/optimal_composition.h"
#include "accounting/textbook.h"
#include "lecture/plot.h"

namespace discreet::lecture {
namespace {

// ln of the chance of i lies among k answers.
double log_binomial(double k, double i, double truth) {
  return std::lgamma(k + 1) - std::lgamma(i + 1) - std::lgamma(k - i + 1) +
         (k - i) * std::log(truth) + i * std::log1p(-truth);
}

}  // namespace

Result<Shown> privacy_loss(const LossOptions& o) {
  if (!(o.epsilon > 0 && o.epsilon <= 5))
    return invalid_parameter("--epsilon must lie above 0 and not above 5");
  if (o.times < 1 || o.times > 100'000)
    return invalid_parameter("--times must lie between 1 and 100,000");
  if (!(o.delta > 0 && o.delta < 1)) return invalid_parameter("--delta must lie within (0, 1)");
  DISCREET_TRY(const Epsilon one, Epsilon::make(o.epsilon));
  const auto none = Delta::make(0).value();
  const double k = static_cast<double>(o.times), e = o.epsilon;
  const double truth = 1 / (1 + std::exp(-e));
  const double mean = k * e * std::tanh(e / 2);
  const double deviation = 2 * e * std::sqrt(k * truth * (1 - truth));
  const ApproxDp basic = basic_composition(ApproxDp{one, none}, o.times);
  DISCREET_TRY(const ApproxDp advanced,
               advanced_composition(ApproxDp{one, none}, o.times, o.delta));
  const double tight = optimal_epsilon(one, none, o.times, o.delta);
  // P[loss > t], summed from the far end.
  const auto tail = [&](double t) {
    double sum = 0;
    for (double i = k; i >= 0; --i)
      if (e * (k - 2 * i) > t + 1e-12) sum += std::exp(log_binomial(k, i, truth));
    return std::min(1.0, sum);
  };
  Shown shown;
  shown.statement = fmt::format(
      "{} answers by randomized response, epsilon {:g} each: each answer's loss is +{:g} with "
      "chance "
      "{:.4f}, else -{:g}.",
      o.times, e, e, truth, e);
  shown.columns = {"what bounds the total loss", "epsilon in all", "chance to lose more"};
  const double azuma = mean + e * std::sqrt(2 * k * std::log(1 / o.delta));
  shown.rows = {
      {"worst case: basic composition", basic.epsilon.value(), 0.0},
      {fmt::format("advanced composition, delta {:g}", o.delta), advanced.epsilon.value(),
       Cell(tail(advanced.epsilon.value()), 3)},
      {fmt::format("Azuma around the mean, delta {:g}", o.delta), azuma, Cell(tail(azuma), 3)},
      {fmt::format("tight, delta {:g}", o.delta), tight, Cell(tail(tight), 3)},
      {"the mean", mean, Cell(tail(mean), 3)}};
  shown.notes = {
      fmt::format("The total has mean k epsilon tanh(epsilon/2) = {:.4g} (about k epsilon^2 / 2 = "
                  "{:.4g}) and standard deviation {:.4g}: losses cancel.",
                  mean, k * e * e / 2, deviation),
      "(epsilon, delta)-DP asks for less than P[loss > epsilon] <= delta: an output that passes by "
      "a\n"
      "little counts a little. That is why the tight epsilon is passed with a chance above delta."};
  shown.holds = tail(advanced.epsilon.value()) <= o.delta && tail(azuma) <= o.delta &&
                tight <= advanced.epsilon.value() * (1 + 1e-9);
  BarPlot plot{fmt::format("Privacy loss of {} answers, epsilon {:g} each", o.times, e),
               "total privacy loss",
               "its chance",
               "",
               {},
               {}};
  const double lower = mean - 4.5 * deviation, upper = mean + 4.5 * deviation;
  const double step = std::max(1.0, std::floor((upper - lower) / (2 * e) / 70));
  for (double i = k; i >= 0; i -= step) {
    double sum = 0, at = e * (k - 2 * i);
    if (at < lower || at > upper) continue;
    for (double j = i; j > i - step && j >= 0; --j) sum += std::exp(log_binomial(k, j, truth));
    plot.bars.push_back({at, sum, 0, {}});
  }
  plot.marks = {{mean, "mean"}, {tight, "tight"}};
  if (advanced.epsilon.value() < basic.epsilon.value())
    plot.marks.push_back({advanced.epsilon.value(), "advanced"});
  plot.marks.push_back({basic.epsilon.value(), "basic"});
  if (basic.epsilon.value() > 4 * upper) plot.marks.pop_back();
  shown.picture = bar_picture(plot);
  return shown;
}

}  // namespace discreet::lecture
