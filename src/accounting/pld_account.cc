#include "accounting/pld_account.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/rounding.h"

namespace discreet {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kPointsMax = 1 << 20;
constexpr double kQuestionPoints = 400;  // one question is one step: a coarser grid is enough

// E[delta_past(epsilon - loss)] over the question's losses.
double mixed_delta(const GridComposition& past, const GridLaw& question, double epsilon,
                   bool upper) {
  const std::vector<double>& masses = upper ? question.upper : question.lower;
  double sum = upper ? question.infinite_upper : question.infinite_lower;
  const double slack = question.loss_error;
  for (std::size_t i = 0; i < masses.size(); ++i) {
    if (masses[i] <= 0) continue;
    const double rest = epsilon - question.loss(i);
    sum += masses[i] * (upper ? past.upper_delta(rest - slack) : past.lower_delta(rest + slack));
  }
  const double rounding = 0x1p-52 * static_cast<double>(masses.size());
  return upper ? std::fmin(1.0, sum * (1 + rounding)) : sum * (1 - rounding);
}

// The least epsilon >= 0 at which a decreasing function is at most the target: false position on
// the logarithm, which is close to straight, kept between a value that fits and one that does not.
template <class F>
Bracket invert(F f, double target, double guess) {
  double low = 0, high = std::fmax(guess, 1e-6);
  double at_low = f(0.0);
  if (at_low <= target) return {0, 0};
  double at_high = f(high);
  for (int i = 0; at_high > target; ++i) {
    if (i > 60) return {high, kInfinity};
    low = high;
    at_low = at_high;
    high = high * 1.3 + 1e-3;
    at_high = f(high);
  }
  for (int i = 0; i < 60 && high - low > 1e-9 * (1 + high); ++i) {
    double share = 0.5;
    if (i % 3 != 2 && at_high > 0)
      share = std::clamp(std::log(at_low / target) / std::log(at_low / at_high), 1e-4, 0.9999);
    // A little past the estimate, alternately, so that both ends close in.
    share = std::clamp(share + (i % 2 == 0 ? 1e-3 : -1e-3), 1e-4, 0.9999);
    const double middle = low + share * (high - low);
    const double value = f(middle);
    (value <= target ? high : low) = middle;
    (value <= target ? at_high : at_low) = value;
  }
  return {low, high};
}

}  // namespace

PldAccount::PldAccount(double delta, Neighbours neighbours)
    : delta_(delta), neighbours_(neighbours) {}

Result<PldAccount> PldAccount::make(double delta, Neighbours neighbours, PldAccountSize size) {
  if (!(delta > 0 && delta < 1))
    return invalid_parameter(fmt::format("delta must be strictly between 0 and 1, not {}", delta));
  if (!(size.epsilon_max > 0 && size.releases_max >= 1 && size.width > 0))
    return invalid_parameter("an account's size must be positive");
  PldAccount account(delta, neighbours);
  // As if the account were filled by Gaussian noise: eps = s^2/2 + s L with L^2 = 2 ln(1/delta).
  const double reach = std::sqrt(-2 * std::log(delta));
  const double spread = std::sqrt(reach * reach + 2 * size.epsilon_max) - reach;
  account.tilt_ = reach / spread;
  account.step_ =
      std::sqrt(6 * size.width * size.epsilon_max / (size.releases_max * (account.tilt_ + 1)));
  account.tail_ = delta * 1e-7 / size.releases_max;
  const double rate = std::sqrt(-2 * std::log(GridComposition::kOutside)) / spread;
  for (double s = 4 * rate; s > rate / 40; s /= 1.7) account.rates_.push_back(s);
  const double points = 24 * spread / account.step_;
  if (!(points < kPointsMax))
    return invalid_parameter(
        fmt::format("an account for {} releases up to epsilon {} needs {:.0f} grid points; allow a "
                    "wider bracket",
                    size.releases_max, size.epsilon_max, points));
  account.points_ = std::bit_ceil(static_cast<std::size_t>(points) + 16);
  for (int i = 0; i < (neighbours == Neighbours::AddRemove ? 2 : 1); ++i) {
    Past past(account.step_, account.tilt_, account.points_);
    past.right_up.assign(account.rates_.size(), 0.0);
    past.right_low = past.left_up = past.left_low = past.right_up;
    account.directions_.push_back(std::move(past));
  }
  return account;
}

