// Bulk draws, 512 at a time: lane i of every register belongs to draw i, and one register holds the
// same binary digit of all 512. A coin compares random registers with the digits of its chance,
// highest first, and stops when no lane is undecided; lanes still undecided after 128 digits are
// settled by the exact rule. The result is the same distribution as the one-at-a-time draw, not the
// same stream.
#pragma once

#include <cstdint>
#include <span>

#include "random/random_source.h"

namespace discreet {

class GeometricSampler;
class DiscreteLaplaceSampler;

namespace bit_slice {

void draw_geometric(const GeometricSampler& sampler, std::span<std::int64_t> out,
                    RandomSource& random);
void draw_discrete_laplace(const DiscreteLaplaceSampler& sampler, std::span<std::int64_t> out,
                           RandomSource& random);

}  // namespace bit_slice
}  // namespace discreet
