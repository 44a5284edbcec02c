// The part of a logistic loss's gradient that a row decides: predicted chances minus the truth,
// clipped, as whole numbers of 2^-14.
//
// Guarantee: for every score and label the L2 norm of what comes out is at most limit(); it depends
//            on that row's score and label only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace discreet::learn {

class ResidualRule {
 public:
  static constexpr double kUnit = 1 << 14;
  static constexpr double kScoreUnit = 1 << 16;  ///< of fixed-point scores, for two classes

  /// `clip` bounds |p - y| for two classes; for more, the norm is at most root(2) times that.
  /// `leave_out_clipping` makes a broken twin for tests.
  ResidualRule(std::uint32_t classes, double clip, bool leave_out_clipping = false);

  double limit() const { return limit_; }

  /// Two classes: from log-odds in units of 2^-16.
  std::int32_t of(std::int32_t score, std::uint16_t label) const {
    const std::int32_t at = std::clamp(score >> kShift, -kHalf, kHalf - 1) + kHalf;
    return lookup_[label][static_cast<std::size_t>(at)];
  }
  /// Any number of classes: from logits, which are overwritten.
  void of(std::span<float> scores, std::uint16_t label, std::span<std::int32_t> residual) const;

 private:
  static constexpr int kShift = 7;  // log-odds are looked up in steps of 2^-9
  static constexpr std::int32_t kHalf = 12 << 9;

  double limit_;
  bool leave_out_clipping_;
  std::vector<std::int16_t> lookup_[2];
};

}  // namespace discreet::learn
