#include "inference/resample.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace discreet::inference {
namespace {

std::uint64_t mixed(std::uint64_t x) {  // splitmix64's finaliser (Steele, Lea and Flood 2014)
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

}  // namespace

Resample::Resample(std::span<const double> released) {
  std::uint64_t seed = 0x9e3779b97f4a7c15ull;
  for (const double number : released)
    seed = mixed(seed ^ std::bit_cast<std::uint64_t>(number)) + 0x9e3779b97f4a7c15ull;
  for (auto& word : state_) word = mixed(seed += 0x9e3779b97f4a7c15ull);
  state_[0] |= 1;  // all zeros would stay zero
}

std::uint64_t Resample::bits() {  // xoshiro256++ (Blackman and Vigna 2021)
  const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
  const std::uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double Resample::unit() {
  return (static_cast<double>(bits() >> 11) + 0.5) * 0x1p-53;
}

double Resample::normal() {  // Marsaglia's polar method, two at a time
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  for (;;) {
    const double u = 2 * unit() - 1, v = 2 * unit() - 1, s = u * u + v * v;
    if (s >= 1 || s == 0) continue;
    const double factor = std::sqrt(-2 * std::log(s) / s);
    spare_ = v * factor;
    has_spare_ = true;
    return u * factor;
  }
}

double Resample::chi_square(double degrees) {
  if (degrees <= 0) return 0;
  const double shape = degrees / 2;
  if (shape < 1) {  // of shape + 1, times U^(1 / shape)
    const double larger = chi_square(degrees + 2);
    return larger * std::pow(unit(), 1 / shape);
  }
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);  // Marsaglia and Tsang 2000
  for (;;) {
    const double x = normal(), v = 1 + c * x;
    if (v <= 0) continue;
    const double cube = v * v * v, u = unit(), x2 = x * x;
    if (u < 1 - 0.0331 * x2 * x2 || std::log(u) < 0.5 * x2 + d * (1 - cube + std::log(cube)))
      return 2 * d * cube;
  }
}

double Resample::gamma(unsigned shape) {
  if (shape > 32) return chi_square(2.0 * shape) / 2;
  double product = 1, sum = 0;
  for (unsigned i = 0; i < shape; ++i) {
    product *= unit();
    if (product < 1e-250) {
      sum -= std::log(product);
      product = 1;
    }
  }
  return sum - std::log(product);
}

double Resample::discrete_laplace(double rate) {
  return std::floor(-std::log(unit()) / rate) - std::floor(-std::log(unit()) / rate);
}

double Resample::binomial(double trials, double chance) {
  if (!(trials >= 1) || chance <= 0) return 0;
  if (chance >= 1) return trials;
  if (chance > 0.5) return trials - binomial(trials, 1 - chance);
  const double spread = trials * chance * (1 - chance);
  if (spread > 100)  // normal with a continuity correction: its error is far below the bootstrap's
    return std::clamp(std::round(trials * chance + std::sqrt(spread) * normal()), 0.0, trials);
  double hits = 0;  // gaps between hits are geometric
  const double log_miss = std::log1p(-chance);
  for (double at = std::floor(std::log(unit()) / log_miss); at < trials;
       at += 1 + std::floor(std::log(unit()) / log_miss))
    ++hits;
  return hits;
}

}  // namespace discreet::inference
