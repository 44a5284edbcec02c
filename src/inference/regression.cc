#include "inference/regression.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "inference/bootstrap_internal.h"

namespace discreet::inference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNotGiven = std::numeric_limits<double>::quiet_NaN();
// The least eigenvalue of the regressors' moments, in standard deviations of a sum's noise, from
// which coefficients are estimated at all.
constexpr double kGate = 4;

std::vector<double> noise_of(const NoisyJointSums& sums, Resample& random) {
  std::vector<double> noise(joint_features(sums.columns));
  const double radius = random.gamma(static_cast<unsigned>(noise.size()) + 1) / sums.epsilon;
  for (double& one : noise) one = radius * (2 * random.unit() - 1);
  return noise;
}

// Lower triangle of the Cholesky factor, row by row; nothing if not positive definite.
std::optional<std::vector<double>> cholesky(const std::vector<double>& a, std::size_t n) {
  std::vector<double> l(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = a[i * n + j];
      for (std::size_t k = 0; k < j; ++k) sum -= l[i * n + k] * l[j * n + k];
      if (i == j) {
        if (!(sum > 0)) return std::nullopt;
        l[i * n + i] = std::sqrt(sum);
      } else {
        l[i * n + j] = sum / l[j * n + j];
      }
    }
  return l;
}

// Inverse of l l'.
std::vector<double> inverse(const std::vector<double>& l, std::size_t n) {
  std::vector<double> m(n * n), result(n * n);  // m: inverse of l
  for (std::size_t i = 0; i < n; ++i) {
    m[i * n + i] = 1 / l[i * n + i];
    for (std::size_t j = 0; j < i; ++j) {
      double sum = 0;
      for (std::size_t k = j; k < i; ++k) sum -= l[i * n + k] * m[k * n + j];
      m[i * n + j] = sum / l[i * n + i];
    }
  }
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t k = std::max(i, j); k < n; ++k)
        result[i * n + j] += m[k * n + i] * m[k * n + j];
  return result;
}

struct Fit {
  std::vector<double> beta, error;  // in z; the constant first
  std::vector<double> moments;      // of the regressors and the constant
  double rows = 0, residual = 0;    // residual sum of squares, may be negative
  double residual_noise = 0;        // its standard deviation from the noise
  double spread2 = 0;               // residual variance, not negative
  double total = 0;                 // of y around its mean
};

// What noise in the sums does to one coefficient, to first order: the sum of squared factors.
double noise_factors(const std::vector<double>& u, const std::vector<double>& beta) {
  const std::size_t p = beta.size() - 1;
  double rows = u[0] * beta[0], sum = u[0] * u[0];
  for (std::size_t i = 1; i <= p; ++i) {
    rows += u[i] * beta[i] / 2;
    const double linear = u[0] * beta[i] + u[i] * beta[0], square = u[i] * beta[i] / 2;
    sum += u[i] * u[i] + linear * linear + square * square;
    for (std::size_t j = i + 1; j <= p; ++j) {
      const double pair = u[i] * beta[j] + u[j] * beta[i];
      sum += pair * pair;
    }
  }
  return sum + rows * rows;
}

