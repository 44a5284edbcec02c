// One number of a composition, left open: '1000 x gaussian(sigma=?)' asks for the least sigma that
// meets a target, '? x laplace(scale=10) + gaussian(sigma=5)' for the largest count that does.
//
// Guarantee: the composition with the number put in place meets the target; noise errs upwards,
//            everything else downwards.
#pragma once

#include <string>
#include <string_view>

#include "accounting/calibration.h"

namespace discreet {

struct WantedNumber {
  std::string field;  ///< "count", or the field's name
  bool least;         ///< the least value that fits (noise), or the greatest
  double value;
  std::string composition;  ///< the text with the value in place
};

/// Whether a composition leaves a number open.
bool wants_number(std::string_view composition);

/// InvalidInput: the text does not parse, leaves more than one number open, or one that has no
/// direction in which privacy improves. Refused: no value meets the target.
Result<WantedNumber> find_wanted_number(std::string_view composition, ApproxDp target,
                                        const Pricing& pricing);

}  // namespace discreet
