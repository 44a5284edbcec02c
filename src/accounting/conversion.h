// From one definition of privacy to another, each step rounded against the user.
//
// Guarantee: an epsilon or delta returned here is not below what the cited theorem gives for the
//            arguments; a rho or curve entry "that fits" is not above.
// Theorems:  Canonne, Kamath and Steinke 2020 (CKS), Proposition 12: a release whose Renyi
//            divergence of order a is at most r satisfies, for every epsilon,
//              delta <= exp((a - 1)(r - epsilon + ln(1 - 1/a))) / a,
//            and zCDP is the case r = a rho, optimised over all a > 1.
//            Bun and Steinke 2016: epsilon-DP is epsilon^2/2-zCDP.
//            Cesar and Rogers 2021: epsilon-bounded range is epsilon^2/8-zCDP.
#pragma once

#include <span>

#include "privacy/parameters.h"

namespace discreet {

/// The least delta that rho-zCDP implies at this epsilon (CKS). 1 when epsilon says nothing.
double zcdp_delta(Rho rho, double epsilon);

/// The least epsilon >= 0 that rho-zCDP implies at this delta (CKS). Infinity for delta <= 0 unless
/// rho is zero; 0 for delta >= 1.
double zcdp_epsilon(Rho rho, double delta);

/// The textbook's rho + 2 sqrt(rho ln(1/delta)) (Bun and Steinke 2016), for
/// comparison.
double zcdp_epsilon_textbook(Rho rho, double delta);

/// The largest rho whose zCDP implies the target, rounded down: what an (epsilon, delta) budget is
/// worth to a zCDP filter. InvalidParameter: delta not strictly between 0 and 1.
Result<Rho> zcdp_rho(ApproxDp target);

Rho pure_to_zcdp(Epsilon epsilon);
Rho bounded_range_to_zcdp(Epsilon epsilon);

/// The least epsilon at this delta over the orders of a Renyi curve. An entry may be infinite: the
/// order is then not used. InvalidParameter: no orders, an order not above 1, lengths that differ,
/// a negative or undefined entry, or delta outside [0, 1].
Result<double> rdp_curve_epsilon(std::span<const double> orders, std::span<const double> rdp,
                                 double delta);

/// The least delta at this epsilon >= 0 over the orders of a Renyi curve.
Result<double> rdp_curve_delta(std::span<const double> orders, std::span<const double> rdp,
                               double epsilon);

/// One order of the above: the epsilon at this delta, and the delta at this epsilon.
double rdp_epsilon(double order, double rdp, double delta);
double rdp_delta(double order, double rdp, double epsilon);

/// The largest divergence of this order that implies the target, rounded down; negative when no
/// divergence of this order does.
double rdp_budget(double order, ApproxDp target);

}  // namespace discreet