std::optional<Fit> fit(const NoisyJointSums& sums) {
  const std::size_t p = sums.columns - 1, n = p + 1, y = sums.columns;
  Fit fit;
  fit.rows = sums.rows();
  if (fit.rows < static_cast<double>(n) + 2) return std::nullopt;
  fit.moments.resize(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) fit.moments[i * n + j] = sums.at(i, j);
  const auto factor = cholesky(fit.moments, n);
  if (!factor) return std::nullopt;
  const auto inverted = inverse(*factor, n);
  double trace = 0;
  for (std::size_t i = 0; i < n; ++i) trace += inverted[i * n + i];
  if (!(1 / trace > kGate * sums.noise_sd)) return std::nullopt;
  fit.beta.resize(n);
  double explained = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) fit.beta[i] += inverted[i * n + j] * sums.at(j, y);
    explained += fit.beta[i] * sums.at(i, y);
  }
  fit.residual = sums.at(y, y) - explained;
  fit.total = sums.at(y, y) - sums.at(0, y) * sums.at(0, y) / fit.rows;
  // The residual sum of squares is v' M v with v = (-beta, 1).
  std::vector<double> v = fit.beta;
  for (double& one : v) one = -one;
  v.push_back(1);
  double rows = v[0] * v[0], factors = 0;
  for (std::size_t i = 1; i < v.size(); ++i) {
    rows += v[i] * v[i] / 2;
    factors += 4 * v[0] * v[0] * v[i] * v[i] + std::pow(v[i], 4) / 4;
    for (std::size_t j = i + 1; j < v.size(); ++j) factors += 4 * v[i] * v[i] * v[j] * v[j];
  }
  fit.residual_noise = sums.noise_sd * std::sqrt(factors + rows * rows);
  fit.spread2 = std::max(0.0, fit.residual) / (fit.rows - static_cast<double>(n));
  std::vector<double> u(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) u[j] = inverted[i * n + j];
    fit.error.push_back(
        std::sqrt(fit.spread2 * u[i] + sums.noise_sd * sums.noise_sd * noise_factors(u, fit.beta)));
  }
  return fit;
}

// Sums drawn anew: the regressors' moments as found, residuals of a spread that the release allows,
// and the noise.
class Redraw {
 public:
  Redraw(const NoisyJointSums& sums, const Fit& found)
      : sums_(sums), found_(found), factor_(*cholesky(found.moments, found.beta.size())) {
    drawn_ = sums;
  }
  std::optional<Fit> operator()(Resample& random) {
    const std::size_t n = found_.beta.size(), side = sums_.columns + 1, y = sums_.columns;
    const double degrees = std::max(1.0, found_.rows - static_cast<double>(n));
    double residual2 = 0;  // a spread that the release allows
    for (int i = 0; i < kTries; ++i) {
      residual2 = found_.residual + random.normal() * found_.residual_noise;
      if (residual2 >= 0) break;
    }
    const double spread2 = std::max(0.0, residual2) / degrees;
    std::vector<double> z(n), with_y(n);
    double z2 = 0;
    for (double& one : z) {
      one = random.normal();
      z2 += one * one;
    }
    double yy = spread2 * (z2 + random.chi_square(degrees));
    for (std::size_t i = 0; i < n; ++i) {
      double residual = 0, line = 0;
      for (std::size_t j = 0; j <= i; ++j) residual += factor_[i * n + j] * z[j];
      residual *= std::sqrt(spread2);
      for (std::size_t j = 0; j < n; ++j) line += found_.moments[i * n + j] * found_.beta[j];
      with_y[i] = line + residual;
      yy += found_.beta[i] * (line + 2 * residual);
    }
    fill_joint_sums(noise_of(sums_, random), drawn_);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) drawn_.sums[i * side + j] += found_.moments[i * n + j];
      drawn_.sums[i * side + y] += with_y[i];
      drawn_.sums[y * side + i] = drawn_.sums[i * side + y];
    }
    drawn_.sums[y * side + y] += yy;
    return fit(drawn_);
  }

 private:
  const NoisyJointSums& sums_;
  const Fit& found_;
  std::vector<double> factor_;
  NoisyJointSums drawn_;
};

std::vector<double> seed_of(const NoisyJointSums& sums) {
  std::vector<double> seed = sums.sums;
  seed.push_back(sums.epsilon);
  return seed;
}

// Sums of two columns around their means, in z.
struct Centred {
  double rows, x, y, xx, yy, xy;  // x, y: means
  double xx_clear, yy_clear;      // less what the noise of xy tells about theirs
  double error;                   // of xy, under no correlation
};

// What noise of 1, x, y, T(x), x y, T(y) does to sums around the means x and y.
struct CentredNoise {
  double rows, xx, yy, xy;
};

