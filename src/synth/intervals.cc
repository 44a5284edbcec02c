#include "synth/intervals.h"

#include <algorithm>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

namespace discreet::synth {
namespace {

using nlohmann::ordered_json;

constexpr double kConfidence = 0.95;

// Half the width in standard deviations: of one interval, or of `many` independent ones at once.
double half_width(double many) {
  const double miss = -std::expm1(std::log(kConfidence) / many);
  return std::sqrt(2.0) * boost::math::erfc_inv(miss);
}

// A value as people wrote it, or the two ends of a bin.
ordered_json value_of(const ColumnCodec& codec, std::size_t code, Dice& dice) {
  const auto& bin = codec.bins[code];
  const auto number = [&](std::int64_t steps) {
    return codec.numbers.lower + static_cast<double>(steps) * codec.numbers.step;
  };
  if (bin.is_number && bin.low != bin.high) return {number(bin.low), number(bin.high)};
  const auto text = codec.decode(static_cast<std::uint16_t>(code), dice);
  return text ? ordered_json(*text) : ordered_json(nullptr);
}

}  // namespace

std::string intervals_json(const RawTwin& made) {
  Dice dice(0, 0);
  const double half = half_width(1);
  ordered_json narrow = ordered_json::array(), wide = ordered_json::array();
  for (const auto& marginal : made.twin.measured) {
    if (marginal.attributes.size() != 1) continue;
    const auto& codec = made.real.codecs[marginal.attributes[0]];
    ordered_json cells = ordered_json::array();
    for (std::size_t v = 0; v < marginal.counts.size(); ++v) {
      const auto count = static_cast<double>(marginal.counts[v]);
      cells.push_back({{"value", value_of(codec, v, dice)},
                       {"low", std::max(0.0, count - half * marginal.sigma)},
                       {"high", std::max(0.0, count + half * marginal.sigma)}});
    }
    narrow.push_back({{"column", codec.name}, {"sigma", marginal.sigma}, {"cells", cells}});
  }
  for (const auto& marginal : made.twin.wide) {
    ordered_json columns = ordered_json::array(), values = ordered_json::array();
    for (const std::uint32_t a : marginal.attributes) {
      columns.push_back(made.real.codecs[a].name);
      ordered_json groups = ordered_json::array();
      for (const auto& members : made.twin.groups[a]) {
        ordered_json group = ordered_json::array();
        for (const std::uint16_t code : members)
          group.push_back(value_of(made.real.codecs[a], code, dice));
        groups.push_back(members.size() == 1 ? group[0] : group);
      }
      values.push_back(std::move(groups));
    }
    const auto cells = static_cast<double>(marginal.counts.size());
    wide.push_back({{"columns", columns},
                    {"sigma", marginal.sigma},
                    {"half_width", half * marginal.sigma},
                    {"half_width_all", half_width(cells) * marginal.sigma},
                    {"values", values},
                    {"counts", marginal.counts}});
  }
  return ordered_json{{"confidence", kConfidence}, {"marginals", narrow}, {"wide", wide}}.dump() +
         "\n";
}

}  // namespace discreet::synth
