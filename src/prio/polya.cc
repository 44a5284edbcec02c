#include "prio/polya.h"

#include "random/uniform.h"

namespace discreet::prio {

Result<PolyaSampler> PolyaSampler::make(const Rational& rate, unsigned parts) {
  if (parts == 0) return invalid_parameter("noise is divided between at least one server");
  if (rate < Rational(1, 1 << 20))
    return invalid_parameter(
        "noise of a scale above 2^20 cannot be divided in reasonable time; let each server add the "
        "full noise");
  DISCREET_TRY(GeometricSampler whole, GeometricSampler::make(rate));
  return PolyaSampler(std::move(whole), parts);
}

bool PolyaSampler::keep(std::int64_t value, RandomSource& random) const {
  for (std::int64_t i = 1; i <= value; ++i) {
    const auto index = static_cast<std::uint64_t>(i);
    if (uniform_below(parts_ * index, random) > parts_ * (index - 1)) return false;
  }
  return true;
}

std::int64_t PolyaSampler::draw(RandomSource& random) const {
  for (;;) {
    const std::int64_t value = whole_.draw(random);
    if (parts_ == 1 || keep(value, random)) return value;
  }
}

}  // namespace discreet::prio