void PldAccount::multiply(Past& past, const LossLaw& law, std::uint64_t count) const {
  const GridLaw grid = discretise(law, step_, 1e-10 * tail_ / delta_, tail_);
  const GridPart part{&grid, count};
  past.product.multiply(part);
  const Cumulants k = cumulants({&part, 1}, tilt_);
  const auto times = static_cast<double>(count);
  past.mean += k.slope;
  past.variance += k.curvature;
  past.total_low += times * grid.loss(0);
  past.total_high += times * grid.loss(grid.upper.size() - 1);
  past.at_up += times * log_moment(grid, true, tilt_);
  past.at_low += times * log_moment(grid, false, tilt_);
  for (std::size_t j = 0; j < rates_.size(); ++j) {
    past.right_up[j] += times * log_moment(grid, true, tilt_ + rates_[j]);
    past.right_low[j] += times * log_moment(grid, false, tilt_ + rates_[j]);
    past.left_up[j] += times * log_moment(grid, true, tilt_ - rates_[j]);
    past.left_low[j] += times * log_moment(grid, false, tilt_ - rates_[j]);
  }
  past.any = true;
}

Result<void> PldAccount::record(Past& past, const LossPlan& plan) const {
  if (plan.rho > 0)
    return Error{ErrorCode::Refused,
                 "an event known by its zCDP only has no place in a PLD account"};
  for (const LawCount& law : plan.laws) multiply(past, *law.law, law.count);
  for (const BinaryCount& releases : plan.binary)
    if (releases.epsilon > 0)
      multiply(past, *randomized_response_law(releases.epsilon), releases.count);
  past.gaussian_mu2.lower = add_down(past.gaussian_mu2.lower, plan.gaussian_mu2.lower);
  past.gaussian_mu2.upper = add_up(past.gaussian_mu2.upper, plan.gaussian_mu2.upper);
  past.log_finite.lower = add_down(past.log_finite.lower, plan.log_finite.lower);
  past.log_finite.upper = add_up(past.log_finite.upper, plan.log_finite.upper);
  past.read.reset();
  return {};
}

Result<void> PldAccount::record(const LossEvent& event) {
  // All directions are planned before any is changed: nothing is recorded by halves.
  std::vector<LossPlan> plans;
  for (std::size_t i = 0; i < directions_.size(); ++i) {
    DISCREET_TRY(LossPlan plan,
                 make_plan(event, neighbours_, i == 0 ? Direction::Remove : Direction::Add));
    if (plan.rho > 0)
      return Error{ErrorCode::Refused,
                   "an event known by its zCDP only has no place in a PLD account"};
    plans.push_back(std::move(plan));
  }
  for (std::size_t i = 0; i < directions_.size(); ++i)
    DISCREET_TRY_VOID(record(directions_[i], plans[i]));
  return {};
}

// The past's profile. Plain Gaussian releases are one more law, joined in only here, so that they
// are discretised once however many there were.
const GridComposition* PldAccount::read(const Past& past) const {
  if (past.read) return &*past.read;
  Past all = past;
  if (all.gaussian_mu2.upper > 0) multiply(all, *gaussian_law(sqrt_up(all.gaussian_mu2.upper)), 1);
  if (!all.any) return nullptr;
  const double log_outside = std::log(GridComposition::kOutside);
  double high = -kInfinity, low = kInfinity;
  const auto widen = [&](double at, const std::vector<double>& right,
                         const std::vector<double>& left) {
    double best_right = kInfinity, best_left = -kInfinity;
    for (std::size_t j = 0; j < rates_.size(); ++j) {
      const double r = (right[j] - at - log_outside) / rates_[j];
      const double l = (at + log_outside - left[j]) / rates_[j];
      if (r < best_right) best_right = r;
      if (l > best_left) best_left = l;
    }
    high = std::fmax(high, best_right);
    low = std::fmin(low, best_left);
  };
  widen(all.at_up, all.right_up, all.left_up);
  widen(all.at_low, all.right_low, all.left_low);
  high = std::fmin(high, all.total_high) + 2 * step_;
  low = std::fmax(low, all.total_low) - 2 * step_;
  past.read.emplace(all.product, all.mean, std::fmax(std::sqrt(all.variance), step_), low, high);
  return &*past.read;
}

