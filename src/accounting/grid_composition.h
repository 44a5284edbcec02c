// Many laws on one grid composed at once, with every error of the arithmetic counted.
//
// The masses are tilted by e^{tilt * loss} before the transform, so that the part of the sum which
// decides delta near the wanted epsilon is the bulk of what is computed: rounding errors are
// relative to delta, not to one, and a delta of 1e-30 is as good as one of 0.1.
//
// Guarantee: delta() and epsilon() bracket the profile of the composed laws that were discretised.
// Proof:     docs/proofs/privacy_loss_distribution.md: wrap-around is bounded by Chernoff, rounding
//            by the FFT's error bound carried through powers and products in the Euclidean norm.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "accounting/band_sum.h"
#include "accounting/bracket.h"
#include "accounting/tilted_product.h"

namespace discreet {

/// ln E[e^{tilt * loss}] of the upper masses, with two derivatives; -infinity when there are none.
struct Cumulants {
  double value = 0, slope = 0, curvature = 0;
};
Cumulants cumulants(std::span<const GridPart> parts, double tilt);

/// ln E[e^{tilt * loss}] of one law's upper or lower masses.
double log_moment(const GridLaw& law, bool upper, double tilt);

/// The tilt at which Chernoff's bound on delta(epsilon), or on epsilon(delta), is best.
double tilt_for_epsilon(std::span<const GridPart> parts, double epsilon);
double tilt_for_delta(std::span<const GridPart> parts, double delta);

class GridComposition {
 public:
  /// All parts share one step. `points_max` bounds the transform's length; ok() says if it
  /// sufficed.
  GridComposition(std::span<const GridPart> parts, double tilt, std::size_t points_max);

  /// A product made elsewhere. Outside [low, high] the tilted sum of either side has at most
  /// kOutside on each end; ok() says if its points hold that window.
  GridComposition(const TiltedProduct& product, double centre, double spread, double low,
                  double high);
  static constexpr double kOutside = 1e-12;

  bool ok() const { return ok_; }
  Bracket delta(double epsilon) const;
  /// The two ends by themselves.
  double upper_delta(double epsilon) const;
  double lower_delta(double epsilon) const;
  /// The least epsilon, not below zero, with this delta. Infinite when none is certified.
  Bracket epsilon(double delta) const;
  std::size_t points() const { return points_; }
  /// Standard deviation and centre of the tilted sum: where this composition is accurate.
  double centre() const { return centre_; }
  double spread() const { return spread_; }

 private:
  // One side of the bracket: sums over losses at or above index i of w e^{-tilt (l - centre)} and
  // of w e^{-(tilt+1)(l - centre)}; or the two by frequency, where those are few.
  struct Side {
    std::vector<double> first, second;
    std::vector<BandSum> bands;
    double log_scale = 0;  // of both sums, less tilt * centre
    bool empty = false;
    double infinite = 0;
    double outside = 0;    // tilted mass outside the window
    double rounding = 0;   // Euclidean norm of the error in the tilted masses
    double log_error = 0;  // relative error of the scale
  };
  void read(const TiltedProduct& product, double low, double high);
  double finite_part(const Side& side, double epsilon, double sign) const;
  double error_part(const Side& side, double epsilon) const;
  double lower_epsilon(double delta, double upper) const;

  bool ok_ = false;
  double step_ = 0, tilt_ = 0, centre_ = 0, spread_ = 0;
  double window_low_ = 0;     // loss of the first point
  double window_usable_ = 0;  // losses below are outside the range of the weights
  double loss_error_ = 0;
  std::size_t points_ = 0;
  Side upper_, lower_;
};

}  // namespace discreet
