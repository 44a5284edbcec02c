// Named ways to make raw count estimates look like counts. They read released numbers only, so they
// cost no privacy; each trades bias for something (Wang et al. 2020 compare them).
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace discreet::local {

enum class PostProcess {
  None,     ///< unbiased, may be negative
  Clip,     ///< negatives become zero ("base-pos")
  BaseCut,  ///< below the threshold becomes zero
  Norm,     ///< add the same to all so that they sum to the total
  NormMul,  ///< clip, then multiply so that they sum to the total
  NormSub,  ///< clip and subtract the same from the rest, until they sum to the total
  NormCut,  ///< keep the largest ones that reach the total, drop the rest
  Simplex,  ///< the nearest (least squares) non-negative counts that sum to the total
};

Result<PostProcess> post_process_named(std::string_view name);
std::vector<std::string> post_process_names();

/// `total` is the number of reports, `threshold` is for BaseCut.
std::vector<double> post_process(PostProcess how, std::span<const double> estimates, double total,
                                 double threshold = 0);

}  // namespace discreet::local
