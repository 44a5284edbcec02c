// Two worlds and one output: what an observer can tell about one person, computed without
// simulation from the mechanism's exact chances.
//
// Shows: Definition 2.4 and group privacy (Dwork and Roth 2014, Theorem 2.2), the bound on any
// guess (Wasserman and Zhou 2010; Kairouz, Oh and Viswanath 2015), and the semantics of
// Kasiviswanathan and Smith 2014: whatever was believed before, an answer teaches nearly the same
// with and without a person.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "lecture/shown.h"

namespace discreet::lecture {

enum class WorldsMechanism { Laplace, Response, Exact };

struct WorldsOptions {
  double epsilon = 1;
  std::int64_t count = 50;    ///< the exact count with the people in
  std::int64_t distance = 1;  ///< how many people are left out of the other world
  WorldsMechanism mechanism = WorldsMechanism::Laplace;
};

/// Chances of each output in both worlds, their largest ratio, and the best guess which world it
/// is. InvalidParameter: epsilon not within (0, 20], distance not within [1, 100] (1 for Response).
Result<Shown> two_worlds(const WorldsOptions& options);

/// Belief about one bit before and after, for priors from very small to very large.
Result<Shown> posterior_band(double epsilon);

/// What a released count of `people` bits teaches attackers with different side information, with
/// Alice in the data and without her. InvalidParameter: people not within [2, 12].
Result<Shown> side_information(double epsilon, std::uint32_t people, std::uint64_t seed);

}  // namespace discreet::lecture