CentredNoise centred_noise(std::span<const double> e, double x, double y) {
  return {e[0], (e[3] + e[0]) / 2 - 2 * x * e[1] + x * x * e[0],
          (e[5] + e[0]) / 2 - 2 * y * e[2] + y * y * e[0],
          e[4] - x * e[2] - y * e[1] + x * y * e[0]};
}

// A mean as far from the middle of the range as its square less its variance by noise says.
double mean_of(double sum, double rows, double noise_sd) {
  const double mean = std::clamp(sum / rows, -1.0, 1.0), m2 = mean * mean;
  const double noise = noise_sd * noise_sd * (1 + m2) / (rows * rows);
  return std::copysign(std::sqrt(std::max(0.0, m2 - noise)), mean);
}

// Of the noise of xy: its variance, and what it tells about the noise of xx (by symmetry of yy).
double cross_noise2(double noise_sd, double x, double y) {
  return noise_sd * noise_sd * (1 + x * x) * (1 + y * y);
}
double cross_slope(double noise_sd, double x, double y, double sampling) {
  const double together = noise_sd * noise_sd * x * y * (2.5 + x * x);
  return together / (sampling + cross_noise2(noise_sd, x, y));
}

Centred centred(double rows, double sx, double sy, double pxx, double pyy, double pxy,
                double noise_sd) {
  Centred c{};
  c.rows = std::max(rows, std::max(3.0, noise_sd));
  c.x = mean_of(sx, c.rows, noise_sd);
  c.y = mean_of(sy, c.rows, noise_sd);
  const double xx = pxx - 2 * c.x * sx + c.x * c.x * rows;
  const double yy = pyy - 2 * c.y * sy + c.y * c.y * rows;
  c.xx = std::max(0.0, xx);
  c.yy = std::max(0.0, yy);
  c.xy = pxy - c.x * sy - c.y * sx + rows * c.x * c.y;
  const double sampling = c.xx * c.yy / (c.rows - 1);
  c.xx_clear = xx - cross_slope(noise_sd, c.x, c.y, sampling) * c.xy;
  c.yy_clear = yy - cross_slope(noise_sd, c.y, c.x, sampling) * c.xy;
  c.error = std::sqrt(std::max(0.0, c.xx_clear) * std::max(0.0, c.yy_clear) / (c.rows - 1) +
                      cross_noise2(noise_sd, c.x, c.y));
  return c;
}

// Standard deviation of the noise of a sum of squares around a mean.
double squares_sd(double noise_sd, double mean) {
  const double m2 = mean * mean;
  return noise_sd * std::sqrt(0.25 + (0.5 + m2) * (0.5 + m2) + 4 * m2);
}

// Fisher's z of the correlation and its standard error; nothing where the noise hides a spread.
struct FisherZ {
  double z, error;
};

std::optional<FisherZ> fisher(const Centred& c, double noise_sd) {
  const double tx = squares_sd(noise_sd, c.x), ty = squares_sd(noise_sd, c.y);
  if (c.xx < kGate * tx || c.yy < kGate * ty) return std::nullopt;
  const double r = std::clamp(c.xy / std::sqrt(c.xx * c.yy), -0.999, 0.999);
  const double pxy = noise_sd * noise_sd * (1 + c.x * c.x) * (1 + c.y * c.y) / (c.xx * c.yy);
  const double px = r * tx / (2 * c.xx), py = r * ty / (2 * c.yy);
  const double slope = 1 / (1 - r * r);
  return FisherZ{std::atanh(r), std::sqrt(1 / std::max(1.0, c.rows - 3) +
                                          (pxy + px * px + py * py) * slope * slope)};
}

}  // namespace