void PldAccount::settle() const {
  for (const Past& past : directions_) read(past);
}

Result<Bracket> PldAccount::priced(const Past& past, const LossPlan& extra) const {
  const GridComposition* before = read(past);
  if (before && !before->ok())
    return Error{ErrorCode::Refused, "the account has grown past the size it was made for"};
  const double log_low = add_down(past.log_finite.lower, extra.log_finite.lower);
  const double log_up = add_up(past.log_finite.upper, extra.log_finite.upper);
  // delta = 1 - F (1 - rest): what the rest may use.
  const double fail_up = -expm1_down(log_low), fail_down = std::fmax(0.0, -expm1_up(log_up));
  const double least = (delta_ - fail_up) / (1 - fail_up) * (1 - 0x1p-50);
  const double most = (delta_ - fail_down) / (1 - fail_down) * (1 + 0x1p-50);

  std::vector<LossLawPtr> laws;
  for (const LawCount& law : extra.laws)
    for (std::uint64_t i = 0; i < law.count && laws.size() < 2; ++i) laws.push_back(law.law);
  for (const BinaryCount& releases : extra.binary)
    for (std::uint64_t i = 0; i < releases.count && laws.size() < 2 && releases.epsilon > 0; ++i)
      laws.push_back(randomized_response_law(releases.epsilon));
  if (extra.gaussian_mu2.upper > 0) laws.push_back(gaussian_law(sqrt_up(extra.gaussian_mu2.upper)));
  if (laws.size() > 1 || (laws.size() == 1 && !before)) {
    PldAccount together(delta_, neighbours_);
    together.step_ = step_, together.tilt_ = tilt_, together.tail_ = tail_;
    together.rates_ = rates_;
    Past all = past;
    DISCREET_TRY_VOID(record(all, extra));
    return together.priced(all, {});
  }
  if (!before) return least >= 0 ? Bracket{0, 0} : Bracket{kInfinity, kInfinity};

  Bracket result{0, kInfinity};
  if (laws.empty()) {
    if (least >= 0)
      result = before->epsilon(least);
    else if (!(most >= 0))
      result.lower = kInfinity;
    return result;
  }
  const LossLaw::Range range = laws[0]->range(1e-12);
  const double step = std::fmax(step_, (range.high - range.low) / kQuestionPoints);
  const GridLaw question = discretise(*laws[0], step, 1e-12, tail_);
  const double guess = before->epsilon(std::fmax(least, 1e-300)).upper;
  const double start = std::isfinite(guess) ? guess * 1.01 + 1e-3 : before->centre();
  if (least > 0)
    result.upper =
        invert([&](double e) { return mixed_delta(*before, question, e, true); }, least, start)
            .upper;
  if (most > 0)
    result.lower =
        invert([&](double e) { return mixed_delta(*before, question, e, false); }, most, start)
            .lower;
  else
    result.lower = kInfinity;
  return result;
}

Result<Bracket> PldAccount::epsilon() const {
  Bracket worst{0, 0};
  for (const Past& past : directions_) {
    DISCREET_TRY(const Bracket one, priced(past, {}));
    worst = {std::fmax(worst.lower, one.lower), std::fmax(worst.upper, one.upper)};
  }
  return worst;
}

Result<Bracket> PldAccount::epsilon_with(const LossEvent& event) const {
  Bracket worst{0, 0};
  for (std::size_t i = 0; i < directions_.size(); ++i) {
    DISCREET_TRY(const LossPlan plan,
                 make_plan(event, neighbours_, i == 0 ? Direction::Remove : Direction::Add));
    if (plan.rho > 0)
      return Error{ErrorCode::Refused,
                   "an event known by its zCDP only has no place in a PLD account"};
    DISCREET_TRY(const Bracket one, priced(directions_[i], plan));
    worst = {std::fmax(worst.lower, one.lower), std::fmax(worst.upper, one.upper)};
  }
  return worst;
}

}  // namespace discreet
