#include "privacy/gaussian_profile.h"

#include <cmath>
#include <limits>
#include <numbers>

#include <fmt/format.h>

namespace discreet {
namespace {

constexpr int kErfcUlps = 8;  // glibc documents at most five
constexpr double kExpMax = 700;

// Bounds on the normal distribution function. The argument is taken as exact.
double phi_up(double x) {
  const double argument = div_down(-x, next_up(std::numbers::sqrt2));
  double value = std::erfc(x > 0 ? div_down(-x, next_down(std::numbers::sqrt2)) : argument);
  for (int i = 0; i < kErfcUlps; ++i) value = next_up(value);
  return std::fmin(1.0, value / 2);
}

double phi_down(double x) {
  double value = std::erfc(x > 0 ? div_up(-x, next_up(std::numbers::sqrt2))
                                 : div_up(-x, next_down(std::numbers::sqrt2)));
  for (int i = 0; i < kErfcUlps; ++i) value = next_down(value);
  return std::fmax(0.0, value / 2);
}

struct Arguments {
  double a_down, a_up;  // mu/2 - eps/mu
  double b_down, b_up;  // -mu/2 - eps/mu
};

Arguments arguments(double mu, double epsilon) {
  const double ratio_down = div_down(epsilon, mu);
  const double ratio_up = div_up(epsilon, mu);
  return {sub_down(mu / 2, ratio_up), sub_up(mu / 2, ratio_down), sub_down(-mu / 2, ratio_up),
          sub_up(-mu / 2, ratio_down)};
}

// e^eps Phi(b) = density(a) Mills(-b), since b^2 - a^2 = 2 eps. Used only where e^eps would
// overflow, so that -b is at least 37 and convergents of Laplace's continued fraction for Mills'
// ratio, which lie below and above it in turn, agree to nine digits. Their few roundings are within
// kSlack.
constexpr double kSlack = 1e-14;

double density_up(double x) {
  return 0.398942280401433 * exp_up(-mul_down(x, x) / 2) * (1 + kSlack);
}
double density_down(double x) {
  return 0.398942280401432 * exp_down(-mul_up(x, x) / 2) * (1 - kSlack);
}
double mills_up(double x) {
  const double y = x * x;
  return (8 + y * (9 + y)) / (x * (15 + y * (10 + y))) * (1 + kSlack);
}
double mills_down(double x) {
  const double y = x * x;
  return x * (5 + y) / (3 + y * (6 + y)) * (1 - kSlack);
}

}  // namespace

double gaussian_delta_up(double mu, double epsilon) {
  if (mu == 0) return 0;
  const Arguments x = arguments(mu, epsilon);
  const double first = phi_up(x.a_up);
  const double a_most = std::fmax(std::fabs(x.a_down), std::fabs(x.a_up));
  const double second = epsilon < kExpMax ? mul_down(exp_down(epsilon), phi_down(x.b_down))
                                          : mul_down(density_down(a_most), mills_down(-x.b_down));
  return std::fmin(1.0, std::fmax(0.0, sub_up(first, second)));
}

double gaussian_delta_down(double mu, double epsilon) {
  if (mu == 0) return 0;
  const Arguments x = arguments(mu, epsilon);
  const double first = phi_down(x.a_down);
  const double a_least = x.a_down > 0 ? x.a_down : x.a_up < 0 ? x.a_up : 0;  // smallest magnitude
  const double second = epsilon < kExpMax ? mul_up(exp_up(epsilon), phi_up(x.b_up))
                                          : mul_up(density_up(a_least), mills_up(-x.b_up));
  return std::fmax(0.0, sub_down(first, second));
}

Result<double> gaussian_noise_multiplier(ApproxDp target) {
  const double epsilon = target.epsilon.value();
  const double delta = target.delta.value();
  if (!(delta > 0 && delta < 1))
    return invalid_parameter(fmt::format(
        "Gaussian noise needs a delta strictly between 0 and 1, not {}; for delta 0 use Laplace",
        delta));
  // delta(mu) rises from 0 to 1: keep `good` on the private side throughout.
  double good = 0, bad = 1;
  while (gaussian_delta_up(bad, epsilon) <= delta) {
    good = bad;
    bad *= 2;
    if (bad > 1e150)
      return invalid_parameter(fmt::format("epsilon {} is too large to calibrate", epsilon));
  }
  if (good == 0) {
    for (good = 0.5; gaussian_delta_up(good, epsilon) > delta; good /= 2) {
      bad = good;
      if (good < 1e-150)
        return invalid_parameter(fmt::format(
            "epsilon {} with delta {} needs more noise than can be drawn", epsilon, delta));
    }
  }
  for (int step = 0; step < 80; ++step) {
    const double middle = good + (bad - good) / 2;
    if (middle <= good || middle >= bad) break;
    (gaussian_delta_up(middle, epsilon) <= delta ? good : bad) = middle;
  }
  return div_up(1, good);
}

Result<double> classic_gaussian_noise_multiplier(ApproxDp target) {
  const double epsilon = target.epsilon.value();
  const double delta = target.delta.value();
  if (!(epsilon > 0 && epsilon < 1) || !(delta > 0 && delta < 1))
    return invalid_parameter(
        "the textbook calibration is proved for epsilon and delta strictly between 0 and 1");
  return div_up(sqrt_up(mul_up(2, log_up(div_up(1.25, delta)))), epsilon);
}

}  // namespace discreet
