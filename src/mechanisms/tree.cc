#include "mechanisms/tree.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/saturating.h"
#include "mechanisms/for_error.h"

namespace discreet {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::size_t levels_needed(std::uint64_t leaves, std::uint64_t branching) {
  std::size_t levels = 1;
  for (std::uint64_t reach = branching; reach < leaves; reach *= branching) ++levels;
  return levels;
}

Result<void> check_shape(std::uint64_t leaves, std::uint64_t branching) {
  if (leaves == 0 || leaves > Tree::kLeavesMax)
    return invalid_parameter(fmt::format("a tree needs between 1 and 2^26 leaves, not {}", leaves));
  if (branching == 1) return invalid_parameter("a node of a tree needs at least two children");
  return {};
}

// Branching factors worth trying: small ones, and those that make two or three even levels.
std::vector<std::uint64_t> branchings(std::uint64_t leaves) {
  std::vector<std::uint64_t> tried;
  for (std::uint64_t b = 2; b <= 24; ++b) tried.push_back(b);
  const auto n = static_cast<double>(leaves);
  tried.push_back(static_cast<std::uint64_t>(std::ceil(std::sqrt(n))));
  tried.push_back(static_cast<std::uint64_t>(std::ceil(std::cbrt(n))));
  tried.push_back(leaves);
  std::erase_if(tried,
                [&](std::uint64_t b) { return b < 2 || b > std::max<std::uint64_t>(leaves, 2); });
  return tried;
}

// The least average variance over evenly spread prefixes. Shapes are compared by `make(branching)`.
template <class Make>
Result<Tree> best_of(std::uint64_t leaves, const Make& make) {
  // Large domains are compared on a smaller one of similar depth: the order hardly depends on it.
  const std::uint64_t modelled = std::min<std::uint64_t>(leaves, 4096);
  std::uint64_t best = 2;
  double best_variance = kInfinity;
  for (const std::uint64_t b : branchings(modelled)) {
    DISCREET_TRY(const Tree tree, make(modelled, b));
    double sum = 0;
    constexpr std::uint64_t kPrefixes = 24;
    for (std::uint64_t i = 0; i < kPrefixes; ++i)
      sum += tree.range_variance({0, (modelled - 1) * (2 * i + 1) / (2 * kPrefixes)});
    if (sum < best_variance) {
      best_variance = sum;
      best = b;
    }
  }
  return make(leaves, best);
}

}  // namespace

Tree::Tree(std::uint64_t leaves, std::uint64_t branching, LossEvent per_level, Noise noise)
    : leaves_(leaves),
      branching_(branching),
      per_level_(std::move(per_level)),
      noise_(std::move(noise)) {
  for (std::uint64_t size = leaves;; size = (size + branching - 1) / branching) {
    level_sizes_.push_back(size);
    if (size <= branching) break;
  }
  std::reverse(level_sizes_.begin(), level_sizes_.end());
  noise_variance_ = noise_variance();
  // Bottom up: a node's own count and the sum of its children's estimates, by inverse variance.
  spread_.resize(levels());
  for (std::size_t l = levels(); l-- > 0;) {
    spread_[l].assign(level_sizes_[l], noise_variance_);
    if (l + 1 == levels()) continue;
    std::vector<double> below(level_sizes_[l]);
    for (std::uint64_t c = 0; c < level_sizes_[l + 1]; ++c)
      below[c / branching_] += spread_[l + 1][c];
    for (std::uint64_t v = 0; v < level_sizes_[l]; ++v)
      spread_[l][v] = 1 / (1 / noise_variance_ + 1 / below[v]);
  }
}

Result<Tree> Tree::laplace(Epsilon epsilon, std::uint64_t leaves, std::uint64_t branching) {
  DISCREET_TRY_VOID(check_shape(leaves, branching));
  if (epsilon.value() == 0)
    return invalid_parameter("epsilon must be positive: at zero nothing can be released");
  const auto make = [&](std::uint64_t n, std::uint64_t b) -> Result<Tree> {
    const Epsilon share = epsilon.share(levels_needed(n, b));
    if (share.value() == 0) return invalid_parameter("epsilon is too small to share among levels");
    const Rational rate = exact_rational(share.value()).value();
    DISCREET_TRY(auto noise, DiscreteLaplaceSampler::make(rate));
    return Tree(n, b, loss::DiscreteLaplace{.scale = to_double_down(1 / rate), .sensitivity = 1},
                std::move(noise));
  };
  return branching == 0 ? best_of(leaves, make) : make(leaves, branching);
}

Result<Tree> Tree::laplace_for_error(double error, double confidence, LeafRange range,
                                     std::uint64_t leaves, std::uint64_t branching) {
  if (!(confidence > 0 && confidence < 1))
    return invalid_parameter("confidence must lie strictly between 0 and 1");
  return least_epsilon_for_error(
      error, {0x1p-20, 0x1p20},
      [&](Epsilon epsilon) { return laplace(epsilon, leaves, branching); },
      [&](const Tree& tree) { return tree.range_error_bound(range, confidence); });
}

