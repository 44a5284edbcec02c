// L1 decoding (Dwork, McSherry, Talwar 2007): the bits in [0, 1] that miss the answers by least in
// total. A share of the answers may be arbitrarily wrong.
#pragma once

#include <Eigen/Core>

namespace discreet::attack {

/// min over c in [0, 1]^n of sum_j |a_j . c - y_j|, by Clp.
Eigen::VectorXf least_deviations(const Eigen::MatrixXf& a, const Eigen::VectorXf& y);

}  // namespace discreet::attack
