#include "mechanisms/randomized_response.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <boost/math/distributions/beta.hpp>

#include "mechanisms/binomial_sum_internal.h"
#include "random/uniform.h"

namespace discreet {
namespace {

constexpr double kEpsilonMin = 0x1p-40;
constexpr std::uint64_t kValuesMax = std::uint64_t{1} << 53;

Result<void> check_values(std::uint64_t values) {
  if (values < 2 || values > kValuesMax)
    return invalid_parameter(
        fmt::format("randomized response needs between 2 and 2^53 values, not {}", values));
  return {};
}

Result<void> check_confidence(double confidence) {
  if (!(confidence > 0 && confidence < 1))
    return invalid_parameter(
        fmt::format("confidence must lie strictly between 0 and 1, not {}", confidence));
  return {};
}

Result<void> check_counts(std::uint64_t observed, std::uint64_t reports) {
  if (reports == 0) return invalid_parameter("there are no reports to estimate from");
  if (observed > reports)
    return invalid_parameter(fmt::format("{} of {} reports is not a count", observed, reports));
  return {};
}

}  // namespace

RandomizedResponse::RandomizedResponse(Epsilon epsilon, std::uint64_t values, Probability lie,
                                       double any_lie)
    : epsilon_(epsilon), values_(values), lie_coin_(std::move(lie)) {
  const double others = static_cast<double>(values - 1);
  truth_ = 1 - any_lie;
  lie_ = any_lie / others;
  // p - q = (e^eps - 1) / (e^eps + k - 1) keeps its digits for small epsilon, where p and q meet.
  gain_ = -std::expm1(-epsilon.value()) / (1 + others * std::exp(-epsilon.value()));
}

Result<RandomizedResponse> RandomizedResponse::make(Epsilon epsilon, std::uint64_t values) {
  DISCREET_TRY_VOID(check_values(values));
  if (!(epsilon.value() >= kEpsilonMin) || !std::isfinite(epsilon.value()))
    return invalid_parameter(fmt::format(
        "epsilon {} is outside what randomized response can use: at least 2^-40, and finite",
        epsilon.value()));
  const auto others = static_cast<double>(values - 1);
  const double any_lie = others / (others + std::exp(epsilon.value()));
  return RandomizedResponse(
      epsilon, values,
      Probability::logistic(exact_rational(epsilon.value()).value(), Rational(BigInt(values - 1))),
      any_lie);
}

Result<RandomizedResponse> RandomizedResponse::with_truth(const Rational& p, std::uint64_t values) {
  DISCREET_TRY_VOID(check_values(values));
  if (p * values <= 1)
    return invalid_parameter(
        "the chance of a true report must be above one in the number of values, or reports carry "
        "nothing");
  if (p >= 1) return invalid_parameter("a chance of 1 to report the truth would hide nothing");
  const Rational odds = p * (values - 1) / (1 - p);  // above one
  DISCREET_TRY(const auto epsilon, Epsilon::make(log_up(to_double_up(odds))));
  if (epsilon.value() < kEpsilonMin)
    return invalid_parameter(
        "the chance of a true report is too near a uniform one to carry anything");
  DISCREET_TRY(Probability lie, Probability::rational(1 - p));
  return RandomizedResponse(epsilon, values, std::move(lie), Rational(1 - p).convert_to<double>());
}

Result<RandomizedResponse> RandomizedResponse::with_truth(double p, std::uint64_t values) {
  DISCREET_TRY(const Rational exact, exact_rational(p));
  return with_truth(exact, values);
}

Result<RandomizedResponse> RandomizedResponse::with_keep(const Rational& q, std::uint64_t values) {
  DISCREET_TRY_VOID(check_values(values));
  if (q <= 0 || q >= 1)
    return invalid_parameter("the chance to keep the value must lie strictly between 0 and 1");
  return with_truth(q + (1 - q) / values, values);
}

Result<RandomizedResponse> RandomizedResponse::with_keep(double q, std::uint64_t values) {
  DISCREET_TRY(const Rational exact, exact_rational(q));
  return with_keep(exact, values);
}

Result<RandomizedResponse> RandomizedResponse::for_error(double error, double confidence,
                                                         std::uint64_t reports,
                                                         std::uint64_t values) {
  DISCREET_TRY_VOID(check_values(values));
  DISCREET_TRY_VOID(check_confidence(confidence));
  if (reports == 0) return invalid_parameter("there are no reports to estimate from");
  if (!std::isfinite(error) || error <= 0)
    return invalid_parameter(
        fmt::format("the wanted error must be positive and finite, not {}", error));
  const auto with = [&](double e) { return make(Epsilon::make(e).value(), values).value(); };
  double low = kEpsilonMin, high = 1;
  while (with(high).error_bound(confidence, reports) > error) {
    low = high;
    high *= 2;
    if (high > 1000)
      return invalid_parameter(fmt::format(
          "no epsilon up to 1000 keeps the error of {} reports within {}", reports, error));
  }
  for (int step = 0; step < 60; ++step) {
    const double middle = low + (high - low) / 2;
    (with(middle).error_bound(confidence, reports) <= error ? high : low) = middle;
  }
  return with(high);
}

std::uint64_t RandomizedResponse::release(std::uint64_t value, RandomSource& random) const {
  DISCREET_CHECK(value < values_, "a report must be of one of the declared values");
  const bool lies = lie_coin_.draw(random);
  const std::uint64_t other = uniform_below(values_ - 1, random);  // drawn even when not used
  const std::uint64_t lie = other + (other >= value);              // skips the true value
  return lies ? lie : value;
}

bool RandomizedResponse::release(bool value, RandomSource& random) const {
  DISCREET_CHECK(values_ == 2, "a yes or no report needs two values");
  return lie_coin_.draw(random) != value;
}

void RandomizedResponse::release(std::span<std::uint64_t> values, RandomSource& random) const {
  for (auto& value : values) value = release(value, random);
}

LossEvent RandomizedResponse::loss() const {
  return loss::RandomizedResponse{.epsilon = epsilon_, .values = values_};
}

double RandomizedResponse::variance(double true_count, std::uint64_t reports) const {
  const double rest = static_cast<double>(reports) - true_count;
  return (true_count * truth_ * (1 - truth_) + rest * lie_ * (1 - lie_)) / (gain_ * gain_);
}

// The better of Hoeffding's and Bernstein's inequality; both hold for every true count.
double RandomizedResponse::error_bound(double confidence, std::uint64_t reports) const {
  DISCREET_CHECK(confidence > 0 && confidence < 1, "confidence within (0, 1)");
  const auto n = static_cast<double>(reports);
  const double log_term = std::log(2 / (1 - confidence));
  const double hoeffding = std::sqrt(n * log_term / 2);
  const double spread = n * std::max(truth_ * (1 - truth_), lie_ * (1 - lie_));
  const double bernstein =
      log_term / 3 + std::sqrt(log_term * log_term / 9 + 2 * log_term * spread);
  return std::min(hoeffding, bernstein) / gain_ * (1 + 1e-12);
}

Result<FrequencyEstimate> RandomizedResponse::estimate_count(std::uint64_t observed,
                                                             std::uint64_t reports,
                                                             double confidence) const {
  DISCREET_TRY_VOID(check_counts(observed, reports));
  DISCREET_TRY_VOID(check_confidence(confidence));
  const auto n = static_cast<double>(reports);
  FrequencyEstimate result{};
  result.count = (static_cast<double>(observed) - n * lie_) / gain_;
  result.standard_error = std::sqrt(variance(std::clamp(result.count, 0.0, n), reports));

  // P_t[at least `observed`] rises with the true count t: the interval holds the t for which
  // neither tail is below half the failure chance.
  const double side = (1 - confidence) / 2 * (1 - 1e-9);
  const auto at_least = [&](std::uint64_t t) {
    return binomial_sum_at_least({.first = t, .second = reports - t}, {truth_, lie_}, observed);
  };
  const auto at_most = [&](std::uint64_t t) {
    return binomial_sum_at_most({.first = t, .second = reports - t}, {truth_, lie_}, observed);
  };
  std::uint64_t low = 0, high = reports;
  for (std::uint64_t beyond = reports; low < beyond;) {
    const std::uint64_t middle = low + (beyond - low) / 2;
    if (at_least(middle) >= side)
      beyond = middle;
    else
      low = middle + 1;
  }
  for (std::uint64_t beyond = 0; beyond < high;) {
    const std::uint64_t middle = high - (high - beyond) / 2;
    if (at_most(middle) >= side)
      beyond = middle;
    else
      high = middle - 1;
  }
  result.low = static_cast<double>(std::min(low, high));
  result.high = static_cast<double>(std::max(low, high));
  return result;
}

Result<FrequencyEstimate> RandomizedResponse::estimate_share(std::uint64_t observed,
                                                             std::uint64_t reports,
                                                             double confidence) const {
  DISCREET_TRY_VOID(check_counts(observed, reports));
  DISCREET_TRY_VOID(check_confidence(confidence));
  const auto n = static_cast<double>(reports), hits = static_cast<double>(observed);
  const double seen = hits / n;
  const auto share = [&](double reported) { return (reported - lie_) / gain_; };
  const double side = (1 - confidence) / 2;
  using boost::math::beta_distribution;
  const double low = observed == 0 ? 0 : quantile(beta_distribution<>(hits, n - hits + 1), side);
  const double high =
      observed == reports ? 1 : quantile(complement(beta_distribution<>(hits + 1, n - hits), side));
  return FrequencyEstimate{.count = share(seen),
                           .standard_error = std::sqrt(seen * (1 - seen) / n) / gain_,
                           .low = std::clamp(share(low), 0.0, 1.0),
                           .high = std::clamp(share(high), 0.0, 1.0)};
}

}  // namespace discreet
