// A pair of numbers with the truth between them.
#pragma once

namespace discreet {

/// Certified: `lower` is never above the true value and `upper` never below it.
struct Bracket {
  double lower = 0;
  double upper = 0;

  double width() const { return upper - lower; }
  bool contains(double x) const { return lower <= x && x <= upper; }
};

}  // namespace discreet