TestOutcome correlation_test(const NoisyJointSums& sums, const Options& options) {
  const double noise = sums.noise_sd;
  const Centred found = centred(sums.rows(), sums.at(0, 1), sums.at(0, 2), sums.at(1, 1),
                                sums.at(2, 2), sums.at(1, 2), noise);
  TestOutcome outcome;
  outcome.rows = sums.rows();
  outcome.degrees = std::max(1.0, sums.rows() - 2);
  outcome.statistic = found.xy / found.error;
  const auto seed = seed_of(sums);
  // Two normal columns of this correlation, their number and spreads as the release allows, and the
  // noise.
  const auto redraw = [&](double rho, Resample& random) {
    const double sampling = found.xx * found.yy / (found.rows - 1);
    const double slope_x = cross_slope(noise, found.x, found.y, sampling),
                 slope_y = cross_slope(noise, found.y, found.x, sampling);
    double n = 0, sum_xx = 0, sum_yy = 0;
    for (int i = 0; i < kTries; ++i) {
      const CentredNoise e = centred_noise(noise_of(sums, random), found.x, found.y);
      const double chance = std::sqrt(sampling) * random.normal();
      n = sums.rows() - e.rows;
      sum_xx = found.xx_clear - e.xx + slope_x * (e.xy + chance);
      sum_yy = found.yy_clear - e.yy + slope_y * (e.xy + chance);
      if (n >= 3 && sum_xx >= 0 && sum_yy >= 0) break;
    }
    n = std::max(3.0, n);
    const double vx = std::clamp(sum_xx / n, 0.0, 1 - found.x * found.x),
                 vy = std::clamp(sum_yy / n, 0.0, 1 - found.y * found.y);
    const double mx = random.normal() / std::sqrt(n);
    const double my = rho * mx + std::sqrt(1 - rho * rho) * random.normal() / std::sqrt(n);
    const double xx = random.chi_square(n - 1), cross = std::sqrt(xx) * random.normal();
    const double rest = cross * cross / xx + random.chi_square(n - 2);  // of the part without x
    const double q = std::sqrt(1 - rho * rho);
    const double xy = rho * xx + q * cross,
                 yy = rho * rho * xx + 2 * rho * q * cross + q * q * rest;
    const double x = found.x + std::sqrt(vx) * mx, y = found.y + std::sqrt(vy) * my;
    const auto e = noise_of(sums, random);  // 1, x, y, T(x), x y, T(y)
    return centred(n + e[0], n * x + e[1], n * y + e[2], vx * xx + n * x * x + (e[3] + e[0]) / 2,
                   vy * yy + n * y * y + (e[5] + e[0]) / 2,
                   std::sqrt(vx * vy) * xy + n * x * y + e[4], noise);
  };
  outcome.p_value = p_value(
      std::fabs(outcome.statistic),
      [&](Resample& random) {
        const Centred drawn = redraw(0, random);
        return std::fabs(drawn.xy) / drawn.error;
      },
      seed, options);
  if (!options.intervals) return outcome;
  outcome.interval = {-1, 1};
  const auto z = fisher(found, noise);
  outcome.estimate = z ? std::tanh(z->z)
                       : (found.xx > 0 && found.yy > 0
                              ? std::clamp(found.xy / std::sqrt(found.xx * found.yy), -1.0, 1.0)
                              : 0);
  outcome.standard_error = z ? z->error * (1 - outcome.estimate * outcome.estimate) : 1;
  if (!z) return outcome;
  const double times = quantile(
      [&](Resample& random) {
        const auto drawn = fisher(redraw(outcome.estimate, random), noise);
        return drawn ? std::fabs(drawn->z - z->z) / drawn->error : kInfinity;
      },
      seed, options);
  if (std::isfinite(times))
    outcome.interval = {std::tanh(z->z - times * z->error), std::tanh(z->z + times * z->error)};
  return outcome;
}

