#include "synth/score.h"

#include <algorithm>
#include <cmath>

#include "synth/marginals.h"

namespace discreet::synth {

Score score_twin(const CodedTable& real, const CodedTable& twin, const Workload& workload,
                 Workers& workers) {
  Score score;
  score.marginals.resize(workload.marginals.size());
  std::vector<double> sums(workload.marginals.size());
  const double n = static_cast<double>(std::max<std::size_t>(1, real.rows()));
  const double m = static_cast<double>(std::max<std::size_t>(1, twin.rows()));
  std::vector<double> cells(workload.marginals.size());
  workers.run(workload.marginals.size(), [&](std::size_t i) {
    const Clique& clique = workload.marginals[i].attributes;
    const auto a = count_marginal(real, clique), b = count_marginal(twin, clique);
    double top = 0, sum = 0;
    for (std::size_t c = 0; c < a.size(); ++c) {
      const double error = std::abs(static_cast<double>(a[c]) / n - static_cast<double>(b[c]) / m);
      top = std::max(top, error);
      sum += error;
    }
    cells[i] = static_cast<double>(a.size());
    sums[i] = sum;
    score.marginals[i] = {top, sum / cells[i], sum / 2};
  });
  double all = 0, total = 0;
  for (std::size_t i = 0; i < score.marginals.size(); ++i) {
    score.max_error = std::max(score.max_error, score.marginals[i].max_error);
    score.mean_tvd += score.marginals[i].tvd / static_cast<double>(score.marginals.size());
    all += cells[i];
    total += sums[i];
  }
  score.mean_error = all > 0 ? total / all : 0;
  return score;
}

}  // namespace discreet::synth
