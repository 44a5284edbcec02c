#include "synth/residuals.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

namespace discreet::synth {
namespace {

constexpr std::size_t kWaysMax = 16;

std::vector<std::uint32_t> sizes_of(const Domain& domain, std::span<const std::uint32_t> clique) {
  DISCREET_CHECK(clique.size() <= kWaysMax, "a marginal of too many attributes");
  DISCREET_CHECK(std::is_sorted(clique.begin(), clique.end()), "attributes ascend");
  std::vector<std::uint32_t> sizes;
  for (const std::uint32_t a : clique) sizes.push_back(domain[a].size);
  return sizes;
}

Clique subset_of(std::span<const std::uint32_t> clique, std::size_t bits) {
  Clique subset;
  for (std::size_t i = 0; i < clique.size(); ++i)
    if ((bits >> i & 1) != 0) subset.push_back(clique[i]);
  return subset;
}

// The attributes from `axis` on are still whole; of those before, the ones in `bits` are kept.
std::size_t product_from(std::span<const std::uint32_t> sizes, std::size_t axis) {
  std::size_t product = 1;
  for (std::size_t i = axis; i < sizes.size(); ++i) product *= sizes[i];
  return product;
}

void split(std::span<const std::uint32_t> sizes, std::size_t axis, std::size_t bits,
           std::vector<double> box, std::vector<std::vector<double>>& out) {
  if (axis == sizes.size()) {
    out[bits] = std::move(box);
    return;
  }
  const std::size_t n = sizes[axis], inner = product_from(sizes, axis + 1);
  std::vector<double> sum(box.size() / n, 0);
  for (std::size_t outer = 0; outer < sum.size() / inner; ++outer)
    for (std::size_t v = 0; v < n; ++v)
      for (std::size_t j = 0; j < inner; ++j)
        sum[outer * inner + j] += box[(outer * n + v) * inner + j];
  for (std::size_t outer = 0; outer < sum.size() / inner; ++outer)
    for (std::size_t v = 0; v < n; ++v)
      for (std::size_t j = 0; j < inner; ++j)
        box[(outer * n + v) * inner + j] -= sum[outer * inner + j] / static_cast<double>(n);
  split(sizes, axis + 1, bits, std::move(sum), out);
  split(sizes, axis + 1, bits | std::size_t{1} << axis, std::move(box), out);
}

std::vector<double> join(std::span<const std::uint32_t> sizes, std::size_t axis, std::size_t bits,
                         std::vector<std::vector<double>>& residuals) {
  if (axis == sizes.size()) return std::move(residuals[bits]);
  const std::size_t n = sizes[axis], inner = product_from(sizes, axis + 1);
  const std::vector<double> even = join(sizes, axis + 1, bits, residuals);
  std::vector<double> box = join(sizes, axis + 1, bits | std::size_t{1} << axis, residuals);
  for (std::size_t outer = 0; outer < even.size() / inner; ++outer)
    for (std::size_t v = 0; v < n; ++v)
      for (std::size_t j = 0; j < inner; ++j)
        box[(outer * n + v) * inner + j] += even[outer * inner + j] / static_cast<double>(n);
  return box;
}

}  // namespace

std::vector<std::vector<double>> split_residuals(std::span<const std::uint32_t> sizes,
                                                 std::vector<double> counts) {
  std::vector<std::vector<double>> out(std::size_t{1} << sizes.size());
  split(sizes, 0, 0, std::move(counts), out);
  return out;
}

std::vector<double> join_residuals(std::span<const std::uint32_t> sizes,
                                   std::vector<std::vector<double>> residuals) {
  return join(sizes, 0, 0, residuals);
}

void Residuals::add(const ModelMeasurement& measurement) {
  const Clique& clique = measurement.attributes;
  const auto sizes = sizes_of(domain_, clique);
  auto parts = split_residuals(sizes, measurement.counts);
  for (std::size_t bits = 0; bits < parts.size(); ++bits) {
    // A sum over the attributes left out has the noise of as many cells.
    double variance = measurement.sigma * measurement.sigma;
    for (std::size_t i = 0; i < sizes.size(); ++i)
      if ((bits >> i & 1) == 0) variance *= sizes[i];
    Block& block = blocks_[subset_of(clique, bits)];
    if (block.mean.empty()) block.mean.assign(parts[bits].size(), 0);
    const double weight = 1 / variance, sum = block.weight + weight;
    for (std::size_t c = 0; c < block.mean.size(); ++c)
      block.mean[c] += (parts[bits][c] - block.mean[c]) * (weight / sum);
    block.weight = sum;
  }
}

std::vector<double> Residuals::marginal(std::span<const std::uint32_t> clique) const {
  const auto sizes = sizes_of(domain_, clique);
  std::vector<std::vector<double>> parts(std::size_t{1} << sizes.size());
  for (std::size_t bits = 0; bits < parts.size(); ++bits) {
    const Clique subset = subset_of(clique, bits);
    const auto found = blocks_.find(subset);
    if (found != blocks_.end())
      parts[bits] = found->second.mean;
    else
      parts[bits].assign(domain_.cells(subset), 0);
  }
  return join_residuals(sizes, std::move(parts));
}

std::vector<double> Residuals::marginal(std::span<const std::uint32_t> clique,
                                        std::span<const double> guess) const {
  const auto sizes = sizes_of(domain_, clique);
  auto parts = split_residuals(sizes, {guess.begin(), guess.end()});
  for (std::size_t bits = 0; bits < parts.size(); ++bits) {
    const auto found = blocks_.find(subset_of(clique, bits));
    if (found == blocks_.end()) continue;
    const Block& block = found->second;
    std::vector<double>& part = parts[bits];
    double distance = 0, freedom = 1;
    for (std::size_t i = 0; i < sizes.size(); ++i)
      if ((bits >> i & 1) != 0) freedom *= sizes[i] - 1;
    for (std::size_t c = 0; c < part.size(); ++c)
      distance += (block.mean[c] - part[c]) * (block.mean[c] - part[c]);
    const double explained = std::max(freedom - 2, freedom / 2) / block.weight;
    const double keep = std::max(0.0, 1 - explained / std::max(distance, 1e-300));
    for (std::size_t c = 0; c < part.size(); ++c) part[c] += keep * (block.mean[c] - part[c]);
  }
  return join_residuals(sizes, std::move(parts));
}

double Residuals::variance(const Clique& attributes) const {
  const auto found = blocks_.find(attributes);
  return found == blocks_.end() ? std::numeric_limits<double>::infinity()
                                : 1 / found->second.weight;
}

void make_nonnegative(std::vector<double>& counts, double total) {
  if (!(total > 0)) {
    std::fill(counts.begin(), counts.end(), 0);
    return;
  }
  // Michelot 1986: take the mean excess from what is positive until nothing more falls out.
  std::vector<double> active = counts;
  double taken = 0;
  for (;;) {
    const double sum = std::accumulate(active.begin(), active.end(), 0.0);
    taken = (sum - total) / static_cast<double>(active.size());
    const auto end =
        std::remove_if(active.begin(), active.end(), [taken](double x) { return x <= taken; });
    if (end == active.end()) break;
    active.erase(end, active.end());
  }
  for (double& count : counts) count = std::max(0.0, count - taken);
}

}  // namespace discreet::synth
