// The specification as one line of JSON, and texts as inputs.
#include <array>
#include <cmath>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/parse_number.h"
#include "base/suggest.h"
#include "local/hash.h"
#include "local/mean_internal.h"
#include "local/oracle.h"

namespace discreet::local {
namespace {

using Json = nlohmann::ordered_json;

const std::vector<std::string> kFields = {
    "discreet_local", "name",   "oracle",       "epsilon",           "values",    "labels",
    "cells",          "subset", "hashes",       "threshold",         "width",     "cohorts",
    "hash_seed",      "range",  "report_bytes", "permanent_epsilon", "attributes"};

Error bad(const std::string& message) {
  return invalid_input("header of the reports: " + message);
}

template <class T>
Result<void> read(const Json& json, const char* field, T& to) {
  if (!json.contains(field)) return {};
  const auto& value = json[field];
  bool fits = value.is_number();
  if constexpr (!std::is_floating_point_v<T>)
    fits = value.is_number_unsigned() &&
           value.template get<std::uint64_t>() <= std::numeric_limits<T>::max();
  if (!fits) return bad(fmt::format("'{}' is not a number of the right kind", field));
  to = value.template get<T>();
  return {};
}

Result<void> read_texts(const Json& json, Spec& spec) {
  if (json.contains("name")) {
    if (!json["name"].is_string()) return bad("'name' is not text");
    spec.name = json["name"].get<std::string>();
  }
  if (json.contains("labels")) {
    if (!json["labels"].is_array()) return bad("'labels' is not a list");
    for (const auto& label : json["labels"]) {
      if (!label.is_string()) return bad("a label is not text");
      spec.labels.push_back(label.get<std::string>());
    }
  }
  if (json.contains("range")) {
    const auto& range = json["range"];
    if (!range.is_array() || range.size() != 2 || !range[0].is_number() || !range[1].is_number())
      return bad("'range' is not a pair of numbers");
    spec.low = range[0].get<double>();
    spec.high = range[1].get<double>();
  }
  return {};
}

}  // namespace

namespace {

Json fields_of(const Spec& spec) {
  Json json;
  if (!spec.name.empty()) json["name"] = spec.name;
  json["oracle"] = name(spec.kind);
  json["epsilon"] = spec.epsilon;
  if (is_record(spec.kind)) {
    for (const Spec& attribute : spec.attributes) {
      Json one = fields_of(attribute);
      if (!attribute.labels.empty()) one["labels"] = attribute.labels;
      json["attributes"].push_back(std::move(one));
    }
    return json;
  }
  if (spec.values != 0) json["values"] = spec.values;
  if (spec.cells != 0) json["cells"] = spec.cells;
  if (spec.subset != 0) json["subset"] = spec.subset;
  if (spec.threshold != 0) json["threshold"] = spec.threshold;
  if (spec.hashes != 0) json["hashes"] = spec.hashes;
  if (spec.width != 0) json["width"] = spec.width;
  if (spec.cohorts != 0) json["cohorts"] = spec.cohorts;
  if (takes_open_text(spec.kind)) json["hash_seed"] = spec.hash_seed;
  if (spec.permanent_epsilon != 0) json["permanent_epsilon"] = spec.permanent_epsilon;
  if (is_mean(spec.kind)) json["range"] = {spec.low, spec.high};
  return json;
}

Result<Spec> read_fields(const Json& json) {
  if (!json.is_object()) return bad("an attribute is not a JSON object");
  for (const auto& [key, value] : json.items())
    if (std::find(kFields.begin(), kFields.end(), key) == kFields.end())
      return bad(fmt::format("unknown field '{}'{}", key, did_you_mean(key, kFields)));
  if (!json.contains("oracle") || !json["oracle"].is_string()) return bad("'oracle' is missing");
  if (!json.contains("epsilon")) return bad("'epsilon' is missing");
  Spec spec;
  DISCREET_TRY(spec.kind, oracle_kind(json["oracle"].get<std::string>()));
  DISCREET_TRY_VOID(read(json, "epsilon", spec.epsilon));
  DISCREET_TRY_VOID(read(json, "values", spec.values));
  DISCREET_TRY_VOID(read(json, "cells", spec.cells));
  DISCREET_TRY_VOID(read(json, "subset", spec.subset));
  DISCREET_TRY_VOID(read(json, "threshold", spec.threshold));
  DISCREET_TRY_VOID(read(json, "hashes", spec.hashes));
  DISCREET_TRY_VOID(read(json, "width", spec.width));
  DISCREET_TRY_VOID(read(json, "cohorts", spec.cohorts));
  DISCREET_TRY_VOID(read(json, "hash_seed", spec.hash_seed));
  DISCREET_TRY_VOID(read(json, "permanent_epsilon", spec.permanent_epsilon));
  DISCREET_TRY_VOID(read_texts(json, spec));
  return spec;
}

Result<void> read_attributes(const Json& json, Spec& spec) {
  if (!json.contains("attributes")) return {};
  if (!json["attributes"].is_array()) return bad("'attributes' is not a list");
  for (const auto& one : json["attributes"]) {
    DISCREET_TRY(Spec attribute, read_fields(one));
    if (one.contains("attributes")) return bad("an attribute has attributes of its own");
    spec.attributes.push_back(std::move(attribute));
  }
  return {};
}

/// A writer that gave an attribute another epsilon meant another collection.
Result<void> check_shares(const Spec& written, const Spec& completed) {
  for (std::size_t i = 0; i < written.attributes.size(); ++i)
    if (written.attributes[i].epsilon != completed.attributes[i].epsilon)
      return bad(fmt::format("attribute '{}' has epsilon {}, and its share is {}",
                             written.attributes[i].name, written.attributes[i].epsilon,
                             completed.attributes[i].epsilon));
  return {};
}

}  // namespace

std::string header_line(const Spec& spec) {
  Json json = {{"discreet_local", 1}};
  json.update(fields_of(spec));
  if (const auto oracle = Oracle::make(spec)) json["report_bytes"] = (*oracle)->report_bytes();
  if (!spec.labels.empty()) json["labels"] = spec.labels;
  return json.dump();
}

Result<Spec> parse_header(std::string_view line) {
  const auto json = Json::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains("discreet_local"))
    return bad(
        "the first line must be a JSON object with \"discreet_local\": 1 (docs/formats/local.md)");
  if (json["discreet_local"] != 1)
    return bad("written by a newer version of the format; this program reads version 1");
  DISCREET_TRY(Spec spec, read_fields(json));
  DISCREET_TRY_VOID(read_attributes(json, spec));
  DISCREET_TRY(const auto oracle, Oracle::make(spec));
  DISCREET_TRY_VOID(check_shares(spec, oracle->spec()));
  std::uint64_t bytes = oracle->report_bytes();
  DISCREET_TRY_VOID(read(json, "report_bytes", bytes));
  if (bytes != oracle->report_bytes())
    return bad(fmt::format("reports of this collection have {} bytes, not {}",
                           oracle->report_bytes(), bytes));
  return oracle->spec();
}

