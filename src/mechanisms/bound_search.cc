#include "mechanisms/bound_search.h"

#include <cmath>

#include "base/saturating.h"

namespace discreet {

Result<BoundSearch> BoundSearch::make(Epsilon epsilon, std::int64_t threshold) {
  if (epsilon.value() == 0)
    return invalid_parameter("the search for a bound needs a positive epsilon");
  DISCREET_TRY(auto noise, GeometricSampler::make(exact_rational(epsilon.value()).value() / 2));
  return BoundSearch(epsilon, threshold, std::move(noise));
}

Result<BoundSearch> BoundSearch::balanced(Epsilon epsilon, Epsilon noise_epsilon,
                                          std::uint64_t cells) {
  if (epsilon.value() == 0 || noise_epsilon.value() == 0)
    return invalid_parameter("the search for a bound needs a positive epsilon");
  // Only accuracy depends on these doubles: any threshold is private, since it is public.
  const double threshold =
      static_cast<double>(cells) / (2 * noise_epsilon.value()) + 3 / epsilon.value();
  return make(epsilon, static_cast<std::int64_t>(std::fmin(std::round(threshold), 0x1p62)));
}

std::size_t BoundSearch::release(std::span<const std::int64_t> above, RandomSource& random) const {
  DISCREET_CHECK(!above.empty(), "a search needs at least one bound");
  const std::int64_t stop_at = saturating_sub(threshold_, noise_.draw(random));
  std::size_t found = above.size() - 1;
  bool stopped = false;
  for (std::size_t i = 0; i < above.size(); ++i) {
    const bool stops = saturating_sub(above[i], noise_.draw(random)) <= stop_at;
    found = stops && !stopped ? i : found;
    stopped = stopped || stops;
  }
  return found;
}

}  // namespace discreet
