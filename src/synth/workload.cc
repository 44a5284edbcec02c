#include "synth/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

namespace discreet::synth {
namespace {

void add_subsets(std::uint32_t attributes, std::uint32_t ways, Clique& chosen,
                 const std::function<void(const Clique&)>& visit) {
  if (chosen.size() == ways) return visit(chosen);
  const std::uint32_t first = chosen.empty() ? 0 : chosen.back() + 1;
  for (std::uint32_t next = first; next < attributes; ++next) {
    chosen.push_back(next);
    add_subsets(attributes, ways, chosen, visit);
    chosen.pop_back();
  }
}

Result<WeightedClique> parse_marginal(const nlohmann::json& entry, const Domain& domain) {
  WeightedClique marginal;
  const nlohmann::json* columns = &entry;
  nlohmann::json named;
  if (entry.is_object()) {
    if (entry.contains("columns")) columns = &entry["columns"];
    // Conditions, ranges and "at least one of" are sums of cells of the marginal of their columns:
    // measuring that one answers them.
    for (const char* kind : {"where", "any_of"}) {
      if (!entry.contains(kind) || !entry[kind].is_object()) continue;
      named = nlohmann::json::array();
      for (const auto& [name, condition] : entry[kind].items()) named.push_back(name);
      columns = &named;
    }
    if (entry.contains("weight")) {
      if (!entry["weight"].is_number()) return invalid_input("a marginal's weight is a number");
      marginal.weight = entry["weight"].get<double>();
    }
  }
  if (!columns->is_array() || columns->empty())
    return invalid_input("each marginal of a workload is a list of column names");
  for (const auto& name : *columns) {
    if (!name.is_string()) return invalid_input("a marginal names its columns as text");
    DISCREET_TRY(const std::uint32_t at, domain.find(name.get<std::string>()));
    marginal.attributes.push_back(at);
  }
  std::sort(marginal.attributes.begin(), marginal.attributes.end());
  if (std::adjacent_find(marginal.attributes.begin(), marginal.attributes.end()) !=
      marginal.attributes.end())
    return invalid_input("a marginal names a column twice");
  return marginal;
}

}  // namespace

Result<Workload> Workload::all(const Domain& domain, std::uint32_t ways, std::uint64_t cells_max) {
  if (ways == 0) return invalid_parameter("a marginal has at least one column");
  Workload workload;
  for (std::uint32_t k = std::min<std::uint32_t>(ways, static_cast<std::uint32_t>(domain.size()));
       k > 0 && workload.marginals.empty(); --k) {
    Clique chosen;
    add_subsets(static_cast<std::uint32_t>(domain.size()), k, chosen, [&](const Clique& clique) {
      if (k == 1 || domain.cells(clique) <= cells_max) workload.marginals.push_back({clique});
    });
  }
  return workload;
}

Result<Workload> Workload::parse(const std::string& json, const Domain& domain) {
  const auto parsed = nlohmann::json::parse(json, nullptr, false);
  if (!parsed.is_object() || !parsed.contains("marginals") || !parsed["marginals"].is_array() ||
      parsed["marginals"].empty())
    return invalid_input(
        "a workload file is {\"marginals\": [[\"age\", \"sex\"], ...]} with at least one marginal");
  const auto& entries = parsed["marginals"];
  if (parsed.contains("weights") &&
      (!parsed["weights"].is_array() || parsed["weights"].size() != entries.size()))
    return invalid_input("a workload's \"weights\" must list one number for each marginal");
  Workload workload;
  std::set<Clique> seen;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    DISCREET_TRY(WeightedClique marginal, parse_marginal(entries[i], domain));
    if (parsed.contains("weights")) {
      if (!parsed["weights"][i].is_number()) return invalid_input("weights are numbers");
      marginal.weight = parsed["weights"][i].get<double>();
    }
    if (!std::isfinite(marginal.weight) || marginal.weight <= 0 || marginal.weight > 1e6)
      return invalid_input("weights lie above 0 and up to 1e6");
    if (domain.cells(marginal.attributes) > kCellsMax)
      return invalid_input(
          fmt::format("marginal {} has more than {} cells; drop a column or group "
                      "its values",
                      i + 1, kCellsMax));
    if (seen.insert(marginal.attributes).second) workload.marginals.push_back(std::move(marginal));
  }
  return workload;
}

std::uint64_t Workload::cells(const Domain& domain) const {
  std::uint64_t sum = 0;
  for (const WeightedClique& marginal : marginals) sum += domain.cells(marginal.attributes);
  return sum;
}

std::vector<WeightedClique> downward_closure(const Workload& workload) {
  std::set<Clique> subsets;
  for (const WeightedClique& marginal : workload.marginals) {
    const std::size_t k = marginal.attributes.size();
    for (std::size_t mask = 1; mask < std::size_t{1} << std::min<std::size_t>(k, 20); ++mask) {
      Clique subset;
      for (std::size_t bit = 0; bit < k; ++bit)
        if ((mask >> bit & 1) != 0) subset.push_back(marginal.attributes[bit]);
      subsets.insert(std::move(subset));
    }
  }
  std::vector<WeightedClique> closure;
  for (const Clique& subset : subsets) {
    double weight = 0;
    for (const WeightedClique& marginal : workload.marginals) {
      std::size_t overlap = 0;
      for (const std::uint32_t attribute : subset)
        overlap +=
            std::binary_search(marginal.attributes.begin(), marginal.attributes.end(), attribute);
      weight += marginal.weight * static_cast<double>(overlap);
    }
    closure.push_back({subset, weight});
  }
  std::stable_sort(closure.begin(), closure.end(), [](const auto& a, const auto& b) {
    return a.attributes.size() < b.attributes.size();
  });
  return closure;
}

}  // namespace discreet::synth
