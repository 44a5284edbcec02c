#include "learn/class_tables.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "base/rounding.h"
#include "learn/kinship_internal.h"

namespace discreet::learn {
namespace {

// Counts are released on a grid of 1/16, so that the part of the variance which only smooths the
// lattice is negligible at large epsilon too.
constexpr double kCellsPerRow = 16;

// Each table's sums estimate the number of rows of each class with noise that grows with its codes:
// weigh them by precision.
void summarise(ClassTables& tables) {
  const std::size_t c = tables.classes;
  std::vector<double> of_class(c, 0);
  double weights = 0;
  for (const auto& counts : tables.counts) {
    std::vector<double> sums(c, 0);
    for (std::size_t i = 0; i < counts.size(); ++i) sums[i % c] += counts[i];
    const double weight = static_cast<double>(c) / static_cast<double>(counts.size());
    weights += weight;
    for (std::size_t y = 0; y < c; ++y) of_class[y] += weight * sums[y];
  }
  double total = 0;
  for (double& count : of_class) total += count /= weights;
  tables.rows = std::fmax(1, total);
  const double spread = tables.sigma / std::sqrt(weights);  // noise of one class's estimate
  const double floor = 1 + std::fmin(spread, tables.rows / (4 * static_cast<double>(c)));
  double sum = 0;
  for (double& count : of_class) sum += count = std::fmax(count, floor);
  tables.rates.clear();
  for (const double count : of_class) tables.rates.push_back(count / sum);
}

// Rows that say nothing about the class, added to a bin's: the more, the stronger its noise.
double pseudo_count(double sigma) {
  return 1 + 2 * sigma;
}

// Pseudo-counts shrink every bin by itself: the least error if bins varied each by itself. Along a
// line they do not, so the shrinking is taken back and done with the bins' kinship.
void smooth_along_line(const ColumnCoder& feature, double rows, std::span<const double> frequency,
                       std::span<const double> sigma, std::size_t stride, std::span<double> odds) {
  constexpr double kAlike = 0.8;
  const auto n = static_cast<Eigen::Index>(frequency.size());
  const Eigen::MatrixXd kin = kinship(feature, frequency.size(), kAlike);
  Eigen::MatrixXd seen = kin;
  Eigen::VectorXd grown(n);
  for (Eigen::Index bin = 0; bin < n; ++bin) {
    const auto at = static_cast<std::size_t>(bin);
    const double noise = pseudo_count(sigma[at]) / std::fmax(0.1, frequency[at] * rows);
    seen(bin, bin) += noise;
    grown(bin) = 1 + noise;
  }
  const Eigen::LLT<Eigen::MatrixXd> solved(seen);
  for (std::size_t o = 0; o < stride; ++o) {
    Eigen::VectorXd column(n);
    for (Eigen::Index bin = 0; bin < n; ++bin)
      column(bin) = grown(bin) * odds[static_cast<std::size_t>(bin) * stride + o];
    const Eigen::VectorXd smooth = kin * solved.solve(column);
    for (Eigen::Index bin = 0; bin < n; ++bin)
      odds[static_cast<std::size_t>(bin) * stride + o] = smooth(bin);
  }
}

}  // namespace

std::vector<double> project_to_simplex(std::span<const double> counts, double total) {
  std::vector<double> sorted(counts.begin(), counts.end());
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  double sum = 0, shift = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    sum += sorted[i];
    const double candidate = (sum - total) / static_cast<double>(i + 1);
    if (sorted[i] - candidate > 0) shift = candidate;
  }
  std::vector<double> projected(counts.begin(), counts.end());
  for (double& count : projected) count = std::fmax(0, count - shift);
  return projected;
}

Result<ClassTables> measure_class_tables(const CodedRows& rows, const Coding& coding,
                                         GaussianBudget& budget, double share,
                                         RandomSource& random) {
  ClassTables tables;
  tables.classes = coding.classes();
  const std::size_t c = tables.classes, m = coding.features().size();
  std::vector<std::size_t> begins;
  std::size_t cells = 0;
  for (const auto& feature : coding.features()) {
    begins.push_back(cells);
    cells += feature.size() * c;
  }
  std::vector<std::int64_t> flat(cells, 0);
  for (std::size_t column = 0; column < m; ++column) {
    std::int64_t* cell = flat.data() + begins[column];
    const auto& codes = rows.columns[column];
    for (std::size_t row = 0; row < rows.rows; ++row) ++cell[codes[row] * c + rows.labels[row]];
  }
  for (std::int64_t& count : flat) count *= static_cast<std::int64_t>(kCellsPerRow);
  DISCREET_TRY(
      const double sigma,
      budget.release(flat, mul_up(kCellsPerRow, sqrt_up(static_cast<double>(m))), share, random));
  tables.sigma = sigma / kCellsPerRow;
  for (std::size_t column = 0; column < m; ++column) {
    auto& counts = tables.counts.emplace_back(coding.features()[column].size() * c);
    for (std::size_t i = 0; i < counts.size(); ++i)
      counts[i] = static_cast<double>(flat[begins[column] + i]) / kCellsPerRow;
  }
  summarise(tables);
  return tables;
}

