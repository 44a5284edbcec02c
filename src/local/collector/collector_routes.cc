#include "local/collector/collector_routes.h"

#include <algorithm>
#include <charconv>

#include <nlohmann/json.hpp>

#include "base/parse_number.h"
#include "local/collector/assets_internal.h"
#include "local/collector/collector.h"

namespace discreet::local {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kRoot = "/v1/collections";

HttpAnswer made(const Json& json) {
  return {200, "application/json", json.dump() + "\n"};
}

HttpAnswer made(const Error& error) {
  return {http_status(error.code), "application/json",
          Json{{"error", error.message}}.dump() + "\n"};
}

std::string parameter(const HttpQuestion& asked, std::string_view name,
                      std::string otherwise = {}) {
  for (const auto& [key, value] : asked.parameters)
    if (key == name) return value;
  return otherwise;
}

Result<BatchId> parse_batch_id(const std::string& text) {
  BatchId id{};
  if (text.empty()) return id;
  bool good = text.size() == 2 * id.size();
  for (std::size_t i = 0; good && i < id.size(); ++i) {
    const char* at = text.data() + 2 * i;
    good = std::from_chars(at, at + 2, id[i], 16).ptr == at + 2;
  }
  if (!good) return invalid_input("a batch is named by 32 hexadecimal digits");
  return id;
}

HttpAnswer add_reports(Collector& collector, const std::string& name, const HttpQuestion& asked) {
  const auto id = parse_batch_id(parameter(asked, "batch"));
  if (!id) return made(id.error());
  const std::string_view body = asked.body;
  const Bytes bytes(reinterpret_cast<const std::uint8_t*>(body.data()), body.size());
  const auto done = is_binary_batch(bytes) ? collector.add_binary(name, bytes, *id)
                                           : collector.add_lines(name, body, *id);
  if (!done) return made(done.error());
  Json json = {{"accepted", done->accepted}, {"refused", done->refused}};
  if (done->repeated) json["repeated"] = true;
  for (const auto& refusal : done->refusals)
    json["refusals"].push_back({{"report", refusal.place}, {"why", refusal.why}});
  return made(json);
}

HttpAnswer estimates(const Collector& collector, const std::string& name,
                     const HttpQuestion& asked) {
  EstimateQuestion question;
  const auto confidence = parse_number(parameter(asked, "confidence", "0.95"), "confidence");
  if (!confidence) return made(confidence.error());
  const auto top = parse_integer(parameter(asked, "top", "0"), "top");
  if (!top || *top < 0) return made(invalid_input("top is a whole number, not negative"));
  question.confidence = *confidence;
  question.top = static_cast<std::size_t>(*top);
  question.simultaneous = parameter(asked, "simultaneous") == "1";
  question.post = parameter(asked, "post", "none");
  for (const auto& [key, value] : asked.parameters)
    if (key == "candidate") question.candidates.push_back(value);
  const auto table = collector.estimates(name, question);
  if (!table) return made(table.error());
  Json json = {{"reports", table->reports}, {"rows", Json::array()}};
  for (const auto& row : table->rows)
    json["rows"].push_back({{"value", row.value},
                            {"estimate", row.estimate},
                            {"stderr", row.standard_error},
                            {"low", row.low},
                            {"high", row.high}});
  return made(json);
}

HttpAnswer collections(const Collector& collector) {
  Json json = Json::array();
  for (const auto& name : collector.names()) {
    const auto header = collector.header(name);
    const auto reports = collector.reports(name);
    if (header && reports)
      json.push_back({{"name", name}, {"reports", *reports}, {"header", Json::parse(*header)}});
  }
  return made(json);
}

const Asset* asset_at(std::string_view path) {
  for (const Asset& asset : assets())
    if (asset.path == path) return &asset;
  return nullptr;
}

}  // namespace

bool is_collector_path(std::string_view path) {
  return path == kRoot || path.starts_with("/v1/collections/") || asset_at(path) != nullptr;
}

HttpAnswer answer_collector(Collector& collector, const HttpQuestion& asked) {
  const bool reads = asked.method == "GET" || asked.method == "HEAD";
  if (asked.path == kRoot && reads) return collections(collector);
  if (asked.path.starts_with("/v1/collections/")) {
    const std::string rest(asked.path.substr(kRoot.size() + 1));
    const auto slash = std::min(rest.find('/'), rest.size());
    const std::string name = rest.substr(0, slash);
    const std::string what = slash < rest.size() ? rest.substr(slash + 1) : "";
    if (what == "reports" && asked.method == "POST") return add_reports(collector, name, asked);
    if (what == "estimates" && reads) return estimates(collector, name, asked);
    if (what.empty() && reads) {
      const auto header = collector.header(name);
      return header ? HttpAnswer{200, "application/json", *header + "\n"} : made(header.error());
    }
  }
  if (const Asset* asset = reads ? asset_at(asked.path) : nullptr)
    return {200, std::string(asset->type), std::string(asset->content)};
  return made(Error{ErrorCode::NotFound, "there is nothing at this address"});
}

}  // namespace discreet::local
