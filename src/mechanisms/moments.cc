#include "mechanisms/moments.h"

#include <algorithm>
#include <cmath>

namespace discreet {
namespace {

double middle_of(IntegerRange range) {
  return (static_cast<double>(range.lower) + static_cast<double>(range.upper)) / 2;
}

double half_of(IntegerRange range) {
  return static_cast<double>(range.size() - 1) / 2;
}

// d(linear) by (count, linear sum) is (-linear, 1) / n.
double mean_error(double n, double linear, const MomentNoise& noise) {
  return std::sqrt(linear * linear * noise.count + noise.linear) / n;
}

// f = (square + 1) / 2 - linear^2 with both means: its derivatives by the three sums, times n.
double variance_error(double n, double linear, double square, const MomentNoise& noise) {
  const double by_square = 0.5, by_linear = -2 * linear;
  const double by_count = -square / 2 + 2 * linear * linear;
  return std::sqrt(std::fmax(0, by_count * by_count * noise.count +
                                    by_linear * by_linear * noise.linear +
                                    by_square * by_square * noise.square +
                                    2 * by_count * by_square * noise.count_square)) /
         n;
}

}  // namespace

MomentNoise noise_with(const KNorm& mechanism, std::size_t column,
                       const std::optional<Presence>& presence) {
  MomentNoise noise = mechanism.noise(column);
  if (!presence) return noise;
  // Features of different columns are not correlated: flipping the sign of one's leaves K as it is.
  const double by = presence->by_indicator, count = presence->by_count;
  noise.count = by * by * mechanism.noise(presence->indicator).linear + count * count * noise.count;
  noise.count_square *= count;
  return noise;
}

MomentEstimates::MomentEstimates(const KNorm& mechanism, std::span<const Int128> noisy,
                                 std::vector<std::optional<Presence>> presence)
    : columns_(mechanism.columns().begin(), mechanism.columns().end()),
      presence_(std::move(presence)),
      count_error_(std::sqrt(mechanism.noise(0).count)),
      count_floor_(4 / mechanism.epsilon().value()) {
  DISCREET_CHECK(noisy.size() == mechanism.features(), "a release of this mechanism");
  if (presence_.empty()) presence_.resize(columns_.size());
  DISCREET_CHECK(presence_.size() == columns_.size(), "an entry per column");
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    layout_.push_back(mechanism.layout(i));
    noise_.push_back(noise_with(mechanism, i, presence_[i]));
  }
  for (const Int128 feature : noisy)
    features_.push_back(static_cast<double>(feature) / static_cast<double>(mechanism.scale()));
}

double MomentEstimates::rows_with(std::size_t column) const {
  return presence_[column] ? count(*presence_[column]).value : features_[0];
}

MomentEstimates::Moments MomentEstimates::moments(std::size_t column) const {
  DISCREET_CHECK(column < columns_.size(), "a column of this release");
  const double n = std::fmax(rows_with(column), count_floor_);
  const MomentLayout place = layout_[column];
  return {n,
          std::clamp(features_[place.linear] / n, -1.0, 1.0),
          place.square == 0 ? 0 : std::clamp(features_[place.square] / n, -1.0, 1.0),
          middle_of(columns_[column].range),
          half_of(columns_[column].range),
          noise_[column]};
}

Estimate MomentEstimates::count() const {
  return {features_[0], count_error_};
}

Estimate MomentEstimates::count(const Presence& presence) const {
  const double by = presence.by_indicator, all = presence.by_count;
  return {by * features_[layout_[presence.indicator].linear] + all * features_[0],
          std::sqrt(by * by * noise_[presence.indicator].linear +
                    all * all * count_error_ * count_error_)};
}

Estimate MomentEstimates::sum(std::size_t column) const {
  const Moments m = moments(column);
  return {m.middle * rows_with(column) + m.half * features_[layout_[column].linear],
          std::sqrt(m.middle * m.middle * m.noise.count + m.half * m.half * m.noise.linear)};
}

Estimate MomentEstimates::mean(std::size_t column) const {
  const Moments m = moments(column);
  return {m.middle + m.half * m.linear, m.half * mean_error(m.n, m.linear, m.noise)};
}

Estimate MomentEstimates::variance(std::size_t column, Divisor divisor) const {
  DISCREET_CHECK(layout_[column].square != 0, "a column released with its variance");
  const Moments m = moments(column);
  const double units =
      m.half * m.half * (divisor == Divisor::Sample ? m.n / std::fmax(1, m.n - 1) : 1);
  // No column within its range has a variance beyond half^2 (1 - mean^2).
  const double z =
      std::clamp((m.square + 1) / 2 - m.linear * m.linear, 0.0, 1 - m.linear * m.linear);
  return {units * z, units * variance_error(m.n, m.linear, m.square, m.noise)};
}

Estimate MomentEstimates::deviation(std::size_t column, Divisor divisor) const {
  const Estimate v = variance(column, divisor);
  const double value = std::sqrt(v.value);
  // Near zero the root is steep; its error is then at most the root of the variance's.
  const double error = value > 0 ? v.standard_error / (2 * value) : INFINITY;
  return {value, std::fmin(error, std::sqrt(v.standard_error))};
}

double planned_mean_error(const KNorm& mechanism, std::size_t column, double rows, double mean,
                          const std::optional<Presence>& presence) {
  const IntegerRange range = mechanism.columns()[column].range;
  const double half = half_of(range), z = (mean - middle_of(range)) / half;
  return half * mean_error(std::fmax(rows, 4 / mechanism.epsilon().value()), z,
                           noise_with(mechanism, column, presence));
}

double planned_variance_error(const KNorm& mechanism, std::size_t column, double rows, double mean,
                              double variance, const std::optional<Presence>& presence) {
  const IntegerRange range = mechanism.columns()[column].range;
  const double half = half_of(range), z = (mean - middle_of(range)) / half;
  const double square = 2 * (variance / (half * half) + z * z) - 1;
  return half * half *
         variance_error(std::fmax(rows, 4 / mechanism.epsilon().value()), z, square,
                        noise_with(mechanism, column, presence));
}

}  // namespace discreet
