// Privacy odometers: how much has been lost so far, asked at any time, with no budget set.
//
// Guarantee: RenyiOdometer. Fix neighbours x, x'. With probability at least 1 - delta over the
//            releases on x, the privacy loss ln(P_x / P_x') of the transcript so far is at most
//            epsilon() at every moment, however mechanisms and parameters were chosen. In
//            particular, stopping before epsilon() passes a fixed E leaves an (E, delta)-DP
//            transcript.
// Proof:     for each order a, exp((a - 1)(loss - spent_a)) is a supermartingale that starts at 1,
// since
//            spent_a grows by at least the divergence of each release given the past. Ville's
//            inequality bounds its maximum by 1 / (w_a delta) but for probability w_a delta, and
//            the weights w_a sum to 1. This is the argument of Whitehouse et al. 2023 with a finite
//            mixture of orders. An odometer pays more than a filter with a fixed budget must
//            (Rogers et al. 2016 prove the separation): here ln(1/w_a)/(a-1), and no CKS
//            improvement. BasicOdometer: sums of epsilon and delta hold at every moment (Rogers et
//            al. 2016).
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "accounting/event_cost.h"

namespace discreet {

/// Sums of epsilons and deltas. Thread-safe.
class BasicOdometer {
 public:
  void spend(ApproxDp cost);
  ApproxDp spent() const;

 private:
  mutable std::mutex mutex_;
  ApproxDp spent_{Epsilon::zero(), Delta::zero()};
};

/// Sums of divergences on a logarithmic grid of orders. Thread-safe; constant memory.
class RenyiOdometer {
 public:
  /// InvalidParameter: delta not strictly between 0 and 1.
  static Result<RenyiOdometer> make(double delta);
  RenyiOdometer(RenyiOdometer&& other) noexcept;

  /// Ask renyi_cost for these.
  const std::vector<double>& orders() const { return orders_; }

  /// Counts a release. Deltas of events are counted too: they add to delta().
  /// InvalidParameter: a cost for other orders.
  Result<void> spend(const RenyiCost& cost);

  /// The loss so far; rounded up.
  double epsilon() const;
  /// The failure probability of that statement: the one chosen, plus the events' own.
  double delta() const;

  /// The state as one line of JSON, and back.
  std::string save() const;
  static Result<RenyiOdometer> restore(std::string_view text);

 private:
  explicit RenyiOdometer(double delta);

  mutable std::mutex mutex_;
  double delta_;
  double delta_spent_ = 0;
  std::vector<double> orders_;
  std::vector<double> offsets_;  // ln(1 / (w_a delta)) / (a - 1), up
  std::vector<double> spent_;
};

}  // namespace discreet
