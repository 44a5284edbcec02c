// What a release did to privacy, as data: enough to account for it under any definition, now or
// later.
//
// Mechanisms produce events, the ledger stores them, accounting/ prices them. Numbers are on the
// safe side of the truth: noise scales are rounded down and sensitivities up, so an event never
// claims more noise than was added.
#pragma once

#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "privacy/parameters.h"

namespace discreet {

struct LossEvent;

namespace loss {

/// Nothing but the bound is known: epsilon-DP.
struct Pure {
  Epsilon epsilon;
};
/// (epsilon, delta)-DP.
struct Approximate {
  Epsilon epsilon;
  Delta delta;
};
struct Zcdp {
  Rho rho;
};
/// Continuous Laplace noise of this scale on a query of this L1 sensitivity.
struct Laplace {
  double scale;
  double sensitivity;
};
/// P[Z = z] proportional to exp(-|z| / scale) on the integers; integer L1 sensitivity.
struct DiscreteLaplace {
  double scale;
  std::int64_t sensitivity;
};
/// Continuous Gaussian noise on a query of this L2 sensitivity.
struct Gaussian {
  double sigma;
  double sensitivity;
};
/// Gaussian noise on an answer that one unit moves by a random amount: by sensitivities[i] with
/// probability probabilities[i], the latter adding up to one.
struct MixtureOfGaussians {
  double sigma;
  std::vector<double> sensitivities;
  std::vector<double> probabilities;
};
/// P[Z = z] proportional to exp(-z^2 / (2 sigma2)) on the integers, for one coordinate of this
/// sensitivity. `dimension` coordinates moving together by at most this L2 sensitivity are priced
/// by their zCDP.
struct DiscreteGaussian {
  double sigma2;
  double sensitivity;
  std::uint64_t dimension = 1;
};
/// One of `values` answers; the true one is e^epsilon times as likely as each other one.
struct RandomizedResponse {
  Epsilon epsilon;
  std::uint64_t values = 2;
};
/// A selection whose log-likelihood ratios span at most epsilon (Durfee and Rogers 2019): the
/// exponential mechanism. Every such event is epsilon-DP and epsilon^2/8-zCDP.
struct BoundedRange {
  Epsilon epsilon;
};
/// A run of the sparse vector technique as a whole: epsilon-DP however many questions were asked.
struct SparseVector {
  Epsilon epsilon;
  std::uint64_t answers_max;
};
/// Discrete Laplace noise of the given rate cut off to |z| <= bound, sensitivity 1: (rate,
/// delta)-DP.
struct TruncatedGeometric {
  Epsilon epsilon;
  Delta delta;
  std::int64_t bound;
};
/// Each unit takes part with this probability, independently (Poisson sampling).
struct PoissonSubsampled {
  double probability;
  std::shared_ptr<const LossEvent> inner;
};
/// A uniform sample of `sample` out of `population` units, without replacement.
struct SampledWithoutReplacement {
  std::uint64_t sample;
  std::uint64_t population;
  std::shared_ptr<const LossEvent> inner;
};
/// The same event `count` times.
struct Repeated {
  std::uint64_t count;
  std::shared_ptr<const LossEvent> inner;
};
/// All of these, one after another.
struct Composed {
  std::vector<LossEvent> parts;
};
/// One of these for each disjoint part of the data: under add/remove, the worst of them.
struct Parallel {
  std::vector<LossEvent> parts;
};
/// The event seen by a group of `size` units.
struct Group {
  std::uint64_t size;
  std::shared_ptr<const LossEvent> inner;
};

}  // namespace loss

/// An immutable value; copies are cheap.
struct LossEvent {
  using Kind = std::variant<
      loss::Pure, loss::Approximate, loss::Zcdp, loss::Laplace, loss::DiscreteLaplace,
      loss::Gaussian, loss::MixtureOfGaussians, loss::DiscreteGaussian, loss::RandomizedResponse,
      loss::BoundedRange, loss::SparseVector, loss::TruncatedGeometric, loss::PoissonSubsampled,
      loss::SampledWithoutReplacement, loss::Repeated, loss::Composed, loss::Parallel, loss::Group>;
  Kind kind;

  template <class Event>
    requires(!std::is_same_v<std::decay_t<Event>, LossEvent>)
  LossEvent(Event event) : kind(std::move(event)) {}  // NOLINT: implicit by design
};

}  // namespace discreet
