// Randomized response: each person reports their value, or sometimes another one, and can deny
// either.
//
// With k values the true one is reported with chance p and each other one with chance (1 - p)/(k -
// 1). Guarantee: one report is epsilon-DP in the local model, epsilon = ln(p (k - 1) / (1 - p)):
// the
//            neighbour relation is replace-one (the reporter's value is exchanged; that they
//            reported is public).
// Assumes:   RandomSource yields independent uniform bits.
// Proof:     docs/proofs/randomized_response.md
#pragma once

#include <cstdint>
#include <span>

#include "privacy/loss_event.h"
#include "random/bernoulli.h"

namespace discreet {

/// What the reports say about how many people truly hold a value.
struct FrequencyEstimate {
  double count;           ///< unbiased; may be negative or above the number of reports
  double standard_error;  ///< of the randomization, at the estimated count
  double low, high;       ///< the true count lies here with the confidence asked for
};

class RandomizedResponse {
 public:
  /// Reports the truth as often as `epsilon` allows: p = e^epsilon / (e^epsilon + values - 1).
  /// InvalidParameter: epsilon below 2^-40 (reports would carry nothing), fewer than two values.
  static Result<RandomizedResponse> make(Epsilon epsilon, std::uint64_t values = 2);
  /// Reports the truth with exactly this chance; epsilon() is then rounded up.
  /// InvalidParameter: p not above 1/values (carries nothing) or not below 1 (hides nothing).
  static Result<RandomizedResponse> with_truth(const Rational& p, std::uint64_t values = 2);
  static Result<RandomizedResponse> with_truth(double p, std::uint64_t values = 2);
  /// The coin-flip form: keep the value with chance q, else report a uniform one (for two values, a
  /// fair coin). The same as with_truth(q + (1 - q)/values).
  static Result<RandomizedResponse> with_keep(const Rational& q, std::uint64_t values = 2);
  static Result<RandomizedResponse> with_keep(double q, std::uint64_t values = 2);
  /// The least epsilon (up to rounding) whose count estimate from `reports` reports stays within
  /// `error` of the true count with this confidence.
  static Result<RandomizedResponse> for_error(double error, double confidence,
                                              std::uint64_t reports, std::uint64_t values = 2);

  /// One report of `value`, which is below values(). Takes the same time for a truth and a lie.
  std::uint64_t release(std::uint64_t value, RandomSource& random) const;
  bool release(bool value, RandomSource& random) const;
  void release(std::span<std::uint64_t> values, RandomSource& random) const;

  LossEvent loss() const;

  /// Before any report: with this confidence the estimated count of a value, from this many
  /// reports, is within this distance of the true count, whatever that is.
  double error_bound(double confidence, std::uint64_t reports) const;
  /// The variance of the estimated count when `true_count` of `reports` people hold the value.
  double variance(double true_count, std::uint64_t reports) const;

  /// How many of `reports` people hold a value that `observed` of them reported. The interval is
  /// exact (Neyman): it covers the true count among the reporters with at least this confidence.
  /// InvalidParameter: observed above reports, no reports, confidence not within (0, 1).
  Result<FrequencyEstimate> estimate_count(std::uint64_t observed, std::uint64_t reports,
                                           double confidence) const;
  /// The same for the share of a population of which the reporters are an independent sample; the
  /// interval (Clopper and Pearson 1934) then covers sampling and randomization together.
  Result<FrequencyEstimate> estimate_share(std::uint64_t observed, std::uint64_t reports,
                                           double confidence) const;

  Epsilon epsilon() const { return epsilon_; }
  std::uint64_t values() const { return values_; }
  /// The chance of a truth and of each single lie, to double precision.
  double truth_chance() const { return truth_; }
  double lie_chance() const { return lie_; }

 private:
  RandomizedResponse(Epsilon epsilon, std::uint64_t values, Probability lie, double any_lie);

  Epsilon epsilon_;
  std::uint64_t values_;
  Bernoulli lie_coin_;  // exact; heads: report one of the others
  double truth_, lie_, gain_;
};

}  // namespace discreet