Result<Tree> Tree::gaussian(Rho rho, std::uint64_t leaves, std::uint64_t branching) {
  DISCREET_TRY_VOID(check_shape(leaves, branching));
  if (rho.value() == 0)
    return invalid_parameter("rho must be positive: at zero nothing can be released");
  const auto make = [&](std::uint64_t n, std::uint64_t b) -> Result<Tree> {
    // One unit moves one count per level by one: levels / (2 sigma^2) = rho.
    const double sigma2 = div_up(count_up(levels_needed(n, b)), mul_down(2, rho.value()));
    if (!std::isfinite(sigma2))
      return invalid_parameter("rho is too small: the noise would not fit");
    const Rational exact = exact_rational(sigma2).value();
    DISCREET_TRY(auto noise, DiscreteGaussianSampler::make(exact));
    return Tree(n, b, loss::DiscreteGaussian{.sigma2 = sigma2, .sensitivity = 1, .dimension = 1},
                std::move(noise));
  };
  return branching == 0 ? best_of(leaves, make) : make(leaves, branching);
}

TreeRelease Tree::release(std::span<const std::int64_t> counts, RandomSource& random) const {
  DISCREET_CHECK(counts.size() == leaves_, "one count for every leaf");
  std::vector<std::vector<std::int64_t>> noisy(levels());
  noisy.back().assign(counts.begin(), counts.end());
  for (std::size_t l = levels() - 1; l-- > 0;) {
    noisy[l].assign(level_sizes_[l], 0);
    for (std::uint64_t c = 0; c < level_sizes_[l + 1]; ++c) {
      std::int64_t& sum = noisy[l][c / branching_];
      sum = saturating_add(sum, noisy[l + 1][c]);
    }
  }
  for (auto& level : noisy) {
    std::vector<std::int64_t> noise(level.size());
    std::visit([&](const auto& sampler) { sampler.draw_many(noise, random); }, noise_);
    for (std::size_t i = 0; i < level.size(); ++i) level[i] = saturating_add(level[i], noise[i]);
  }
  return TreeRelease(*this, std::move(noisy));
}

LossEvent Tree::loss() const {
  if (levels() == 1) return per_level_;
  return loss::Repeated{levels(), std::make_shared<const LossEvent>(per_level_)};
}

double Tree::noise_variance() const {
  if (const auto* laplace = std::get_if<DiscreteLaplaceSampler>(&noise_)) {
    const double rate = to_double_down(laplace->rate());
    const double gap = -std::expm1(-rate);
    // Above a rate of about 700 noise is never seen; least squares still needs a positive number.
    return std::fmax(1e-300, 2 * std::exp(-rate) / (gap * gap));
  }
  return to_double_up(std::get<DiscreteGaussianSampler>(noise_).sigma2());
}

// The adjoint of the two passes of TreeRelease: the derivative of the range's answer by each count.
Tree::Levels Tree::coefficients(LeafRange range) const {
  DISCREET_CHECK(range.first <= range.last && range.last < leaves_, "a range within the leaves");
  // by_final[l][v]: derivative by the final estimate of v when estimates below v are expressed by
  // it.
  Levels by_final(levels());
  by_final.back().assign(leaves_, 0);
  for (std::uint64_t i = range.first; i <= range.last; ++i) by_final.back()[i] = 1;
  for (std::size_t l = levels() - 1; l-- > 0;) {
    by_final[l].assign(level_sizes_[l], 0);
    std::vector<double> total(level_sizes_[l]);
    for (std::uint64_t c = 0; c < level_sizes_[l + 1]; ++c) {
      by_final[l][c / branching_] += spread_[l + 1][c] * by_final[l + 1][c];
      total[c / branching_] += spread_[l + 1][c];
    }
    for (std::uint64_t v = 0; v < level_sizes_[l]; ++v) by_final[l][v] /= total[v];
  }
  // by_upward: derivative by the estimate of v from its subtree, top down. The unmeasured root
  // takes the sum of the first level, so there the derivative is that of the final estimate itself.
  Levels weights(levels());
  std::vector<double> above;
  for (std::size_t l = 0; l < levels(); ++l) {
    std::vector<double> by_upward = by_final[l];
    if (l > 0)
      for (std::uint64_t v = 0; v < level_sizes_[l]; ++v)
        by_upward[v] += above[v / branching_] - by_final[l - 1][v / branching_];
    weights[l].resize(level_sizes_[l]);
    above.resize(level_sizes_[l]);
    for (std::uint64_t v = 0; v < level_sizes_[l]; ++v) {
      const double own = spread_[l][v] / noise_variance_;  // share of the node's own count
      weights[l][v] = own * by_upward[v];
      above[v] = (1 - own) * by_upward[v];
    }
  }
  return weights;
}

double Tree::range_variance(LeafRange range) const {
  double sum = 0;
  for (const auto& level : coefficients(range))
    for (const double a : level) sum += a * a;
  return sum * noise_variance_;
}

