#include "learn/kmeans.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/rounding.h"
#include "learn/class_tables.h"
#include "synth/dice.h"

namespace discreet::learn {
namespace {

constexpr std::int64_t kCountUnit = 16;
constexpr double kOffsetUnit = 1 << 14;
constexpr double kGridHalf = 2.5;  // standard deviations on either side
constexpr std::size_t kAxesMax = 3;
constexpr int kRestarts = 20;

double squared_distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

struct Weighted {
  std::vector<double> at;
  double weight;
};

std::size_t nearest_of(const std::vector<std::vector<double>>& centres,
                       const std::vector<double>& at, double& best) {
  best = std::numeric_limits<double>::infinity();
  std::size_t found = 0;
  for (std::size_t k = 0; k < centres.size(); ++k)
    if (const double d = squared_distance(centres[k], at); d < best) {
      best = d;
      found = k;
    }
  return found;
}

// Ordinary weighted k-means on released points: k-means++ starts (Arthur and Vassilvitskii 2007)
// and Lloyd steps; the best of several.
std::vector<std::vector<double>> cluster_points(const std::vector<Weighted>& points,
                                                std::size_t clusters, synth::Dice& dice) {
  std::vector<std::vector<double>> best;
  double best_cost = std::numeric_limits<double>::infinity();
  for (int restart = 0; restart < kRestarts; ++restart) {
    std::vector<double> pull(points.size());
    for (std::size_t i = 0; i < points.size(); ++i) pull[i] = points[i].weight;
    std::vector<std::vector<double>> centres;
    while (centres.size() < clusters) {
      double total = 0;
      for (const double p : pull) total += p;
      double left = dice.unit() * total;
      std::size_t chosen = 0;
      while (chosen + 1 < points.size() && (left -= pull[chosen]) > 0) ++chosen;
      centres.push_back(points[chosen].at);
      for (std::size_t i = 0; i < points.size(); ++i) {
        double distance = 0;
        nearest_of(centres, points[i].at, distance);
        pull[i] = points[i].weight * distance;
      }
    }
    double cost = 0;
    for (int step = 0; step < 30; ++step) {
      std::vector<std::vector<double>> sums(clusters,
                                            std::vector<double>(points.front().at.size(), 0));
      std::vector<double> weights(clusters, 0);
      cost = 0;
      for (const Weighted& point : points) {
        double distance = 0;
        const std::size_t k = nearest_of(centres, point.at, distance);
        cost += point.weight * distance;
        weights[k] += point.weight;
        for (std::size_t i = 0; i < point.at.size(); ++i) sums[k][i] += point.weight * point.at[i];
      }
      for (std::size_t k = 0; k < clusters; ++k)
        if (weights[k] > 0)
          for (std::size_t i = 0; i < sums[k].size(); ++i) centres[k][i] = sums[k][i] / weights[k];
    }
    if (cost < best_cost) {
      best_cost = cost;
      best = centres;
    }
  }
  return best;
}

// The noisy grid and what follows from it.
struct Start {
  std::vector<std::vector<double>> centres;
  double radius = 0;  // within which most of a cluster lies
};

Result<Start> find_start(const NumericRows& rows, const Moments& moments, std::size_t clusters,
                         double share, const ClusterSettings& settings, GaussianBudget& budget,
                         RandomSource& random) {
  const std::size_t d = rows.columns.size();
  const Spectrum spectrum = spectrum_of(moments.products);
  const std::size_t axes = std::min(d, kAxesMax);
  std::vector<double> spread;
  double variance_left = 0;
  for (std::size_t i = 0; i < d; ++i) {
    const double variance = std::fmax(spectrum.values[i] / moments.rows, 1e-6);
    if (i < axes)
      spread.push_back(std::sqrt(variance));
    else
      variance_left += variance;
  }
  const double noise = budget.sigma(1, share);
  const double side =
      std::pow(moments.rows / (settings.cell_noise * noise), 1 / static_cast<double>(axes));
  const auto g =
      static_cast<std::size_t>(std::clamp(std::round(side), 3.0, axes == 3 ? 24.0 : 100.0));
  std::size_t cells = 1;
  for (std::size_t a = 0; a < axes; ++a) cells *= g;
  std::vector<std::int64_t> counts(cells, 0);
  for (std::size_t row = 0; row < rows.rows; ++row) {
    std::size_t cell = 0;
    for (std::size_t a = 0; a < axes; ++a) {
      double along = 0;
      for (std::size_t c = 0; c < d; ++c)
        along += spectrum.vectors[a][c] * (rows.columns[c][row] - moments.mean[c]);
      const double place =
          (along / spread[a] + kGridHalf) / (2 * kGridHalf) * static_cast<double>(g);
      cell =
          cell * g + static_cast<std::size_t>(std::clamp(place, 0.0, static_cast<double>(g) - 0.5));
    }
    counts[cell] += kCountUnit;
  }
  DISCREET_TRY_VOID(budget.release(counts, kCountUnit, share, random));
  std::vector<double> noisy(counts.begin(), counts.end());
  for (double& count : noisy) count /= kCountUnit;
  const std::vector<double> projected = project_to_simplex(noisy, moments.rows);
  std::vector<Weighted> points;
  for (std::size_t cell = 0; cell < cells; ++cell) {
    if (projected[cell] <= 0) continue;
    std::vector<double> at(axes);
    for (std::size_t a = axes, rest = cell; a-- > 0; rest /= g)
      at[a] = ((static_cast<double>(rest % g) + 0.5) / static_cast<double>(g) * 2 - 1) * kGridHalf *
              spread[a];
    points.push_back({std::move(at), projected[cell]});
  }
  if (points.empty()) points.push_back({std::vector<double>(axes, 0), 1});
  synth::Dice dice(random);
  const auto along_axes = cluster_points(points, clusters, dice);

  std::vector<std::pair<double, double>> distances;
  for (const Weighted& point : points) {
    double distance = 0;
    nearest_of(along_axes, point.at, distance);
    distances.emplace_back(distance, point.weight);
  }
  std::sort(distances.begin(), distances.end());
  double within = 0, total = 0, far = 0;
  for (const auto& [distance, weight] : distances) total += weight;
  for (const auto& [distance, weight] : distances) {
    far = distance;
    if ((within += weight) >= settings.radius_share * total) break;
  }
  Start start;
  double cell_spread = 0;  // of rows within a cell
  for (const double s : spread) {
    const double width = 2 * kGridHalf * s / static_cast<double>(g);
    cell_spread += width * width / 12;
  }
  start.radius = std::sqrt(far + 2 * (variance_left + cell_spread));
  for (const auto& at : along_axes) {
    std::vector<double> centre = moments.mean;
    for (std::size_t a = 0; a < axes; ++a)
      for (std::size_t c = 0; c < d; ++c) centre[c] += at[a] * spectrum.vectors[a][c];
    for (double& x : centre) x = std::clamp(x, -1.0, 1.0);
    start.centres.push_back(std::move(centre));
  }
  return start;
}

}  // namespace

std::size_t ClustersModel::nearest(const NumericRows& rows, std::size_t row,
                                   double* distance) const {
  double best = std::numeric_limits<double>::infinity();
  std::size_t found = 0;
  for (std::size_t k = 0; k < centres.size(); ++k) {
    double sum = 0;
    for (std::size_t c = 0; c < centres[k].size(); ++c) {
      const double x = rows.columns[c][row] - centres[k][c];
      sum += x * x;
    }
    if (sum < best) {
      best = sum;
      found = k;
    }
  }
  if (distance != nullptr) *distance = best;
  return found;
}

Result<TrainedClusters> train_clusters(const NumericRows& rows, std::size_t clusters,
                                       GaussianBudget& budget, RandomSource& random,
                                       const ClusterSettings& settings) {
  if (clusters == 0 || clusters > 1000)
    return invalid_parameter("between 1 and 1000 clusters can be found");
  const std::size_t d = rows.columns.size();
  DISCREET_TRY(
      const Moments moments,
      measure_moments(rows, {.share = settings.moments_share, .tail = 30}, budget, random));
  DISCREET_TRY(Start start,
               find_start(rows, moments, clusters, settings.grid_share, settings, budget, random));
  TrainedClusters trained{{std::move(start.centres)}, moments.rows, {}};
  const double share = budget.left() / settings.lloyd_steps;
  const double weight = std::floor(settings.count_weight * kOffsetUnit);
  const double sensitivity =
      sqrt_up(add_up(mul_up(weight, weight), mul_up(kOffsetUnit, kOffsetUnit)));
  std::vector<double> offset(d);
  for (int step = 0; step < settings.lloyd_steps; ++step) {
    std::vector<std::int64_t> sums(clusters * (d + 1), 0);
    for (std::size_t row = 0; row < rows.rows; ++row) {
      double distance = 0;
      const std::size_t k = trained.model.nearest(rows, row, &distance);
      const double length = std::sqrt(distance);
      const double scale = kOffsetUnit * (1 - 1e-9) / std::fmax(length, start.radius);
      std::int64_t* sum = sums.data() + k * (d + 1);
      sum[0] += static_cast<std::int64_t>(weight);
      for (std::size_t c = 0; c < d; ++c)  // cut towards zero: no longer than kOffsetUnit
        sum[c + 1] +=
            static_cast<std::int64_t>((rows.columns[c][row] - trained.model.centres[k][c]) * scale);
    }
    DISCREET_TRY(const double sigma, budget.release(sums, sensitivity, share, random));
    trained.sizes.assign(clusters, 0);
    for (std::size_t k = 0; k < clusters; ++k) {
      const std::int64_t* sum = sums.data() + k * (d + 1);
      const double count = static_cast<double>(sum[0]) / weight;
      trained.sizes[k] = std::fmax(0, count);
      // A cluster that is hardly there keeps its centre; shrinking the others by their noise costs
      // nothing where the noise is small.
      const double trusted = std::fmax(count, 2 * sigma / kOffsetUnit);
      for (std::size_t c = 0; c < d; ++c) {
        double& x = trained.model.centres[k][c];
        x = std::clamp(x + static_cast<double>(sum[c + 1]) / kOffsetUnit * start.radius / trusted,
                       -1.0, 1.0);
      }
    }
  }
  return trained;
}

}  // namespace discreet::learn
