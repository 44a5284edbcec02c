#include "curator/estimates.h"

#include <algorithm>
#include <cmath>

namespace discreet {
namespace {

struct Moment {
  double mean, mean_sd;      // of (x - m), in grid units
  double second, second_sd;  // of (x - m)^2
};

double squared(double x) {
  return x * x;
}

double width95(const NoisyGroup& noisy) {
  return noisy.gaussian ? kNormal95 : kLaplace95;
}

// With n floored, mean = linear / n; its error by the delta method, noises taken as independent.
double quotient_sd(double top, double top_sd, double n, double n_sd) {
  return std::sqrt(squared(top_sd) + squared(top / n * n_sd)) / n;
}

Moment moment(const NoisyGroup& noisy, std::size_t count, std::size_t linear,
              std::optional<std::size_t> square, const Centre& centre, double n) {
  Moment m{};
  m.mean = std::clamp(noisy.value[linear] / n, -centre.below, centre.above);
  m.mean_sd = quotient_sd(noisy.value[linear], noisy.sd[linear], n, noisy.sd[count]);
  if (square) {
    const double half2 = squared(static_cast<double>(centre.half));
    m.second = std::clamp((noisy.value[*square] / n + half2) / 2, 0.0,
                          half2);  // the sum is of 2 (x - m)^2 - h^2
    m.second_sd = quotient_sd(noisy.value[*square], noisy.sd[*square], n, noisy.sd[count]) / 2;
  }
  return m;
}

Estimated variance(const sql::VarianceRelease& kind, const Moment& m, double n, double unit,
                   double width) {
  const double correction = kind.sample ? n / std::max(1.0, n - 1) : 1;
  const double value = std::max(0.0, m.second - squared(m.mean)) * correction * squared(unit);
  const double error = width * std::sqrt(squared(m.second_sd) + squared(2 * m.mean * m.mean_sd)) *
                       correction * squared(unit);
  if (!kind.standard_deviation) return {value, error};
  const double deviation = std::sqrt(value);
  // sqrt(v + e) - sqrt(v): right for large v, and still sensible where v is near zero.
  return {deviation, error / (deviation + std::sqrt(value + error))};
}

Estimated covariance(const sql::CovarianceRelease& kind, const SumUse& use, const NoisyGroup& noisy,
                     double n) {
  const Moment x = moment(noisy, use.count, *use.linear, use.square, use.x, n);
  const Moment y = moment(noisy, use.count, *use.linear_y, use.square_y, use.y, n);
  const double raw = noisy.value[*use.product] / n - x.mean * y.mean;
  const double raw_sd =
      std::sqrt(squared(quotient_sd(noisy.value[*use.product], noisy.sd[*use.product], n,
                                    noisy.sd[use.count])) +
                squared(x.mean * y.mean_sd) + squared(y.mean * x.mean_sd));
  if (kind.kind != sql::CovarianceRelease::Kind::Correlation) {
    const double correction =
        kind.kind == sql::CovarianceRelease::Kind::Sample ? n / std::max(1.0, n - 1) : 1;
    const double unit = use.x.grid_unit * use.y.grid_unit * correction;
    return {raw * unit, width95(noisy) * raw_sd * unit};
  }
  const double var_x = x.second - squared(x.mean), var_y = y.second - squared(y.mean);
  if (!(var_x > 0 && var_y > 0)) return {0, 1};
  const double scale = std::sqrt(var_x * var_y);
  const double rho = std::clamp(raw / scale, -1.0, 1.0);
  const double sd = std::sqrt(squared(raw_sd / scale) + squared(rho * x.second_sd / (2 * var_x)) +
                              squared(rho * y.second_sd / (2 * var_y)));
  return {rho, std::min(2.0, width95(noisy) * sd)};
}

}  // namespace

// Discrete Laplace noise has P(|X| > k) = 2 q^(k+1) / (1 + q) and the variance 2 q / (1 - q)^2.
double whole_error95(double sd, bool gaussian) {
  if (gaussian) return std::max(0.0, std::ceil(kNormal95 * sd - 0.5));
  const double variance = squared(sd);
  if (!(variance > 0)) return 0;
  const double gap = 2 / (std::sqrt(2 * variance + 1) + 1);  // 1 - q
  if (!(gap < 1)) return 0;
  return std::max(0.0, std::ceil(std::log(0.05 * (2 - gap) / 2) / std::log1p(-gap)) - 1);
}

double laplace_sd(const Rational& rate) {
  const double r = rate.convert_to<double>();
  return std::sqrt(2 * std::exp(-r)) / -std::expm1(-r);
}

Estimated estimate(const sql::AggregateRelease& aggregate, const SumUse& use,
                   const NoisyGroup& noisy, double count_floor) {
  const double n = std::max(noisy.value[use.count], count_floor);
  if (std::holds_alternative<sql::CountRelease>(aggregate.kind) ||
      std::holds_alternative<sql::CountUnitsRelease>(aggregate.kind))
    return {noisy.value[use.count], whole_error95(noisy.sd[use.count], noisy.gaussian)};
  if (std::holds_alternative<sql::SumRelease>(aggregate.kind)) {
    if (use.raw)
      return {noisy.value[*use.linear] * use.x.grid_unit,
              whole_error95(noisy.sd[*use.linear], noisy.gaussian) * use.x.grid_unit};
    const auto m = static_cast<double>(use.x.middle);
    const double sum = noisy.value[*use.linear] + m * noisy.value[use.count];
    const double sd = std::sqrt(squared(noisy.sd[*use.linear]) + squared(m * noisy.sd[use.count]));
    return {sum * use.x.grid_unit, width95(noisy) * sd * use.x.grid_unit};
  }
  if (std::holds_alternative<sql::AvgRelease>(aggregate.kind)) {
    const Moment m = moment(noisy, use.count, *use.linear, std::nullopt, use.x, n);
    return {(static_cast<double>(use.x.middle) + m.mean) * use.x.grid_unit,
            width95(noisy) * m.mean_sd * use.x.grid_unit};
  }
  if (const auto* kind = std::get_if<sql::VarianceRelease>(&aggregate.kind))
    return variance(*kind, moment(noisy, use.count, *use.linear, use.square, use.x, n), n,
                    use.x.grid_unit, width95(noisy));
  return covariance(std::get<sql::CovarianceRelease>(aggregate.kind), use, noisy, n);
}

std::vector<double> estimate_bins(const sql::HistogramRelease& kind, const SumUse& use,
                                  const NoisyGroup& noisy) {
  std::vector<double> bins;
  double total = 0;
  for (const std::size_t bin : use.bins) {
    bins.push_back(std::max(0.0, noisy.value[bin]));
    total += bins.back();
  }
  if (!kind.cumulative) return bins;
  double running = 0;
  for (double& bin : bins) {
    running += bin;
    bin = total > 0 ? running / total : 0;
  }
  return bins;
}

double bins_error95(const sql::HistogramRelease& kind, const SumUse& use, const NoisyGroup& noisy) {
  const double sd = noisy.sd[use.bins.front()];
  if (!kind.cumulative) return whole_error95(sd, noisy.gaussian);
  const double bin = width95(noisy) * sd;
  double total = 0;
  for (const std::size_t b : use.bins) total += std::max(0.0, noisy.value[b]);
  // share = A / (A + B), where A has i noisy bins and B the others: the delta method.
  const auto shares = estimate_bins(kind, use, noisy);
  double worst = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const double below = static_cast<double>(i + 1),
                 above = static_cast<double>(shares.size()) - below;
    worst = std::max(worst, below * squared(1 - shares[i]) + above * squared(shares[i]));
  }
  return total > 0 ? std::min(1.0, bin * std::sqrt(worst) / total) : 1;
}

}  // namespace discreet
