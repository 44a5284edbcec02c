// One question, four answers to "whom do you have to trust?": nobody (local), a shuffler, one of
// two servers, the curator. All give the same (epsilon, delta) to whoever sees the published
// counts.
//
// Guarantee: `local` and `shuffled` by randomised reports (oracle.h), amplified by
// accounting/shuffle.h;
//            `two servers` by additive shares modulo 2^64 and noise of both servers, each enough
//            alone; `central` by discrete Laplace noise. Neighbours: one person's value is
//            exchanged.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "random/random_source.h"

namespace discreet::local {

struct TrustQuestion {
  double epsilon = 1;
  double delta = 1e-6;  ///< of the shuffled model; the others need none
  std::uint32_t repetitions = 5;
};

struct TrustRow {
  std::string model, trusted, mechanism;
  double local_epsilon = 0;  ///< of one report; infinite where values are sent as they are
  double predicted = 0;      ///< root mean square error of a count
  double measured = 0;
};

/// truth[v] people hold value v. Local, shuffled, two servers, central: in this order.
Result<std::vector<TrustRow>> compare_trust_models(std::span<const std::uint64_t> truth,
                                                   const TrustQuestion& question,
                                                   RandomSource& random);

/// The largest epsilon of a report that n shuffled reports turn into (epsilon, delta); never below
/// epsilon.
Result<double> local_epsilon_if_shuffled(std::uint64_t n, double epsilon, double delta);

}  // namespace discreet::local
