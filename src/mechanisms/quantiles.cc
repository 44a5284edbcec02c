#include "mechanisms/quantiles.h"
#include "mechanisms/for_error.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace discreet {
namespace {

constexpr unsigned kJitterBitsMax = 24;
constexpr double kQuantileMin = 1e-9;

// Levels of a balanced recursion over `count` quantiles.
std::uint64_t depth(std::size_t count) {
  std::uint64_t levels = 0;
  for (; count > 0; count /= 2) ++levels;
  return levels;
}

}  // namespace

struct Quantiles::Part {
  std::size_t first, last;               // quantiles first .. last - 1
  std::span<const std::int64_t> sorted;  // rows of this part, with their secret digits
  IntegerRange range;
};

struct Quantiles::Node {
  Rational q;        // within its part of the data
  ExpPowers powers;  // of its share of epsilon
};

Quantiles::Quantiles(Epsilon epsilon, std::vector<double> quantiles, IntegerRange range,
                     std::optional<Tree> tree, std::uint64_t levels, unsigned jitter_bits)
    : epsilon_(epsilon),
      quantiles_(std::move(quantiles)),
      range_(range),
      tree_(std::move(tree)),
      levels_(levels),
      jitter_bits_(jitter_bits),
      nodes_(quantiles_.size()) {
  if (!tree_) prepare(0, quantiles_.size(), 0, 1, levels_);
}

// Quantiles first .. last - 1 are answered from the data between the quantiles `below` and `above`.
void Quantiles::prepare(std::size_t first, std::size_t last, double below, double above,
                        std::uint64_t levels_left) {
  if (first == last) return;
  const std::size_t middle = first + (last - first) / 2;
  const bool is_leaf = last - first == 1;
  // Any rounding here is the same for all data.
  const double relative =
      std::clamp((quantiles_[middle] - below) / (above - below), kQuantileMin, 1 - kQuantileMin);
  const Rational q = exact_rational(relative).value();
  const Rational share = exact_rational(epsilon_.share(levels_).value()).value();
  nodes_[middle] = std::make_shared<const Node>(
      Node{q, quantile_powers(q, share * BigInt(is_leaf ? levels_left : 1))});
  prepare(first, middle, below, quantiles_[middle], levels_left - 1);
  prepare(middle + 1, last, quantiles_[middle], above, levels_left - 1);
}

Result<Quantiles> Quantiles::for_rank_error(double rows, double confidence,
                                            std::vector<double> quantiles, IntegerRange range,
                                            QuantilesMethod method) {
  if (!(confidence > 0 && confidence < 1))
    return invalid_parameter("confidence must lie strictly between 0 and 1");
  // Shares of epsilon must stay within what one level takes, so the ends leave room for 2^14
  // levels.
  return least_epsilon_for_error(
      rows, {0x1p-26, 0x1p20},
      [&](Epsilon epsilon) { return make(epsilon, quantiles, range, method); },
      [&](const Quantiles& mechanism) { return mechanism.rank_error_bound(confidence); });
}

