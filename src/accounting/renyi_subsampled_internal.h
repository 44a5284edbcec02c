// Renyi divergences of mechanisms that see only a random sample.
//
// With a dominating pair (P, Q) of the inner mechanism, the pair of the sampled one is the mixture
// (1-q) Q + q P against Q (Zhu, Dong and Wang 2022, on subsampling), and the divergence is one
// integral over the likelihood ratio R = dP/dQ. Every pair here is symmetric (an isometry swaps P
// and Q), for which this direction is the larger of the two (Mironov, Talwar and Zhang 2019).
#pragma once

#include <functional>
#include <optional>
#include <variant>
#include <vector>

#include "base/result.h"

namespace discreet {

/// Normal distributions at distance mu in units of the noise.
struct GaussianPair {
  double mu;
};
/// Laplace distributions at distance epsilon in units of the scale.
struct LaplacePair {
  double epsilon;
};
/// Finitely many outcomes: the log of P/Q, and the log of Q.
struct FinitePair {
  struct Atom {
    double loss;
    double log_q;
  };
  std::vector<Atom> atoms;
};
using DominatingPair = std::variant<GaussianPair, LaplacePair, FinitePair>;

FinitePair randomized_response_pair(double epsilon, double values);
/// Nothing when the shift has too many outcomes to list.
std::optional<FinitePair> discrete_laplace_pair(double rate, double shift);
/// Covers the outcomes that matter up to this order; nothing when they are too many.
std::optional<FinitePair> discrete_gaussian_pair(double sigma2, double shift, double order);

/// Poisson sampling with probability q under add/remove: ln E_Q[((1-q) + q R)^a] / (a - 1), rounded
/// up. Nothing when the integral would need too many nodes.
std::optional<double> renyi_mixture(const DominatingPair& pair, double q, double order);

/// Sampling under replace-one, where (P, Q) is the inner pair under replace-one. Advanced joint
/// convexity (Balle, Barthe and Gaboardi 2018) bounds the profile of both directions at
/// every epsilon >= 0 by that of the mixture; the Renyi moment of such a profile is
/// 1 + E_Q[(R^a - 1)(1 - R^{1-a}); R > 1] with R the mixture's ratio.
std::optional<double> renyi_mixture_both_ways(const DominatingPair& pair, double q, double order);

/// Poisson sampling of Gaussian noise under replace-one, tight. Without the unit the output is
/// r = N(0, I) up to a shift; with it N(v, I) or N(w, I), |v|, |w| <= mu (the add/remove distance).
/// The moment E_r[(1-q + q e^x)^a (1-q + q e^y)^{1-a}] has x, y jointly normal; by Price's theorem
/// its derivative in their covariance is the mean of a negative function, and in either variance
/// (means moving along) of a positive one, so v = -w of full length is the worst pair.
std::optional<double> renyi_gaussian_replace(double mu, double q, double order);

/// The inner divergence at a whole order.
using RenyiCurve = std::function<Result<double>(double order)>;

/// Zhu and Wang 2019: Poisson sampling under add/remove, knowing only the inner curve.
/// Orders between whole ones by the convexity of (a - 1) D_a.
Result<double> renyi_poisson_general(const RenyiCurve& inner, double q, double order);

/// Wang, Balle and Kasiviswanathan 2019: sampling a share q without replacement under
/// replace-one, knowing only the inner curve.
Result<double> renyi_replace_general(const RenyiCurve& inner, double q, double order);

/// The binomial sum for the Gaussian at a whole order (Mironov, Talwar and Zhang 2019,
/// Section 3.3).
double renyi_mixture_gaussian_whole(double mu, double q, double order);

}  // namespace discreet
