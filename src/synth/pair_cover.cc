#include "synth/pair_cover.h"

#include <algorithm>

namespace discreet::synth {

Workload cover_pairs(const Workload& workload, const Domain& domain, std::uint32_t times) {
  const std::size_t n = domain.size();
  std::vector<std::uint32_t> covered(n * n, 0);
  const auto gain = [&](const Clique& clique) {
    std::uint32_t open = 0;
    for (std::size_t i = 0; i < clique.size(); ++i)
      for (std::size_t j = i + 1; j < clique.size(); ++j)
        open += covered[clique[i] * n + clique[j]] < times ? 1 : 0;
    return open;
  };
  // Fewer cells first, so that the first of equals is the smallest. Gains only fall, so a marginal
  // whose last known gain is below the best found need not be looked at again.
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < workload.marginals.size(); ++i)
    if (workload.marginals[i].attributes.size() > 1) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) {
    return domain.cells(workload.marginals[a].attributes) <
           domain.cells(workload.marginals[b].attributes);
  });
  std::vector<std::uint32_t> known(workload.marginals.size(), ~0u);
  Workload part;
  for (;;) {
    std::size_t best = workload.marginals.size();
    std::uint32_t most = 0;
    for (const std::size_t i : order) {
      if (known[i] <= most) continue;  // its gain cannot have grown
      known[i] = gain(workload.marginals[i].attributes);
      if (known[i] > most) {
        most = known[i];
        best = i;
      }
    }
    if (best == workload.marginals.size()) return part;
    const WeightedClique& chosen = workload.marginals[best];
    for (std::size_t i = 0; i < chosen.attributes.size(); ++i)
      for (std::size_t j = i + 1; j < chosen.attributes.size(); ++j)
        ++covered[chosen.attributes[i] * n + chosen.attributes[j]];
    known[best] = 0;
    part.marginals.push_back(chosen);
  }
}

}  // namespace discreet::synth