double Tree::log_moment(double t) const {
  if (const auto* laplace = std::get_if<DiscreteLaplaceSampler>(&noise_)) {
    const double rate = to_double_down(laplace->rate());
    const double r = std::exp(-rate);
    if (std::fabs(t) >= rate) return kInfinity;
    // E e^{tZ} = (1 - r)^2 / ((1 - r e^t)(1 - r e^-t)) = 1 / (1 - 2 r (cosh t - 1) / (1 - r)^2)
    const double s = std::sinh(t / 2), gap = -std::expm1(-rate);
    return -std::log1p(-4 * r * s * s / (gap * gap));
  }
  return t * t * noise_variance_ / 2;  // sub-Gaussian (Canonne, Kamath and Steinke 2020, Lemma 23)
}

double Tree::range_error_bound(LeafRange range, double confidence) const {
  DISCREET_CHECK(confidence > 0 && confidence < 1, "confidence within (0, 1)");
  const Levels weights = coefficients(range);
  // P[|error| >= x] <= 2 exp(K(t) - t x) for every t, K the sum of the moments; x = (K + ln
  // 2/beta)/t.
  const double log_beta = std::log(2 / (1 - confidence));
  const auto bound = [&](double t) {
    double k = log_beta;
    for (const auto& level : weights)
      for (const double a : level)
        if (a != 0) k += log_moment(a * t);
    const double x = k / t;
    return std::isnan(x) ? kInfinity : x;
  };
  const double scale = 1 / std::sqrt(range_variance(range));
  double best = std::sqrt(range_variance(range) / (1 - confidence));  // Chebyshev
  for (double t = scale / 16; t < 64 * scale; t *= 1.1) best = std::fmin(best, bound(t));
  return best;
}

TreeRelease::TreeRelease(Tree tree, std::vector<std::vector<std::int64_t>> noisy)
    : tree_(std::move(tree)), noisy_(std::move(noisy)) {
  const std::size_t levels = tree_.levels();
  const std::uint64_t b = tree_.branching_;
  std::vector<std::vector<double>> upward(levels), below(levels);
  for (std::size_t l = levels; l-- > 0;) {
    upward[l].assign(noisy_[l].begin(), noisy_[l].end());
    if (l + 1 == levels) continue;
    below[l].assign(upward[l].size(), 0);
    for (std::uint64_t c = 0; c < upward[l + 1].size(); ++c) below[l][c / b] += upward[l + 1][c];
    for (std::uint64_t v = 0; v < upward[l].size(); ++v) {
      const double own = tree_.spread_[l][v] / tree_.noise_variance_;
      upward[l][v] = own * upward[l][v] + (1 - own) * below[l][v];
    }
  }
  // Top down: what a node's final estimate has beyond its children's sum goes to them by variance.
  for (std::size_t l = 1; l < levels; ++l) {
    std::vector<double> total(upward[l - 1].size());
    for (std::uint64_t c = 0; c < upward[l].size(); ++c) total[c / b] += tree_.spread_[l][c];
    for (std::uint64_t c = 0; c < upward[l].size(); ++c)
      upward[l][c] +=
          tree_.spread_[l][c] / total[c / b] * (upward[l - 1][c / b] - below[l - 1][c / b]);
  }
  leaves_ = std::move(upward.back());
  prefix_.assign(1, 0);
  for (const double leaf : leaves_) prefix_.push_back(prefix_.back() + leaf);
}

RangeAnswer TreeRelease::range(LeafRange range) const {
  return {prefix_.at(range.last + 1) - prefix_.at(range.first), tree_.range_variance(range)};
}

double TreeRelease::total() const {
  return prefix_.back();
}

std::vector<double> TreeRelease::monotone_cdf() const {
  const double top = std::fmax(0, total());
  std::vector<double> cdf = isotonic(std::span(prefix_).subspan(1));
  for (double& value : cdf) value = std::clamp(value, 0.0, top);
  cdf.back() = top;
  return cdf;
}

std::uint64_t TreeRelease::quantile(double q) const {
  const std::vector<double> cdf = monotone_cdf();
  const auto found = std::lower_bound(cdf.begin(), cdf.end(), q * cdf.back());
  return static_cast<std::uint64_t>(std::min(found, cdf.end() - 1) - cdf.begin());
}

std::vector<double> isotonic(std::span<const double> values) {
  struct Block {
    double sum;
    std::size_t count;
    double mean() const { return sum / static_cast<double>(count); }
  };
  std::vector<Block> blocks;
  for (const double value : values) {
    blocks.push_back({value, 1});
    while (blocks.size() > 1 && blocks[blocks.size() - 2].mean() >= blocks.back().mean()) {
      const Block last = blocks.back();
      blocks.pop_back();
      blocks.back().sum += last.sum;
      blocks.back().count += last.count;
    }
  }
  std::vector<double> fitted;
  fitted.reserve(values.size());
  for (const Block& block : blocks) fitted.insert(fitted.end(), block.count, block.mean());
  return fitted;
}

}  // namespace discreet
