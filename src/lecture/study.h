// Studies of made-up people: what privacy does not promise (the smoker), why it keeps from
// overfitting, and many questions of which few matter.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "lecture/shown.h"
#include "random/random_source.h"

namespace discreet::lecture {

struct SmokerOptions {
  double epsilon = 1;
  std::uint64_t people = 2000, runs = 2000;
};
/// A private study concludes that smoking causes cancer, with Alice's row and without: the premium
/// of all smokers rises either way.
Result<Shown> smoker(const SmokerOptions& options, RandomSource& random);

struct GeneraliseOptions {
  double epsilon = 0.1;
  std::uint64_t people = 200, features = 500, runs = 200, seed = 1;
};
/// The best of many features that are all coin flips, chosen plainly and by the exponential
/// mechanism: how much better it looks on the sample than it is (McSherry's theorem: on average at
/// most e^epsilon - 1), and how often it does so by more than epsilon.
Result<Shown> generalise(const GeneraliseOptions& options, RandomSource& random);

struct SparseOptions {
  double epsilon = 1;
  std::uint64_t questions = 1000, above = 3;
  std::int64_t threshold = 500, high = 900, low = 100;
};
/// The sparse vector technique on a stream of questions of which few are above the threshold.
Result<Shown> sparse(const SparseOptions& options, RandomSource& random);

}  // namespace discreet::lecture
