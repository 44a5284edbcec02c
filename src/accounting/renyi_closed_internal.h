// Renyi divergences with a closed form, rounded up.
#pragma once

#include <cstdint>

namespace discreet {

/// k-ary randomized response whose true answer is e^epsilon times as likely; values = 2 is the
/// worst case of epsilon-DP.
double renyi_randomized_response(double epsilon, std::uint64_t values, double order);

/// Laplace noise with sensitivity / scale = epsilon (Mironov 2017).
double renyi_laplace(double epsilon, double order);

/// Discrete Laplace of P[z] ~ exp(-rate |z|) shifted by a whole number.
double renyi_discrete_laplace(double rate, double shift, double order);

/// a mu^2 / 2 (Mironov 2017); also an upper bound for the discrete Gaussian with
/// mu^2 = shift^2 / sigma2 (Canonne, Kamath and Steinke 2020), equal at whole shifts
/// and orders.
double renyi_gaussian(double mu, double order);

/// The worst mechanism whose log-likelihood ratios span epsilon: an exact maximum over two-point
/// pairs.
double renyi_bounded_range(double epsilon, double order);

}  // namespace discreet
