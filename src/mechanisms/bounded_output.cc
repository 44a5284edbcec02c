#include "mechanisms/bounded_output.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/saturating.h"

namespace discreet {
namespace {

constexpr std::uint64_t kWidthMax = std::uint64_t{1} << 53;  // widths are exact as doubles
// Attempts made at every release, so that the time does not show how near the exact value is to an
// end; each succeeds with chance at least a half, so all fail with chance below 2^-64.
constexpr int kAttempts = 64;

std::uint64_t width(OutputRange range) {
  return static_cast<std::uint64_t>(range.upper) - static_cast<std::uint64_t>(range.lower);
}

std::int64_t fold(std::int64_t value, OutputRange range) {
  const Int128 span = Int128{range.upper} - range.lower;
  Int128 offset = (Int128{value} - range.lower) % (2 * span);
  if (offset < 0) offset += 2 * span;
  if (offset > span) offset = 2 * span - offset;
  return static_cast<std::int64_t>(range.lower + offset);
}

// How far an answer can move inside the range, as a double that is not too small.
double reach(double sensitivity, std::uint64_t w) {
  return std::fmin(std::fmax(1, std::floor(sensitivity)), count_up(w));
}

// The greatest rate whose loss is within epsilon.
double truncated_rate(double epsilon, double sensitivity, std::uint64_t w) {
  // The constant varies by at most e^(rate reach), so half of epsilon/reach is always enough.
  double good = div_down(epsilon, 2 * reach(sensitivity, w)) * (1 - 0x1p-20);
  double bad = div_up(epsilon, reach(sensitivity, w));
  for (int step = 0; step < 80; ++step) {
    const double middle = good + (bad - good) / 2;
    if (middle <= good || middle >= bad) break;
    (truncated_laplace_loss_up(middle, sensitivity, w) <= epsilon ? good : bad) = middle;
  }
  return good;
}

}  // namespace

// With r = exp(-rate) and w = upper - lower, the constant of the value h above the lower end is
// proportional to (1 - r^(h+1)) + r (1 - r^(w-h)), least at an end and greatest in the middle.
double truncated_laplace_loss_up(double rate, double sensitivity, std::uint64_t w) {
  const double moved = reach(sensitivity, w);
  const double h = std::fmin(moved, std::floor(count_up(w) / 2));
  const double greatest =
      add_up(-expm1_down(-mul_up(rate, add_up(h, 1))),
             mul_up(exp_up(-rate), -expm1_down(-mul_up(rate, sub_up(count_up(w), h)))));
  const double least = -expm1_up(-mul_down(rate, add_down(count_down(w), 1)));
  return add_up(mul_up(rate, moved), log_up(div_up(greatest, least)));
}

Result<BoundedLaplace> BoundedLaplace::make(Epsilon epsilon, L1Sensitivity sensitivity,
                                            OutputRange range, BoundedForm form) {
  if (range.lower >= range.upper || width(range) > kWidthMax)
    return invalid_parameter(
        fmt::format("a range for releases must hold between two and 2^53 values, not {} to {}",
                    range.lower, range.upper));
  if (epsilon.value() == 0 || !std::isfinite(epsilon.value()))
    return invalid_parameter(fmt::format(
        "epsilon must be positive and finite to release anything, not {}", epsilon.value()));
  DISCREET_TRY(auto noise, DiscreteLaplace::make(epsilon, sensitivity));
  if (form != BoundedForm::Truncated)
    return BoundedLaplace(epsilon, range, form, std::move(noise), std::nullopt);
  const double rate = truncated_rate(epsilon.value(), sensitivity.value(), width(range));
  DISCREET_CHECK(
      truncated_laplace_loss_up(rate, sensitivity.value(), width(range)) <= epsilon.value(),
      "the rate of truncated noise must keep its loss");
  DISCREET_TRY(auto truncated, GeometricSampler::make(exact_rational(rate).value()));
  return BoundedLaplace(epsilon, range, form, std::move(noise), std::move(truncated));
}

Result<BoundedLaplace> BoundedLaplace::for_error(double error, double confidence,
                                                 L1Sensitivity sensitivity, OutputRange range,
                                                 BoundedForm form) {
  if (!(confidence > 0 && confidence < 1))
    return invalid_parameter(
        fmt::format("confidence must lie strictly between 0 and 1, not {}", confidence));
  if (!std::isfinite(error) || error < 0)
    return invalid_parameter(
        fmt::format("the wanted error must be finite and not negative, not {}", error));
  double low = 0, high = 0x1p-20;
  for (;;) {
    DISCREET_TRY(const auto mechanism, make(Epsilon::make(high).value(), sensitivity, range, form));
    if (mechanism.error_bound(confidence) <= error) break;
    low = high;
    high *= 2;
  }
  for (int step = 0; step < 40; ++step) {
    const double middle = low + (high - low) / 2;
    const auto mechanism = make(Epsilon::make(middle).value(), sensitivity, range, form);
    (mechanism && mechanism->error_bound(confidence) <= error ? high : low) = middle;
  }
  return make(Epsilon::make(high).value(), sensitivity, range, form);
}

std::int64_t BoundedLaplace::release(std::int64_t exact, RandomSource& random) const {
  const std::int64_t inside = std::clamp(exact, range_.lower, range_.upper);
  switch (form_) {
    case BoundedForm::Clamped:
      return std::clamp(noise_.release(inside, random), range_.lower, range_.upper);
    case BoundedForm::Folded:
      return fold(noise_.release(inside, random), range_);
    case BoundedForm::Truncated:
      return release_truncated(inside, random);
  }
  fail_check("known form", "bounded noise of no form");
}

// A proposal is a fair sign and a geometric magnitude within the width of the range. Kept, it has
// the truncated distribution: a negative zero, which would count zero twice, is not kept.
std::int64_t BoundedLaplace::release_truncated(std::int64_t exact, RandomSource& random) const {
  for (;;) {
    std::int64_t chosen = 0;
    bool found = false;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      const std::int64_t magnitude = truncated_->draw_below(width(range_) + 1, random);
      const bool negative = (random.bits64() & 1) != 0;
      const Int128 value = negative ? Int128{exact} - magnitude : Int128{exact} + magnitude;
      const bool kept = (value >= range_.lower) & (value <= range_.upper) &
                        !(negative & (magnitude == 0)) & !found;
      chosen = kept ? static_cast<std::int64_t>(value) : chosen;
      found |= kept;
    }
    if (found) [[likely]]
      return chosen;
  }
}

LossEvent BoundedLaplace::loss() const {
  return form_ == BoundedForm::Truncated ? LossEvent(loss::Pure{epsilon_}) : noise_.loss();
}

double BoundedLaplace::rate() const {
  return form_ == BoundedForm::Truncated ? to_double_down(truncated_->rate())
                                         : div_down(1, noise_.scale());
}

double BoundedLaplace::error_bound(double confidence) const {
  DISCREET_CHECK(confidence > 0 && confidence < 1, "confidence within (0, 1)");
  const double w = count_up(width(range_));
  // Clamping and folding never move a release away from a value inside.
  if (form_ != BoundedForm::Truncated) return std::fmin(w, noise_.error_bound(confidence));
  // On either side P[|Y - exact| > t] <= (r^t - r^w) / (1 - r^w).
  const double beta = (1 - confidence) * (1 - 1e-12);
  const double whole = std::exp(-rate() * w);
  const double bound = std::ceil(-std::log(beta * (1 - whole) + whole) / rate() * (1 + 1e-12));
  return std::fmin(w, std::fmax(0, bound));
}

}  // namespace discreet
