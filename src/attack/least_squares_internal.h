// Bits from subset counts by least squares, thresholded by the caller at one half.
#pragma once

#include <Eigen/Core>

namespace discreet::attack {

/// min over c of |a c - y|, the rows of `a` being random halves.
Eigen::VectorXf least_squares(const Eigen::MatrixXf& a, const Eigen::VectorXf& y);

}  // namespace discreet::attack