namespace {

Result<std::uint64_t> record_input(const Spec& spec, std::string_view text) {
  std::uint64_t input = 0, weight = 1;
  for (std::size_t i = 0; i < spec.attributes.size(); ++i) {
    const Spec& attribute = spec.attributes[i];
    const bool last = i + 1 == spec.attributes.size();
    const std::size_t end = last ? text.size() : text.find(',');
    if (end == std::string_view::npos)
      return invalid_input(
          fmt::format("a record has {} values with commas between them", spec.attributes.size()));
    const auto value = input_of(attribute, text.substr(0, end));
    if (!value)
      return Error{value.error().code,
                   fmt::format("attribute '{}': {}", attribute.name, value.error().message)};
    input += weight * *value;
    weight *= attribute.values;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return input;
}

}  // namespace

Result<std::uint64_t> input_of(const Spec& spec, std::string_view text) {
  if (is_record(spec.kind)) return record_input(spec, text);
  if (is_mean(spec.kind)) {
    DISCREET_TRY(const double value, parse_number(text, "a value"));
    return grid_point(spec, value);
  }
  if (spec.values == 0) return text_key(text);
  if (!spec.labels.empty()) {
    const auto found = std::find(spec.labels.begin(), spec.labels.end(), text);
    if (found == spec.labels.end())
      return Error{ErrorCode::InvalidInput, "a value is not among the labels of the collection"};
    return static_cast<std::uint64_t>(found - spec.labels.begin());
  }
  const auto number = parse_integer(text, "a value");
  if (!number || *number < 0 || static_cast<std::uint64_t>(*number) >= spec.values)
    return invalid_input(
        fmt::format("a value is not a whole number from 0 to {}", spec.values - 1));
  return static_cast<std::uint64_t>(*number);
}

Result<std::uint64_t> row_of(const Spec& spec, std::string_view text) {
  if (!is_record(spec.kind)) return input_of(spec, text);
  const std::size_t equals = std::min(text.find('='), text.size());
  std::uint64_t first = 0;
  for (const Spec& attribute : spec.attributes) {
    if (attribute.name == text.substr(0, equals) && equals < text.size()) {
      DISCREET_TRY(const auto value, input_of(attribute, text.substr(equals + 1)));
      return first + value;
    }
    first += attribute.values;
  }
  return invalid_input("a row of a record is attribute=value");
}

std::string value_text(const Spec& spec, std::uint64_t index) {
  for (const Spec& attribute : spec.attributes) {
    if (index < attribute.values) return attribute.name + "=" + value_text(attribute, index);
    index -= attribute.values;
  }
  return index < spec.labels.size() ? spec.labels[index] : std::to_string(index);
}

}  // namespace discreet::local
