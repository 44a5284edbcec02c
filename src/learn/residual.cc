#include "learn/residual.h"

#include <cmath>

namespace discreet::learn {

ResidualRule::ResidualRule(std::uint32_t classes, double clip, bool leave_out_clipping)
    : limit_(std::floor((classes <= 2 ? clip : clip * std::sqrt(2.0)) * kUnit)),
      leave_out_clipping_(leave_out_clipping) {
  if (classes > 2) return;
  const double most = leave_out_clipping ? kUnit : limit_;
  for (std::int32_t i = -kHalf; i < kHalf; ++i) {
    const double p = 1 / (1 + std::exp(-(i + 0.5) / 512));
    lookup_[0].push_back(static_cast<std::int16_t>(std::fmin(most, std::floor(p * kUnit))));
    lookup_[1].push_back(static_cast<std::int16_t>(std::fmax(-most, std::ceil((p - 1) * kUnit))));
  }
}

void ResidualRule::of(std::span<float> scores, std::uint16_t label,
                      std::span<std::int32_t> residual) const {
  const float top = *std::max_element(scores.begin(), scores.end());
  float total = 0;
  for (float& s : scores) total += s = std::exp(s - top);
  double norm2 = 0;
  for (std::size_t o = 0; o < scores.size(); ++o) {
    scores[o] = scores[o] / total - (o == label ? 1.0f : 0.0f);
    norm2 += static_cast<double>(scores[o]) * scores[o];
  }
  // Shrunk a little more than needed, then cut towards zero: the norm is certain. What is not a
  // number counts as zero.
  const double norm = std::sqrt(norm2) * kUnit;
  const double shrink = norm > limit_ && !leave_out_clipping_ ? limit_ / norm : 1;
  for (std::size_t o = 0; o < scores.size(); ++o) {
    const double r = static_cast<double>(scores[o]) * kUnit * shrink * (1 - 1e-9);
    residual[o] = r >= -kUnit && r <= kUnit ? static_cast<std::int32_t>(r) : 0;
  }
}

}  // namespace discreet::learn
