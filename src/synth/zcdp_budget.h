// A zCDP budget for methods that choose what to measure as they go.
//
// Guarantee: what is released through one ZcdpBudget is together rho-zCDP, hence (epsilon,
// delta)-DP
//            for the target it was made from, however each step was chosen from what earlier steps
//            released: every measurement and every selection is paid before it is drawn, and one
//            that does not fit is refused.
// Assumes:   add/remove of one row; RandomSource yields independent uniform bits.
// Proof:     docs/proofs/synth_selection.md
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "privacy/loss_event.h"
#include "synth/noisy_marginals.h"

namespace discreet::synth {

class ZcdpBudget {
 public:
  /// The greatest rho that implies the target. InvalidParameter: as zcdp_meeting.
  static Result<ZcdpBudget> make(ApproxDp target);

  Rho total() const { return total_; }
  Rho spent() const { return spent_; }
  double left() const;
  /// Everything paid so far, for an accountant.
  const std::vector<LossEvent>& events() const { return events_; }

  /// Counts with fresh noise of about this sigma (never less). BudgetExhausted: it does not fit.
  Result<NoisyMarginal> measure(const CodedTable& table, const Clique& clique, double sigma,
                                RandomSource& random);
  /// The same for counts that were made before; one row moves one of them by one.
  Result<NoisyMarginal> measure(std::vector<std::int64_t> exact, const Clique& clique, double sigma,
                                RandomSource& random);

  /// One choice of the exponential mechanism at this epsilon (epsilon^2/8-zCDP). One row moves any
  /// score by at most `sensitivity`, up or down: the scores are not monotone, because an error can
  /// grow or shrink when a row joins. BudgetExhausted: it does not fit.
  Result<std::size_t> select(std::span<const std::int64_t> scores, std::uint32_t sensitivity,
                             double epsilon, RandomSource& random);
  /// `count` choices without repeats, each at this epsilon.
  Result<std::vector<std::size_t>> select_several(std::span<const std::int64_t> scores,
                                                  std::uint32_t sensitivity, double epsilon,
                                                  std::size_t count, RandomSource& random);

 private:
  explicit ZcdpBudget(Rho total) : total_(total) {}
  Result<void> pay(Rho cost, const LossEvent& event);

  Rho total_;
  Rho spent_ = Rho::zero();
  std::vector<LossEvent> events_;
};

}  // namespace discreet::synth
