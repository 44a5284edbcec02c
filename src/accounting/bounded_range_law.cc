#include "accounting/bounded_range_law.h"

#include <algorithm>
#include <cmath>

namespace discreet {
namespace {

class BoundedRangeLaw final : public LossLaw {
 public:
  explicit BoundedRangeLaw(double epsilon) : epsilon_(epsilon), total_(-std::expm1(-epsilon)) {}

  bool has_density() const override { return true; }

  void cells(std::span<const double> cuts, std::span<double> p,
             std::span<double> q) const override {
    for (std::size_t j = 0; j + 1 < cuts.size(); ++j) {
      const double a = std::clamp(cuts[j], -epsilon_, epsilon_);
      const double b = std::clamp(cuts[j + 1], -epsilon_, epsilon_);
      const double growth = -std::expm1(-(b - a) / 2) / total_;
      p[j] = growth * std::exp((b - epsilon_) / 2);
      q[j] = growth * std::exp(-(a + epsilon_) / 2);
    }
  }
  double mass_above(double loss) const override {
    if (loss <= -epsilon_) return 1;
    return loss >= epsilon_ ? 0 : -std::expm1((loss - epsilon_) / 2) / total_ * (1 + mass_error());
  }
  double mass_below(double loss) const override {
    if (loss >= epsilon_) return 1;
    if (loss <= -epsilon_) return 0;
    return std::exp(-epsilon_) * std::expm1((loss + epsilon_) / 2) / total_ * (1 + mass_error());
  }
  Range range(double) const override { return {-epsilon_, epsilon_}; }

  Bracket delta(double x) const override {
    const double slack = 4 * mass_error();
    if (x >= epsilon_) return {0, 0};
    if (x <= -epsilon_) {
      const double whole = -std::expm1(x);
      return {whole * (1 - slack), std::fmin(1.0, whole * (1 + slack))};
    }
    const double gap = -std::expm1((x - epsilon_) / 2);
    const double value = gap * gap / total_;
    return {value * (1 - slack), std::fmin(1.0, value * (1 + slack))};
  }
  Bracket loss_max() const override { return {epsilon_, epsilon_}; }
  double loss_min() const override { return -epsilon_; }
  double mass_error() const override { return 16 * 0x1p-53 * (1 + epsilon_); }

 private:
  double epsilon_;
  double total_;
};

}  // namespace

LossLawPtr bounded_range_law(double epsilon) {
  return std::make_shared<BoundedRangeLaw>(epsilon);
}

}  // namespace discreet