ClassTables combine(const ClassTables& a, const ClassTables& b) {
  ClassTables both = a;
  const double of_a = 1 / (a.sigma * a.sigma), of_b = 1 / (b.sigma * b.sigma);
  for (std::size_t column = 0; column < a.counts.size(); ++column)
    for (std::size_t i = 0; i < a.counts[column].size(); ++i)
      both.counts[column][i] =
          (of_a * a.counts[column][i] + of_b * b.counts[column][i]) / (of_a + of_b);
  both.sigma = 1 / std::sqrt(of_a + of_b);
  summarise(both);
  return both;
}

std::vector<Bins> choose_bins(const ClassTables& tables, const Coding& coding,
                              std::uint32_t bins_max) {
  std::vector<Bins> all;
  for (std::size_t column = 0; column < coding.features().size(); ++column) {
    const ColumnCoder& feature = coding.features()[column];
    Bins bins;
    bins.bin_of_code.resize(feature.size());
    const std::uint32_t values = feature.size() - (feature.has_missing() ? 1 : 0);
    if (!feature.ordered() || values <= bins_max) {
      for (std::uint32_t i = 0; i < feature.size(); ++i)
        bins.bin_of_code[i] = static_cast<std::uint16_t>(i);
      bins.size = feature.size();
      all.push_back(std::move(bins));
      continue;
    }
    std::vector<double> counts(feature.size(), 0);
    for (std::size_t i = 0; i < tables.counts[column].size(); ++i)
      counts[i / tables.classes] += tables.counts[column][i];
    const auto projected = project_to_simplex(counts, tables.rows);
    double total = 0;
    for (std::uint32_t i = 0; i < values; ++i) total += std::sqrt(projected[i]) + 1e-9;
    double before = 0;
    std::uint32_t last = 0;
    for (std::uint32_t i = 0; i < values; ++i) {
      const double weight = std::sqrt(projected[i]) + 1e-9;
      const auto bin = std::min<std::uint32_t>(
          bins_max - 1, static_cast<std::uint32_t>((before + weight / 2) / total * bins_max));
      if (i > 0 && bin != last) ++bins.size;
      last = bin;
      bins.bin_of_code[i] = static_cast<std::uint16_t>(bins.size);
      before += weight;
    }
    ++bins.size;
    if (feature.has_missing()) bins.bin_of_code[values] = static_cast<std::uint16_t>(bins.size++);
    all.push_back(std::move(bins));
  }
  return all;
}

BinnedTables merge_bins(const ClassTables& tables, std::span<const Bins> bins) {
  BinnedTables merged;
  const std::size_t c = tables.classes;
  for (std::size_t column = 0; column < bins.size(); ++column) {
    auto& counts = merged.counts.emplace_back(bins[column].size * c, 0.0);
    std::vector<double> codes(bins[column].size, 0), sums(bins[column].size, 0);
    for (std::size_t code = 0; code < bins[column].bin_of_code.size(); ++code) {
      const std::size_t bin = bins[column].bin_of_code[code];
      codes[bin] += 1;
      for (std::size_t y = 0; y < c; ++y) {
        counts[bin * c + y] += tables.counts[column][code * c + y];
        sums[bin] += tables.counts[column][code * c + y];
      }
    }
    auto frequency = project_to_simplex(sums, tables.rows);
    for (double& f : frequency) f /= tables.rows;
    merged.frequency.push_back(std::move(frequency));
    for (double& n : codes) n = tables.sigma * std::sqrt(n);
    merged.sigma.push_back(std::move(codes));
  }
  return merged;
}

std::vector<double> prior_log_odds(const ClassTables& tables) {
  if (tables.classes == 1) return {0.0};
  if (tables.classes == 2) return {std::log(tables.rates[1] / tables.rates[0])};
  std::vector<double> prior;
  for (const double rate : tables.rates) prior.push_back(std::log(rate));
  return prior;
}

std::vector<std::vector<double>> shrunk_log_odds(const Coding& coding, const ClassTables& tables,
                                                 const BinnedTables& binned) {
  std::vector<std::vector<double>> all;
  const std::size_t c = tables.classes, k = outputs_of(tables.classes);
  for (std::size_t column = 0; column < binned.counts.size(); ++column) {
    const std::size_t bins = binned.frequency[column].size();
    auto& odds = all.emplace_back(bins * k, 0.0);
    if (c < 2) continue;
    for (std::size_t bin = 0; bin < bins; ++bin) {
      const double pseudo = pseudo_count(binned.sigma[column][bin]);
      std::vector<double> log_rate(c);
      for (std::size_t y = 0; y < c; ++y) {
        const double count = std::fmax(0, binned.counts[column][bin * c + y]);
        log_rate[y] = std::log((count + pseudo * tables.rates[y]) / tables.rates[y]);
      }
      if (k == 1) {
        odds[bin] = log_rate[1] - log_rate[0];
        continue;
      }
      double mean = 0;
      for (const double l : log_rate) mean += l / static_cast<double>(c);
      for (std::size_t y = 0; y < c; ++y) odds[bin * k + y] = log_rate[y] - mean;
    }
    if (along_line(coding.features()[column], bins))
      smooth_along_line(coding.features()[column], tables.rows, binned.frequency[column],
                        binned.sigma[column], k, odds);
  }
  return all;
}

}  // namespace discreet::learn
