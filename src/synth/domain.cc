#include "synth/domain.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

namespace discreet::synth {

Result<Domain> Domain::make(std::vector<Attribute> attributes) {
  if (attributes.empty()) return invalid_parameter("a domain needs at least one column");
  std::set<std::string> names;
  for (const Attribute& attribute : attributes) {
    if (!names.insert(attribute.name).second)
      return invalid_parameter(
          fmt::format("column \"{}\" stands twice in the domain", attribute.name));
    if (attribute.size == 0 || attribute.size > kAttributeSizeMax)
      return invalid_parameter(
          fmt::format("column \"{}\" has {} values; between 1 and {} can be synthesised, so group "
                      "values or leave the column out",
                      attribute.name, attribute.size, kAttributeSizeMax));
  }
  return Domain(std::move(attributes));
}

Result<Domain> Domain::parse(const std::string& json) {
  const auto parsed = nlohmann::ordered_json::parse(json, nullptr, false);
  if (!parsed.is_object())
    return invalid_input(
        "a domain file is one JSON object from column names to numbers of values, for example "
        "{\"age\": 85, \"sex\": 2}");
  std::vector<Attribute> attributes;
  for (const auto& [name, size] : parsed.items()) {
    if (!size.is_number_unsigned() || size.get<std::uint64_t>() > kAttributeSizeMax)
      return invalid_input(
          fmt::format("the domain's \"{}\" must be a whole number of values from 1 to {}", name,
                      kAttributeSizeMax));
    attributes.push_back({name, size.get<std::uint32_t>()});
  }
  return make(std::move(attributes));
}

Result<std::uint32_t> Domain::find(const std::string& name) const {
  for (std::size_t i = 0; i < attributes_.size(); ++i)
    if (attributes_[i].name == name) return static_cast<std::uint32_t>(i);
  std::vector<std::string> known;
  for (const Attribute& attribute : attributes_) known.push_back(attribute.name);
  return Error{ErrorCode::NotFound, fmt::format("there is no column \"{}\"; the table has {}", name,
                                                fmt::join(known, ", "))};
}

std::uint64_t Domain::cells(std::span<const std::uint32_t> clique) const {
  std::uint64_t product = 1;
  for (const std::uint32_t attribute : clique) {
    product *= attributes_[attribute].size;
    if (product >= std::uint64_t{1} << 46) return std::uint64_t{1} << 63;
  }
  return product;
}

std::uint64_t Domain::width() const {
  std::uint64_t sum = 0;
  for (const Attribute& attribute : attributes_) sum += attribute.size;
  return sum;
}

Result<Domain> Domain::in_order_of(std::span<const std::string> names) const {
  std::vector<Attribute> ordered;
  for (const std::string& name : names) {
    DISCREET_TRY(const std::uint32_t at, find(name));
    ordered.push_back(attributes_[at]);
  }
  return make(std::move(ordered));
}

}  // namespace discreet::synth
