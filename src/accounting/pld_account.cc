#include "accounting/pld_account.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "accounting/plan_solver_internal.h"
#include "base/rounding.h"

namespace discreet {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kPointsMax = 0x1p26;
constexpr double kFirstTry = 200;          // releases, before which no product is tried
constexpr std::size_t kProvedMax = 12;     // laws asked for proof that frequencies vanish
constexpr std::size_t kLastingMax = 6000;  // frequencies to begin with, at most
constexpr std::size_t kAliveMax = 700;     // frequencies that remain, at most
constexpr double kAtomicPoints = 300;      // across the range of a law with atoms
constexpr double kSmoothPoints = 12;       // to a standard deviation of a law without
constexpr double kSeenPoints = 120;
constexpr std::size_t kLaidMax = 64;

std::uint64_t power_of_two_below(double x) {
  return x < 2 ? 1 : std::bit_floor(static_cast<std::uint64_t>(x));
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
  // Releases of equal size: a step of a small share of one's deviation. Points cost nothing, since
  // only frequencies are kept.
  const double one = spread / std::sqrt(size.releases_max);
  account.tail_ = delta * 1e-7 / size.releases_max;
  const double rate = std::sqrt(-2 * std::log(GridComposition::kOutside)) / spread;
  for (double s = 8 * rate; s > rate / 40; s /= 2) account.rates_.push_back(s);
  const double window = 18 * spread;
  const double points = 8 * window / (one * std::sqrt(size.width));
  if (!(points < kPointsMax))
    return invalid_parameter(
        fmt::format("an account for {} releases up to epsilon {} needs {:.0f} grid points; allow a "
                    "wider bracket",
                    size.releases_max, size.epsilon_max, points));
  account.points_ = std::bit_ceil(static_cast<std::size_t>(points) + 16);
  account.step_ = window / static_cast<double>(account.points_);
  account.directions_.emplace_back();
  return account;
}

// A law on the account's grid, at as many of its points as are worth it.
PldAccount::LaidPtr PldAccount::lay(const LossLaw& law, const std::string& key) const {
  if (const auto found = laid_.find(key); found != laid_.end()) return found->second;
  const LossLaw::Range range = law.range(1e-12);
  const double width = range.high - range.low;
  const double tail_below = 1e-10 * tail_ / delta_;
  auto laid = std::make_shared<Laid>();
  GridLaw* made = &laid->grid;
  if (!law.atoms().empty()) {
    const auto stride =
        static_cast<std::int64_t>(power_of_two_below(std::ceil(width / (kAtomicPoints * step_))));
    *made = discretise(law, step_ * static_cast<double>(stride), tail_below, tail_);
    for (std::int64_t& index : made->at) index *= stride;
    made->step = step_;
  } else {
    const GridLaw seen = discretise(law, std::fmax(step_, width / kSeenPoints), tail_below, tail_);
    const GridPart part{&seen, 1};
    const double deviation = std::sqrt(cumulants({&part, 1}, tilt_).curvature);
    const auto least =
        static_cast<std::int64_t>(power_of_two_below(deviation / (kSmoothPoints * step_)));
    *made = discretise(law, step_, tail_below, tail_, wide_tails(seen, tilt_, step_, least));
  }
  const GridPart part{made, 1};
  laid->at_tilt = cumulants({&part, 1}, tilt_);
  laid->at_low = log_moment(*made, false, tilt_);
  for (const double rate : rates_) {
    laid->right_up.push_back(log_moment(*made, true, tilt_ + rate));
    laid->right_low.push_back(log_moment(*made, false, tilt_ + rate));
    laid->left_up.push_back(log_moment(*made, true, tilt_ - rate));
    laid->left_low.push_back(log_moment(*made, false, tilt_ - rate));
  }
  if (laid_.size() >= kLaidMax) laid_.clear();
  laid_.emplace(key, laid);
  return laid;
}

void PldAccount::multiply(Past& past, const Laid& laid, std::uint64_t count) const {
  const GridLaw& grid = laid.grid;
  past.product->multiply({&grid, count});
  const auto times = static_cast<double>(count);
  past.mean += times * laid.at_tilt.slope;
  past.variance += times * laid.at_tilt.curvature;
  past.total_low += times * grid.loss(0);
  past.total_high += times * grid.loss(grid.upper.size() - 1);
  past.at_up += times * laid.at_tilt.value;
  past.at_low += times * laid.at_low;
  for (std::size_t j = 0; j < rates_.size(); ++j) {
    past.right_up[j] += times * laid.right_up[j];
    past.right_low[j] += times * laid.right_low[j];
    past.left_up[j] += times * laid.left_up[j];
    past.left_low[j] += times * laid.left_low[j];
  }
}

namespace {

std::string binary_key(double epsilon) {
  return fmt::format("binary {}", epsilon);
}

}  // namespace

void PldAccount::add(Past& past, const LossPlan& plan) const {
  past.joined.reset();
  past.gaussian_mu2.lower = add_down(past.gaussian_mu2.lower, plan.gaussian_mu2.lower);
  past.gaussian_mu2.upper = add_up(past.gaussian_mu2.upper, plan.gaussian_mu2.upper);
  past.log_finite.lower = add_down(past.log_finite.lower, plan.log_finite.lower);
  past.log_finite.upper = add_up(past.log_finite.upper, plan.log_finite.upper);
  for (const LawCount& law : plan.laws) {
    if (past.product) {
      multiply(past, *lay(*law.law, law.key), law.count);
    } else {
      Held& held = past.laws[law.key];
      held.law = law.law;
      held.count += law.count;
    }
  }
  for (const BinaryCount& releases : plan.binary) {
    if (releases.epsilon == 0) continue;
    if (past.product)
      multiply(past, *lay(*randomized_response_law(releases.epsilon), binary_key(releases.epsilon)),
               releases.count);
    else
      past.binary[releases.epsilon] += releases.count;
  }
}

// Turns the list into a product, if the laws on it prove that few frequencies are left.
void PldAccount::try_product(Past& past) const {
  struct Candidate {
    LaidPtr laid;
    std::uint64_t count;
    double weight;
  };
  std::vector<Candidate> all;
  const auto take = [&](const LossLaw& law, const std::string& key, std::uint64_t count) {
    const LaidPtr laid = lay(law, key);
    all.push_back({laid, count, static_cast<double>(count) * laid->at_tilt.curvature});
  };
  for (const auto& [key, held] : past.laws) take(*held.law, key, held.count);
  for (const auto& [epsilon, count] : past.binary)
    take(*randomized_response_law(epsilon), binary_key(epsilon), count);
  if (all.empty()) return;
  std::sort(all.begin(), all.end(),
            [](const Candidate& a, const Candidate& b) { return a.weight > b.weight; });
  std::vector<GridPart> proving;
  for (std::size_t i = 0; i < std::min(all.size(), kProvedMax); ++i)
    proving.push_back({&all[i].laid->grid, all[i].count});
  auto lasting = lasting_frequencies(proving, tilt_, points_);
  if (lasting.size() > kLastingMax) return;
  Past made;
  made.product.emplace(step_, tilt_, points_, std::move(lasting));
  made.right_up.assign(rates_.size(), 0.0);
  made.right_low = made.left_up = made.left_low = made.right_up;
  for (const Candidate& one : all) multiply(made, *one.laid, one.count);
  if (made.product->alive().size() > kAliveMax) return;
  made.gaussian_mu2 = past.gaussian_mu2;
  made.log_finite = past.log_finite;
  past = std::move(made);
}

Result<std::vector<LossPlan>> PldAccount::plans(const LossEvent& event) const {
  std::vector<LossPlan> both;
  DISCREET_TRY(LossPlan remove, make_plan(event, neighbours_, Direction::Remove));
  const bool symmetric = remove.symmetric;
  both.push_back(std::move(remove));
  if (!symmetric || directions_.size() > 1) {
    DISCREET_TRY(LossPlan add, make_plan(event, neighbours_, Direction::Add));
    both.push_back(std::move(add));
  }
  for (const LossPlan& plan : both) {
    const bool bounded = std::any_of(plan.laws.begin(), plan.laws.end(),
                                     [](const LawCount& law) { return law.lower != nullptr; });
    if (plan.rho > 0 || bounded)
      return Error{ErrorCode::Refused,
                   "a PLD account takes events with a worst pair; zCDP, and samples without "
                   "replacement under replace-one, have only a bound"};
  }
  return both;
}

Result<void> PldAccount::record(const LossEvent& event) {
  DISCREET_TRY(const auto both, plans(event));
  // Until the first event whose two directions differ, one past stands for both.
  if (both.size() > directions_.size()) directions_.push_back(directions_.front());
  for (std::size_t i = 0; i < directions_.size(); ++i) add(directions_[i], both[i]);
  for (const LawCount& law : both.front().laws) releases_ += static_cast<double>(law.count);
  for (const BinaryCount& binary : both.front().binary)
    releases_ += static_cast<double>(binary.count);
  // Tried again whenever the account has grown by half.
  if (releases_ >= std::fmax(kFirstTry, 1.5 * tried_at_)) {
    tried_at_ = releases_;
    for (Past& past : directions_)
      if (!past.product) try_product(past);
  }
  return {};
}

bool PldAccount::ready() const {
  return std::all_of(directions_.begin(), directions_.end(),
                     [](const Past& past) { return past.product.has_value(); });
}

Result<Bracket> PldAccount::composed_again(const Past& past, const LossPlan& extra) const {
  LossPlan plan = extra;
  plan.gaussian_mu2 = {add_down(plan.gaussian_mu2.lower, past.gaussian_mu2.lower),
                       add_up(plan.gaussian_mu2.upper, past.gaussian_mu2.upper)};
  plan.failures = 1;  // the account keeps their logarithms only
  plan.log_finite = {add_down(plan.log_finite.lower, past.log_finite.lower),
                     add_up(plan.log_finite.upper, past.log_finite.upper)};
  for (const auto& [key, held] : past.laws) {
    const auto same =
        std::find_if(plan.laws.begin(), plan.laws.end(),
                     [&, &name = key](const LawCount& law) { return law.key == name; });
    if (same == plan.laws.end())
      plan.laws.push_back({held.law, held.count, key});
    else
      same->count += held.count;
  }
  std::map<double, std::uint64_t> binary = past.binary;
  for (const BinaryCount& releases : plan.binary) binary[releases.epsilon] += releases.count;
  plan.binary.clear();
  for (const auto& [epsilon, count] : binary) plan.binary.push_back({epsilon, count});
  return solve(plan, {.wants_epsilon = true, .at = delta_}, {});
}

Result<Bracket> PldAccount::priced(const Past& past, const LossPlan& extra) const {
  if (!past.product) return composed_again(past, extra);
  // Gaussian releases are one law together, laid out anew when there are more of them; what they
  // make of the past is kept for questions of other kinds.
  const auto join_gaussian = [&](Past& to) {
    if (to.gaussian_mu2.upper == 0) return;
    const double mu = sqrt_up(to.gaussian_mu2.upper);
    multiply(to, *lay(*gaussian_law(mu), fmt::format("gaussian {}", mu)), 1);
    to.gaussian_mu2 = {0, 0};
  };
  Past all;
  if (extra.gaussian_mu2.upper > 0) {
    all = past;
    add(all, extra);
    join_gaussian(all);
  } else {
    if (!past.joined) {
      auto joined = std::make_shared<Past>(past);
      join_gaussian(*joined);
      past.joined = std::move(joined);
    }
    all = *past.joined;
    add(all, extra);
  }
  // delta = 1 - F (1 - rest): what the rest may use.
  const double fail_up = -expm1_down(all.log_finite.lower);
  const double fail_down = std::fmax(0.0, -expm1_up(all.log_finite.upper));
  const double least = (delta_ - fail_up) / (1 - fail_up) * (1 - 0x1p-50);
  const double most = (delta_ - fail_down) / (1 - fail_down) * (1 + 0x1p-50);

  const double log_outside = std::log(GridComposition::kOutside);
  double high = -kInfinity, low = kInfinity;
  const auto widen = [&](double at, const std::vector<double>& right,
                         const std::vector<double>& left) {
    double best_right = kInfinity, best_left = -kInfinity;
    for (std::size_t j = 0; j < rates_.size(); ++j) {
      best_right = std::fmin(best_right, (right[j] - at - log_outside) / rates_[j]);
      best_left = std::fmax(best_left, (at + log_outside - left[j]) / rates_[j]);
    }
    high = std::fmax(high, best_right);
    low = std::fmin(low, best_left);
  };
  widen(all.at_up, all.right_up, all.left_up);
  if (std::isfinite(all.at_low)) widen(all.at_low, all.right_low, all.left_low);
  high = std::fmin(high, all.total_high) + 2 * step_;
  low = std::fmax(low, all.total_low) - 2 * step_;
  const GridComposition read(*all.product, all.mean, std::fmax(std::sqrt(all.variance), step_), low,
                             high);
  if (!read.ok())
    return Error{ErrorCode::Refused, "the account has grown past the size it was made for"};
  Bracket result{0, kInfinity};
  if (least > 0) result = read.epsilon(least);
  if (!(most > 0))
    result.lower = kInfinity;
  else if (most != least)
    result.lower = std::fmin(result.lower, read.epsilon(most).lower);
  return result;
}

Result<Bracket> PldAccount::epsilon() const {
  return epsilon_with(loss::Composed{});
}

Result<Bracket> PldAccount::epsilon_with(const LossEvent& event) const {
  DISCREET_TRY(const auto both, plans(event));
  Bracket worst{0, 0};
  for (std::size_t i = 0; i < both.size(); ++i) {
    DISCREET_TRY(const Bracket one,
                 priced(directions_[std::min(i, directions_.size() - 1)], both[i]));
    worst = {std::fmax(worst.lower, one.lower), std::fmax(worst.upper, one.upper)};
  }
  return worst;
}

}  // namespace discreet
