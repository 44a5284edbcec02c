#include "mechanisms/integer_noise.h"

#include <cmath>
#include <limits>

#include "base/rounding.h"

namespace discreet {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

}  // namespace

Int128 draw_unbounded(const GeometricSampler& sampler, RandomSource& random) {
  Int128 total = 0;
  std::int64_t drawn = sampler.draw(random);
  while (drawn == kMax) [[unlikely]] {  // means "at least kMax": what is beyond is geometric again
    total += drawn;
    drawn = sampler.draw(random);
  }
  return total + drawn;
}

Int128 draw_unbounded(const DiscreteLaplaceSampler& sampler, RandomSource& random) {
  const std::int64_t drawn = sampler.draw(random);
  if (drawn != kMax && drawn != -kMax) [[likely]]
    return drawn;
  const Int128 beyond = draw_unbounded(sampler.magnitude(), random);
  return drawn > 0 ? drawn + beyond : drawn - beyond;
}

double upper_tail_start(double rate, double beta) {
  const double r = exp_down(-rate);
  return std::fmax(1, std::ceil(div_up(log_up(div_up(1, mul_down(add_down(1, r), beta))), rate)));
}

double two_sided_tail_start(double rate, double beta) {
  return upper_tail_start(rate, beta / 2);  // halving is exact
}

}  // namespace discreet
