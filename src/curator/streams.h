// Releases that need the values themselves: quantiles, extremes, the most common values, the number
// of different ones.
//
// The mechanisms protect single rows. A unit may have several, so at most m of them are kept,
// chosen uniformly, and the mechanism runs at epsilon / m (group privacy); m is proved by the plan,
// given, or found privately with a tenth of the share. Guarantee: epsilon-DP for all groups
// together, under add/remove of a unit. Proof:     docs/proofs/streams.md
#pragma once

#include <vector>

#include "curator/groups.h"
#include "curator/released.h"
#include "privacy/parameters.h"
#include "random/random_source.h"

namespace discreet {

class StreamRelease {
 public:
  /// One stream aggregate at its share of epsilon. Refused: a domain is needed and not declared.
  /// InvalidParameter: epsilon outside what the mechanism takes.
  /// `errors`: a quantile is to come with its error. The exponential mechanism tells nothing about
  /// how values lie around the one it draws, so a tree of counts is released instead.
  static Result<StreamRelease> make(const sql::Release& release, std::size_t aggregate,
                                    Epsilon epsilon, bool errors = false);

  /// Runs the stream's statement and fills the aggregate's column for all `groups`. With `kept`,
  /// values of other groups are dropped first.
  Result<ReleasedColumn> release(Groups& groups, const std::vector<bool>* kept, Engine& engine,
                                 RandomSource& random) const;

  const char* mechanism() const;

 private:
  StreamRelease() = default;
  Result<ReleasedColumn> release_values(std::vector<std::vector<std::int64_t>>& values,
                                        Epsilon each, RandomSource& random) const;

  const sql::Release* release_ = nullptr;
  std::size_t aggregate_ = 0;
  bool errors_ = false;
  Epsilon search_ = Epsilon::zero(), noise_ = Epsilon::zero();
  std::optional<std::uint64_t> values_max_;  // of one unit, where it is known
};

}  // namespace discreet
