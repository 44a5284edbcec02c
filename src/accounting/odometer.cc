#include "accounting/odometer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace discreet {

void BasicOdometer::spend(ApproxDp cost) {
  const std::scoped_lock lock(mutex_);
  spent_ = {spent_.epsilon + cost.epsilon, spent_.delta + cost.delta};
}

ApproxDp BasicOdometer::spent() const {
  const std::scoped_lock lock(mutex_);
  return spent_;
}

// Orders 1 + 2^(i/2): dense enough that the best of them is within 2 % of the best of all.
RenyiOdometer::RenyiOdometer(double delta) : delta_(delta) {
  constexpr int kFirst = -2, kLast = 26;
  const double weight = 1.0 / (kLast - kFirst + 1);
  for (int i = kFirst; i <= kLast; ++i) {
    const double order = 1 + std::exp2(i / 2.0);
    orders_.push_back(order);
    offsets_.push_back(div_up(-log_down(mul_down(next_down(weight), delta)), sub_down(order, 1)));
    spent_.push_back(0);
  }
}

RenyiOdometer::RenyiOdometer(RenyiOdometer&& other) noexcept {
  const std::scoped_lock lock(other.mutex_);
  delta_ = other.delta_;
  delta_spent_ = other.delta_spent_;
  orders_ = other.orders_;
  offsets_ = other.offsets_;
  spent_ = other.spent_;
}

Result<RenyiOdometer> RenyiOdometer::make(double delta) {
  if (!(delta > 0 && delta < 1))
    return invalid_parameter(
        fmt::format("an odometer needs a delta strictly between 0 and 1, not {}", delta));
  return RenyiOdometer(delta);
}

Result<void> RenyiOdometer::spend(const RenyiCost& cost) {
  if (cost.divergences.size() != orders_.size())
    return invalid_parameter("the cost was computed for other orders than the odometer's");
  for (const double divergence : cost.divergences)
    if (!(divergence >= 0)) return invalid_parameter("a Renyi divergence must not be negative");
  if (!(cost.delta >= 0)) return invalid_parameter("a delta must not be negative");
  const std::scoped_lock lock(mutex_);
  for (std::size_t i = 0; i < spent_.size(); ++i)
    spent_[i] = add_up(spent_[i], cost.divergences[i]);
  delta_spent_ = std::fmin(1.0, add_up(delta_spent_, cost.delta));
  return {};
}

double RenyiOdometer::epsilon() const {
  const std::scoped_lock lock(mutex_);
  if (std::ranges::all_of(spent_, [](double value) { return value == 0; })) return 0;
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < spent_.size(); ++i)
    best = std::fmin(best, add_up(spent_[i], offsets_[i]));
  return best;
}

double RenyiOdometer::delta() const {
  const std::scoped_lock lock(mutex_);
  return std::fmin(1.0, add_up(delta_, delta_spent_));
}

std::string RenyiOdometer::save() const {
  const std::scoped_lock lock(mutex_);
  return nlohmann::json{{"odometer", "renyi"},
                        {"version", 1},
                        {"delta", delta_},
                        {"delta_spent", delta_spent_},
                        {"spent", spent_}}
      .dump();
}

Result<RenyiOdometer> RenyiOdometer::restore(std::string_view text) {
  const auto object = nlohmann::json::parse(text.begin(), text.end(), nullptr, false);
  const Error wrong = invalid_input("not a saved renyi odometer of version 1");
  if (!object.is_object() || object.value("odometer", nlohmann::json()) != "renyi" ||
      object.value("version", nlohmann::json()) != 1)
    return wrong;
  const auto delta = object.find("delta"), own = object.find("delta_spent"),
             spent = object.find("spent");
  if (delta == object.end() || !delta->is_number() || own == object.end() || !own->is_number() ||
      !(own->get<double>() >= 0) || spent == object.end() || !spent->is_array())
    return wrong;
  DISCREET_TRY(RenyiOdometer odometer, make(delta->get<double>()));
  if (spent->size() != odometer.spent_.size()) return wrong;
  for (std::size_t i = 0; i < spent->size(); ++i) {
    const auto& value = (*spent)[i];
    if (!value.is_null() && !(value.is_number() && value.get<double>() >= 0)) return wrong;
    odometer.spent_[i] = value.is_null() ? HUGE_VAL : value.get<double>();
  }
  odometer.delta_spent_ = std::fmin(1.0, own->get<double>());
  return odometer;
}

}  // namespace discreet