Regression linear_regression(const NoisyJointSums& sums, const Options& options) {
  const std::size_t p = sums.columns - 1, n = p + 1;
  Regression result;
  result.rows = sums.rows();
  result.coefficients.resize(n);
  for (auto& one : result.coefficients)
    one = {.standard_error = kInfinity,
           .p_value = kNotGiven,
           .interval = {-kInfinity, kInfinity},
           .simultaneous = {-kInfinity, kInfinity}};
  const auto found = fit(sums);
  if (!found) return result;
  result.identified = true;
  result.r_squared =
      found->total > 0 ? std::clamp(1 - found->residual / found->total, 0.0, 1.0) : 0;
  const double half_y = sums.half[p];
  result.residual_sd = half_y * std::sqrt(found->spread2);

  // Studentised deviations of all coefficients, drawn once for every spread. The constant belongs
  // to x = 0 in the columns' own units, so it is a combination c' beta with its own error.
  std::vector<double> at_zero = {1};
  for (std::size_t i = 0; i < p; ++i) at_zero.push_back(-sums.middle[i] / sums.half[i]);
  const auto intercept_of = [&](const std::vector<double>& beta) {
    double value = 0;
    for (std::size_t i = 0; i < n; ++i) value += at_zero[i] * beta[i];
    return value;
  };
  const auto intercept_error = [&](const Fit& f) {
    const auto inverted = inverse(*cholesky(f.moments, n), n);
    std::vector<double> u(n);
    double sampling = 0;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) u[i] += inverted[i * n + j] * at_zero[j];
      sampling += at_zero[i] * u[i];
    }
    return std::sqrt(f.spread2 * sampling +
                     sums.noise_sd * sums.noise_sd * noise_factors(u, f.beta));
  };
  const unsigned draws = options.draws;
  const double centre = intercept_of(found->beta);
  std::vector<std::vector<double>> deviations(n + 1, std::vector<double>(draws));
  Resample random(seed_of(sums));
  Redraw redraw(sums, *found);
  for (unsigned i = 0; i < draws; ++i) {
    auto drawn = redraw(random);
    // What is asked is the law of estimates that are given at all.
    for (int tries = 1; !drawn && tries < kTries; ++tries) drawn = redraw(random);
    double largest = 0;
    for (std::size_t j = 0; j < n; ++j) {
      double t = kInfinity;
      if (drawn && j == 0)
        t = std::fabs(intercept_of(drawn->beta) - centre) / intercept_error(*drawn);
      else if (drawn)
        t = std::fabs(drawn->beta[j] - found->beta[j]) / drawn->error[j];
      deviations[j][i] = t;
      largest = std::max(largest, t);
    }
    deviations[n][i] = largest;
  }
  const auto at_confidence = [&](std::size_t j) {
    const auto at = static_cast<std::ptrdiff_t>(
        std::min<double>(std::ceil(options.confidence * (draws + 1)), draws) - 1);
    std::nth_element(deviations[j].begin(), deviations[j].begin() + at, deviations[j].end());
    return deviations[j][static_cast<std::size_t>(at)];
  };
  const double joint = at_confidence(n);
  for (std::size_t j = 0; j < n; ++j) {
    Coefficient& one = result.coefficients[j];
    const double unit = j == 0 ? half_y : half_y / sums.half[j - 1];
    const double middle = j == 0 ? sums.middle[p] : 0;
    one.value = middle + unit * (j == 0 ? centre : found->beta[j]);
    one.standard_error = unit * (j == 0 ? intercept_error(*found) : found->error[j]);
    one.statistic = one.value / one.standard_error;
    const auto hits = std::count_if(deviations[j].begin(), deviations[j].end(),
                                    [&](double t) { return t >= std::fabs(one.statistic); });
    one.p_value = (1.0 + static_cast<double>(hits)) / (1.0 + draws);
    const double reach = at_confidence(j) * one.standard_error, all = joint * one.standard_error;
    one.interval = {one.value - reach, one.value + reach};
    one.simultaneous = {one.value - all, one.value + all};
  }
  return result;
}

SimpleSums simple_sums(const NoisyJointSums& sums) {
  const Centred c = centred(sums.rows(), sums.at(0, 1), sums.at(0, 2), sums.at(1, 1), sums.at(2, 2),
                            sums.at(1, 2), sums.noise_sd);
  const double hx = sums.half[0], hy = sums.half[1];
  return {std::max(0.0, std::round(sums.rows())),
          sums.middle[0] + hx * c.x,
          sums.middle[1] + hy * c.y,
          c.xx * hx * hx,
          c.yy * hy * hy,
          c.xy * hx * hy};
}

}  // namespace discreet::inference
