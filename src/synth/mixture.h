// A mixture of product distributions, fitted to noisy marginals.
//
// The latent-class model: a record belongs to one of k equally likely classes, and given its class
// its attributes are independent. Fitted by Adam on softmax parameters against
//   sum over marginals |model - noisy|^2 / (2 sigma^2) + penalty * rows * sum over attributes
//   I(class; attribute)
// where the information penalty keeps the classes from learning the noise. Post-processing only.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "synth/dice.h"
#include "synth/domain.h"
#include "synth/mixture_kernels_internal.h"
#include "synth/workers.h"

namespace discreet::synth {

/// What the mixture is fitted to: counts over attributes in this order, with one sigma for all.
struct FitTarget {
  Clique attributes;
  std::size_t left = 0;  ///< as split_clique chose
  std::vector<float> counts;
  double sigma = 1;
};

/// One-way counts with a sigma for each value.
struct FitOneWay {
  std::vector<double> counts, sigma;
};

struct MixtureSettings {
  std::uint32_t components = 300;
  std::uint32_t steps = 1000;
  double rate = 0.15;
  double penalty = 0;        ///< lambda
  std::uint32_t batch = 16;  ///< marginals looked at per step
  double start_spread = 1;   ///< standard deviation of the starting logits
};

/// Called now and then with the part done, 0 to 1; returns whether to go on.
using Progress = std::function<bool(double done)>;

class Mixture {
 public:
  /// Refused when `progress` says stop.
  static Result<Mixture> fit(const Domain& domain, double rows, std::span<const FitOneWay> one_ways,
                             std::span<const FitTarget> targets, const MixtureSettings& settings,
                             Workers& workers, Dice& dice, const Progress& progress);

  /// A mixture with these chances, `size` x padded components for each attribute.
  static Mixture from(const Domain& domain, double rows, std::uint32_t components,
                      std::span<const FloatBuffer> chances);

  /// Counts of a marginal of `rows` rows in the clique's order.
  std::vector<float> marginal(std::span<const std::uint32_t> clique) const;
  std::uint32_t components() const { return components_; }
  double rows() const { return rows_; }
  /// The chance of each value of an attribute in a component.
  float chance(std::size_t attribute, std::size_t value, std::size_t component) const {
    return attributes_[attribute].p.data()[value * lanes_ + component];
  }
  const Domain& domain() const { return domain_; }

 private:
  struct Parameters {
    FloatBuffer logits, p, log_p, first, second, gradient;
  };
  Mixture(Domain domain, double rows, std::uint32_t components);
  AdamState state(std::size_t attribute);
  void start(std::span<const FitOneWay> one_ways, double spread, Dice& dice);
  void update(std::size_t attribute, const FitOneWay& one_way, double penalty,
              const AdamStep& step);

  Domain domain_;
  double rows_;
  std::uint32_t components_;
  std::size_t lanes_;
  std::vector<Parameters> attributes_;
};

/// Splits attributes into left and right so that the outer products on both sides are few: the
/// attributes in their new order, and how many are on the left.
struct SplitClique {
  Clique attributes;
  std::size_t left = 0;
};
SplitClique split_clique(const Domain& domain, std::span<const std::uint32_t> clique);

}  // namespace discreet::synth