Result<Quantiles> Quantiles::make(Epsilon epsilon, std::vector<double> quantiles,
                                  IntegerRange range, QuantilesMethod method) {
  DISCREET_TRY_VOID(check_range(range));
  if (quantiles.empty() || quantiles.size() > 1'000)
    return invalid_parameter("ask for between 1 and 1,000 quantiles");
  for (const double q : quantiles) DISCREET_TRY_VOID(check_quantile(q));
  if (!std::is_sorted(quantiles.begin(), quantiles.end(), std::less_equal<>()))
    return invalid_parameter("the quantiles must rise strictly");
  if (method == QuantilesMethod::BySize)
    method = range.size() <= kTreeSizeMax ? QuantilesMethod::Tree : QuantilesMethod::Recursive;

  const std::uint64_t levels = depth(quantiles.size());
  std::optional<Tree> tree;
  if (method == QuantilesMethod::Tree) {
    const double side = std::ceil(std::sqrt(count_up(range.size())));
    DISCREET_TRY(tree, Tree::laplace(epsilon, range.size(),
                                     std::max<std::uint64_t>(2, static_cast<std::uint64_t>(side))));
  } else {
    const double share = epsilon.share(levels).value();
    if (share < 0x1p-40 || epsilon.value() > 0x1p20)
      return invalid_parameter(
          fmt::format("a level's share of epsilon must lie between 2^-40 and 2^20, not {}", share));
  }
  unsigned jitter_bits = 0;
  while (jitter_bits < kJitterBitsMax && range.size() >> (61 - jitter_bits) == 0) ++jitter_bits;
  return Quantiles(epsilon, std::move(quantiles), range, std::move(tree), levels, jitter_bits);
}

std::vector<std::int64_t> Quantiles::release(std::span<const std::int64_t> values,
                                             RandomSource& random) const {
  std::vector<std::int64_t> answers(quantiles_.size());
  if (tree_) {
    std::vector<std::int64_t> counts(range_.size());
    for (const std::int64_t value : values)
      ++counts[static_cast<std::uint64_t>(range_.clamp(value) - range_.lower)];
    const TreeRelease release = tree_->release(counts, random);
    for (std::size_t i = 0; i < answers.size(); ++i)
      answers[i] = range_.lower + static_cast<std::int64_t>(release.quantile(quantiles_[i]));
    return answers;
  }
  // Offsets from the lower end, followed by the secret digits.
  std::vector<std::int64_t> sorted(values.size());
  std::vector<std::uint64_t> digits(values.size());
  random.fill(digits);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint64_t secret = jitter_bits_ == 0 ? 0 : digits[i] >> (64 - jitter_bits_);
    const std::int64_t offset = range_.clamp(values[i]) - range_.lower;
    sorted[i] = (offset << jitter_bits_) | static_cast<std::int64_t>(secret);
  }
  std::sort(sorted.begin(), sorted.end());
  const auto finest = static_cast<std::int64_t>(range_.size() << jitter_bits_);
  solve({0, answers.size(), sorted, {0, finest - 1}}, answers, random);
  for (auto& answer : answers) answer = range_.lower + (answer >> jitter_bits_);
  return answers;
}

void Quantiles::solve(const Part& part, std::vector<std::int64_t>& answers,
                      RandomSource& random) const {
  if (part.first == part.last) return;
  const std::size_t middle = part.first + (part.last - part.first) / 2;
  const Node& node = *nodes_[middle];
  const std::int64_t found = draw_quantile(part.sorted, part.range, node.q, node.powers, random);
  answers[middle] = found;
  const auto cut = static_cast<std::size_t>(
      std::upper_bound(part.sorted.begin(), part.sorted.end(), found) - part.sorted.begin());
  solve({part.first, middle, part.sorted.first(cut), {part.range.lower, found}}, answers, random);
  solve({middle + 1,
         part.last,
         part.sorted.subspan(cut),
         {std::min(found + 1, part.range.upper), part.range.upper}},
        answers, random);
}

LossEvent Quantiles::loss() const {
  if (tree_) return tree_->loss();
  // When all branches are equally long every row meets `levels` draws of bounded range. Otherwise a
  // branch may trade two draws for one of twice the epsilon, and only the sum is the same.
  if (((quantiles_.size() + 1) & quantiles_.size()) != 0) return loss::Pure{epsilon_};
  const LossEvent one = loss::BoundedRange{epsilon_.share(levels_)};
  return levels_ == 1 ? one
                      : LossEvent(loss::Repeated{levels_, std::make_shared<const LossEvent>(one)});
}

double Quantiles::rank_error_bound(double confidence) const {
  DISCREET_CHECK(confidence > 0 && confidence < 1, "confidence within (0, 1)");
  const double beta = 1 - confidence;
  if (tree_) {
    // Every prefix within the bound, and the total too, which q multiplies.
    const double each = 1 - beta / count_up(range_.size());
    double worst = 0;
    const std::uint64_t step = std::max<std::uint64_t>(1, range_.size() / 1024);
    for (std::uint64_t i = 0; i < range_.size(); i += step)
      worst = std::fmax(worst, tree_->range_error_bound({0, i}, each));
    return worst + tree_->range_error_bound({0, range_.size() - 1}, each);
  }
  // A level misses by at most 2 ln(finest range * quantiles / beta) / share rows, and adds that to
  // the miss of the bounds it was given.
  const double finest = std::ldexp(count_up(range_.size()), static_cast<int>(jitter_bits_));
  const double each =
      2 * std::log(finest * count_up(quantiles_.size()) / beta) / epsilon_.share(levels_).value();
  return count_up(levels_) * each;
}

}  // namespace discreet
