// Privacy filters: budgets that may be spent by questions chosen on the fly.
//
// An analyst sees answers and then decides what to ask next and how much to pay for it. A filter
// admits a question only while the promise of the whole budget still holds, whatever the rule by
// which parameters were chosen. State is a few numbers however long the history.
//
// Guarantee: the transcript of all admitted releases is (epsilon, delta)-DP for the filter's
// target,
//            even when each release and its parameters depend on all earlier outputs. `try_spend`
//            from many threads admits no more than one thread could.
// Assumes:   a release starts only after its try_spend succeeded, and its true cost is at most the
//            one given (accounting/event_cost.h).
// Theorems:  BasicFilter     Rogers, Roth, Ullman and Vadhan 2016: sums.
//            ConcentratedFilter  Whitehouse, Ramdas, Rogers and Wu 2023 (approximate zCDP filter;
//            see
//                            also Feldman and Zrnic 2021): sum of rho and of delta.
//            RenyiFilter     Feldman and Zrnic 2021 for one order. Several orders: see RenyiFilter.
//            GaussianFilter  Smith and Thakurta 2022: sum of mu^2.
//
// A privacy loss distribution is tighter, but proved only for parameters fixed in advance: it
// prices jobs and reports, and is never used to admit adaptive questions.
//
// Nested budgets are the ledger's: it asks every filter on the path and charges all or none.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "accounting/event_cost.h"
#include "privacy/parameters.h"

namespace discreet {

/// A filter is a rule and its running sums behind a lock. Thread-safe. `Rule` is one of the below.
template <class Rule>
class Filter {
 public:
  using Cost = typename Rule::Cost;

  explicit Filter(Rule rule) : rule_(std::move(rule)) {}
  Filter(Filter&& other) noexcept : rule_(other.rule()) {}
  Filter(const Filter& other) : rule_(other.rule()) {}
  Filter& operator=(const Filter&) = delete;

  /// Spends the cost, or changes nothing. BudgetExhausted: it does not fit.
  Result<void> try_spend(const Cost& cost) {
    const std::scoped_lock lock(mutex_);
    DISCREET_TRY(Rule next, rule_.after(cost));
    rule_ = std::move(next);
    return {};
  }

  /// Whether the cost would fit now; another thread may spend in between.
  Result<void> would_fit(const Cost& cost) const {
    const std::scoped_lock lock(mutex_);
    auto next = rule_.after(cost);
    if (!next) return std::move(next).error();
    return {};
  }

  /// A copy of the state: budget and spent.
  Rule rule() const {
    const std::scoped_lock lock(mutex_);
    return rule_;
  }

  /// The state as one line of JSON, and back. InvalidInput: not a state of this kind of filter.
  std::string save() const { return rule().save(); }
  static Result<Filter> restore(std::string_view text) {
    DISCREET_TRY(Rule rule, Rule::restore(text));
    return Filter(std::move(rule));
  }

 private:
  mutable std::mutex mutex_;
  Rule rule_;
};

/// Sums of epsilon and delta.
struct BasicRule {
  using Cost = ApproxDp;
  ApproxDp budget;
  ApproxDp spent{Epsilon::zero(), Delta::zero()};

  static BasicRule make(ApproxDp budget) { return {budget}; }
  Result<BasicRule> after(const Cost& cost) const;
  std::string save() const;
  static Result<BasicRule> restore(std::string_view text);
};

/// Sums of rho, and of the deltas events bring along.
struct ConcentratedRule {
  using Cost = ConcentratedCost;
  ConcentratedCost budget;
  ConcentratedCost spent{Rho::zero(), Delta::zero()};

  /// The largest zCDP budget that keeps the target, after setting `for_events` of its delta aside
  /// for events that have a delta. InvalidParameter: for_events is not below the target's delta.
  static Result<ConcentratedRule> make(ApproxDp target, Delta for_events = Delta::zero());
  Result<ConcentratedRule> after(const Cost& cost) const;
  std::string save() const;
  static Result<ConcentratedRule> restore(std::string_view text);
};

/// Sums of divergences at several orders; spending is admitted while at least one order still has
/// budget. Each order's budget meets the target's epsilon with its own share of the delta, and the
/// shares add up to it: the order that survives depends on the outputs, so it must be paid for.
///
/// Why that suffices: stop the process at order a when its sum would exceed its budget; by Feldman
/// and Zrnic its loss satisfies the order's bound, so its hockey stick at epsilon is at most a's
/// share of delta (accounting/conversion.h). Every admitted transcript lies within budget at some
/// order, and there equals that stopped process. So the hockey stick of the whole is at most the
/// sum of shares.
struct RenyiRule {
  using Cost = RenyiCost;
  std::vector<double> orders;
  std::vector<double> budgets;  ///< per order; an order that cannot meet the target is left out
  std::vector<double> spent;
  double delta_budget = 0;  ///< for the events' own deltas
  double delta_spent = 0;

  /// Three quarters of the delta go to the order at which most releases of the typical event fit,
  /// the rest to three orders on each side, so that other events find a good order too. Any event
  /// may be spent: the typical one decides how much fits, never whether the promise holds.
  static Result<RenyiRule> make_for(const LossEvent& typical, Neighbours neighbours,
                                    ApproxDp target, Delta for_events = Delta::zero());

  /// Two orders in equal shares: the ones that suit Gaussian noise on all data and on a sample of
  /// 1 % of it. Laplace noise and selection want about the same order as the former.
  static Result<RenyiRule> make(ApproxDp target, Delta for_events = Delta::zero());

  /// Given orders, and shares of the delta that sum to at most 1.
  static Result<RenyiRule> make(ApproxDp target, Delta for_events, std::vector<double> orders,
                                std::vector<double> shares);

  Result<RenyiRule> after(const Cost& cost) const;
  std::string save() const;
  static Result<RenyiRule> restore(std::string_view text);
};

/// Sum of mu^2.
struct GaussianRule {
  using Cost = double;  ///< mu^2, from gaussian_cost
  double budget = 0;
  double spent = 0;

  /// The largest mu whose Gaussian profile keeps the target. InvalidParameter: delta not in (0, 1).
  static Result<GaussianRule> make(ApproxDp target);
  Result<GaussianRule> after(const Cost& cost) const;
  std::string save() const;
  static Result<GaussianRule> restore(std::string_view text);
};

using BasicFilter = Filter<BasicRule>;
using ConcentratedFilter = Filter<ConcentratedRule>;
using RenyiFilter = Filter<RenyiRule>;
using GaussianFilter = Filter<GaussianRule>;

}  // namespace discreet
