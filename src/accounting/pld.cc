#include "accounting/pld.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "accounting/plan_solver_internal.h"

namespace discreet {

Result<PrivacyLossDistribution> PrivacyLossDistribution::make(const LossEvent& event,
                                                              Neighbours neighbours,
                                                              PldAccuracy accuracy) {
  PrivacyLossDistribution result(accuracy);
  const auto* parallel = std::get_if<loss::Parallel>(&event.kind);
  if (parallel && neighbours == Neighbours::AddRemove) {
    for (const LossEvent& part : parallel->parts) {
      DISCREET_TRY(auto one, make(part, neighbours, accuracy));
      for (LossPlan& plan : one.plans_) result.plans_.push_back(std::move(plan));
    }
    return result;
  }
  DISCREET_TRY(auto remove, make_plan(event, neighbours, Direction::Remove));
  const bool symmetric = remove.symmetric;
  result.plans_.push_back(std::move(remove));
  if (!symmetric) {
    DISCREET_TRY(auto add, make_plan(event, neighbours, Direction::Add));
    result.plans_.push_back(std::move(add));
  }
  return result;
}

namespace {

Result<Bracket> worst(const std::vector<LossPlan>& plans, PlanQuestion question,
                      const PldAccuracy& accuracy) {
  Bracket result{0, 0};
  for (const LossPlan& plan : plans) {
    question.floor = result.lower;
    DISCREET_TRY(const Bracket one, solve(plan, question, accuracy));
    result = {std::fmax(result.lower, one.lower), std::fmax(result.upper, one.upper)};
  }
  return result;
}

}  // namespace

Result<Bracket> PrivacyLossDistribution::epsilon(double delta) const {
  if (!(delta >= 0 && delta <= 1))
    return invalid_parameter(fmt::format("delta must be between 0 and 1, not {}", delta));
  return worst(plans_, {.wants_epsilon = true, .at = delta}, accuracy_);
}

Result<Bracket> PrivacyLossDistribution::delta(double epsilon) const {
  if (!(epsilon >= 0) || std::isinf(epsilon))
    return invalid_parameter(
        fmt::format("epsilon must be finite and not negative, not {}", epsilon));
  return worst(plans_, {.wants_epsilon = false, .at = epsilon}, accuracy_);
}

Result<std::vector<ProfilePoint>> PrivacyLossDistribution::profile(
    std::span<const double> epsilons) const {
  std::vector<ProfilePoint> points;
  for (const double e : epsilons) {
    DISCREET_TRY(const Bracket d, delta(e));
    points.push_back({e, d});
  }
  // A profile does not increase: neighbours tighten each other.
  for (std::size_t i = 1; i < points.size(); ++i)
    if (points[i].epsilon >= points[i - 1].epsilon)
      points[i].delta.upper = std::fmin(points[i].delta.upper, points[i - 1].delta.upper);
  for (std::size_t i = points.size(); i-- > 1;)
    if (points[i].epsilon >= points[i - 1].epsilon)
      points[i - 1].delta.lower = std::fmax(points[i - 1].delta.lower, points[i].delta.lower);
  return points;
}

std::vector<TradeOffPoint> PrivacyLossDistribution::trade_off(std::span<const ProfilePoint> profile,
                                                              std::span<const double> alphas) {
  std::vector<TradeOffPoint> curve;
  for (const double alpha : alphas) {
    double beta = 0;
    for (const ProfilePoint& point : profile) {
      const double rest = 1 - point.delta.upper;
      beta = std::fmax(beta, rest - std::exp(point.epsilon) * alpha);
      beta = std::fmax(beta, std::exp(-point.epsilon) * (rest - alpha));
    }
    curve.push_back({alpha, std::fmax(0.0, beta * (1 - 0x1p-48))});
  }
  return curve;
}

}  // namespace discreet
