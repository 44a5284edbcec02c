#include "lecture/choice.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "lecture/plot.h"

namespace discreet::lecture {

Result<Shown> utility_theorem(const std::vector<Candidate>& candidates, const ChoiceOptions& o) {
  if (candidates.empty()) return invalid_parameter("there must be a candidate to choose");
  if (!(o.epsilon > 0 && std::isfinite(o.epsilon) && o.sensitivity > 0 &&
        std::isfinite(o.sensitivity)))
    return invalid_parameter("epsilon and sensitivity must be positive and finite");
  double best = -1e308;
  for (const Candidate& each : candidates) {
    if (!std::isfinite(each.score)) return invalid_parameter("scores must be finite");
    best = std::max(best, each.score);
  }
  const double unit = o.epsilon / ((o.monotone ? 1 : 2) * o.sensitivity);
  double total = 0;
  std::size_t winners = 0;
  for (const Candidate& each : candidates) {
    total += std::exp(unit * (each.score - best));
    winners += each.score == best;
  }
  std::vector<std::pair<double, const Candidate*>> order;
  for (const Candidate& each : candidates)
    order.emplace_back(std::exp(unit * (each.score - best)) / total, &each);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  Shown shown;
  shown.statement = fmt::format(
      "The exponential mechanism over {} candidates, epsilon {:g}, sensitivity {:g}: each is "
      "chosen "
      "with chance proportional to exp({:.4g} x score).",
      candidates.size(), o.epsilon, o.sensitivity, unit);
  shown.columns = {"candidate", "score", "chance"};
  for (std::size_t i = 0; i < std::min<std::size_t>(order.size(), 8); ++i)
    shown.rows.push_back(
        {order[i].second->name, Cell(order[i].second->score, 8), Cell(order[i].first, 4)});
  if (order.size() > 8) {
    double rest = 0;
    for (std::size_t i = 8; i < order.size(); ++i) rest += order[i].first;
    shown.rows.push_back({fmt::format("{} more", order.size() - 8), "", Cell(rest, 4)});
  }
  shown.notes.push_back(
      "Theorem: the score falls short of the best by (range/epsilon)(ln(|R|/|best|) + t) or more "
      "with "
      "chance at most e^-t;");
  shown.notes.push_back(fmt::format("range = {}, |R| = {}, |best| = {}.",
                                    o.monotone ? "sensitivity (monotone)" : "2 x sensitivity",
                                    candidates.size(), winners));
  for (const double t : {1.0, 2.0, 3.0, 5.0}) {
    const double bound =
        (std::log(static_cast<double>(candidates.size()) / static_cast<double>(winners)) + t) /
        unit;
    double exact = 0;
    for (const auto& [chance, each] : order)
      if (each->score <= best - bound) exact += chance;
    shown.notes.push_back(
        fmt::format("t = {:g}: short by {:.4g} or more: at most {:.4g}, exactly {:.4g}.", t, bound,
                    std::exp(-t), exact));
    shown.holds = shown.holds && exact <= std::exp(-t);
  }
  BarPlot plot{"Chance of each candidate", "candidate", "its chance", "", {}, {}};
  // Prices and other numbers stand where they belong, names in the order of the list.
  const bool numbers = std::all_of(candidates.begin(), candidates.end(), [](const Candidate& each) {
    return !each.name.empty() && each.name.find_first_not_of("0123456789.") == std::string::npos;
  });
  for (std::size_t i = 0; i < std::min<std::size_t>(candidates.size(), 600); ++i) {
    const Candidate& each = candidates[i];
    plot.bars.push_back({numbers ? std::strtod(each.name.c_str(), nullptr) : static_cast<double>(i),
                         std::exp(unit * (each.score - best)) / total, 0,
                         numbers ? "" : each.name});
  }
  shown.picture = bar_picture(plot);
  return shown;
}

Result<std::vector<Candidate>> revenues(const std::vector<double>& bids, double step,
                                        double highest) {
  if (bids.empty()) return invalid_parameter("there must be a bid");
  if (!(step > 0) || !(highest >= step) || highest / step > 100'000)
    return invalid_parameter("prices must go up in positive steps, at most 100,000 of them");
  std::vector<Candidate> prices;
  for (int i = 1; step * i <= highest * (1 + 1e-12); ++i) {
    const double price = step * i;
    const auto buyers =
        std::count_if(bids.begin(), bids.end(), [&](double bid) { return bid >= price - 1e-9; });
    prices.push_back({fmt::format("{:.2f}", price), price * static_cast<double>(buyers)});
  }
  return prices;
}

}  // namespace discreet::lecture
