// The garden of forking paths, walked on made-up rows without any signal: pick the attributes that
// look good on training and holdout rows, vote with them, and ask the holdout how good the vote is.
// A plain holdout says it is far better than a coin; a reusable one and fresh rows know better.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "learn/thresholdout.h"
#include "random/random_source.h"

namespace discreet::learn {

struct ForkingPathsOptions {
  std::size_t rows = 10'000;  ///< of each of training, holdout and fresh rows
  std::size_t attributes = 2000;
  std::vector<std::size_t> picks = {10, 20, 45, 70, 100, 150, 200};  ///< how many attributes vote
  double epsilon = 1;
  std::uint64_t answers_max = 10;
  double threshold = 0.05;
};

/// Shares of right votes, as each source tells them.
struct ForkingPathsStep {
  std::size_t picked;
  double training, holdout, fresh;
};
struct ForkingPaths {
  std::vector<ForkingPathsStep> plain;     ///< the holdout answers exactly, and was used to pick
  std::vector<ForkingPathsStep> reusable;  ///< the holdout answers through Thresholdout
  std::uint64_t paid = 0;                  ///< disagreements shown
};

Result<ForkingPaths> walk_forking_paths(const ForkingPathsOptions& options, RandomSource& random);

/// A picture: what each holdout says against what fresh rows say.
std::string forking_paths_svg(const ForkingPaths& paths);

}  // namespace discreet::learn
