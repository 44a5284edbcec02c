#include "accounting/loss_event_json.h"

#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace discreet {
namespace {

using nlohmann::json;

// Text deeper than this is refused before the parser builds anything from it.
constexpr int kTextDepthMax = 2 * kLossEventDepthMax + 8;

json encode(const LossEvent& event);

json parts_json(const std::vector<LossEvent>& parts) {
  json list = json::array();
  for (const LossEvent& part : parts) list.push_back(encode(part));
  return list;
}

struct Encoder {
  json operator()(const loss::Pure& e) const {
    return {{"mechanism", "pure_dp"}, {"epsilon0", e.epsilon.value()}};
  }
  json operator()(const loss::Approximate& e) const {
    return {
        {"mechanism", "approx_dp"}, {"epsilon0", e.epsilon.value()}, {"delta0", e.delta.value()}};
  }
  json operator()(const loss::Zcdp& e) const {
    return {{"mechanism", "zcdp"}, {"rho", e.rho.value()}};
  }
  json operator()(const loss::Laplace& e) const {
    return {{"mechanism", "laplace"}, {"scale", e.scale}, {"sensitivity", e.sensitivity}};
  }
  json operator()(const loss::DiscreteLaplace& e) const {
    return {{"mechanism", "discrete_laplace"}, {"scale", e.scale}, {"sensitivity", e.sensitivity}};
  }
  json operator()(const loss::Gaussian& e) const {
    return {{"mechanism", "gaussian"}, {"sigma", e.sigma}, {"sensitivity", e.sensitivity}};
  }
  json operator()(const loss::DiscreteGaussian& e) const {
    return {{"mechanism", "discrete_gaussian"},
            {"sigma2", e.sigma2},
            {"sensitivity", e.sensitivity},
            {"dimension", e.dimension}};
  }
  json operator()(const loss::RandomizedResponse& e) const {
    return {{"mechanism", "randomized_response"},
            {"epsilon0", e.epsilon.value()},
            {"values", e.values}};
  }
  json operator()(const loss::BoundedRange& e) const {
    return {{"mechanism", "bounded_range"}, {"epsilon0", e.epsilon.value()}};
  }
  json operator()(const loss::SparseVector& e) const {
    return {{"mechanism", "sparse_vector"},
            {"epsilon0", e.epsilon.value()},
            {"answers_max", e.answers_max}};
  }
  json operator()(const loss::TruncatedGeometric& e) const {
    return {{"mechanism", "truncated_geometric"},
            {"epsilon0", e.epsilon.value()},
            {"delta0", e.delta.value()},
            {"bound", e.bound}};
  }
  json operator()(const loss::PoissonSubsampled& e) const {
    return {{"mechanism", "poisson_subsampled"},
            {"sampling_probability", e.probability},
            {"inner", encode(*e.inner)}};
  }
  json operator()(const loss::SampledWithoutReplacement& e) const {
    return {{"mechanism", "sampled_without_replacement"},
            {"sample", e.sample},
            {"population", e.population},
            {"inner", encode(*e.inner)}};
  }
  json operator()(const loss::Repeated& e) const {
    return {{"mechanism", "repeated"}, {"count", e.count}, {"inner", encode(*e.inner)}};
  }
  json operator()(const loss::Composed& e) const {
    return {{"mechanism", "composed"}, {"parts", parts_json(e.parts)}};
  }
  json operator()(const loss::Parallel& e) const {
    return {{"mechanism", "parallel"}, {"parts", parts_json(e.parts)}};
  }
  json operator()(const loss::Group& e) const {
    return {{"mechanism", "group"}, {"size", e.size}, {"inner", encode(*e.inner)}};
  }
};

json encode(const LossEvent& event) {
  return std::visit(Encoder{}, event.kind);
}

// One object being read: knows its path for messages, and which fields were asked for, so that a
// misspelt field is refused rather than ignored.
class Reader {
 public:
  Reader(const json& object, std::string path, int depth)
      : object_(object), path_(std::move(path)), depth_(depth) {}

  Result<LossEvent> event();

 private:
  Error wrong(const std::string& field, const std::string& why) const {
    return invalid_input(fmt::format("{}.{}: {}", path_, field, why));
  }

  Result<const json*> field(const std::string& name) {
    asked_.insert(name);
    const auto found = object_.find(name);
    if (found == object_.end()) return wrong(name, "is missing");
    return &*found;
  }

  Result<double> number(const std::string& name) {
    DISCREET_TRY(const json* value, field(name));
    if (!value->is_number()) return wrong(name, "must be a number");
    return value->get<double>();
  }

  Result<double> positive(const std::string& name) {
    DISCREET_TRY(const double value, number(name));
    if (!(std::isfinite(value) && value > 0))
      return wrong(name, fmt::format("must be positive and finite, not {}", value));
    return value;
  }

  // A whole number; 1e6 and 3.0 are whole as long as a double holds them exactly.
  Result<std::uint64_t> whole(const std::string& name, std::uint64_t least, std::uint64_t most) {
    DISCREET_TRY(const json* value, field(name));
    std::uint64_t result = 0;
    bool good = false;
    if (value->is_number_unsigned()) {
      result = value->get<std::uint64_t>();
      good = true;
    } else if (value->is_number_float()) {
      const double real = value->get<double>();
      good = real >= 0 && real <= 0x1p53 && real == std::floor(real);
      if (good) result = static_cast<std::uint64_t>(real);
    }
    if (!good || result < least || result > most)
      return wrong(name, fmt::format("must be a whole number from {} to {}", least, most));
    return result;
  }

  Result<std::uint64_t> count(const std::string& name) {
    return whole(name, 1, std::numeric_limits<std::uint64_t>::max());
  }

  Result<std::int64_t> integer(const std::string& name, std::uint64_t least) {
    DISCREET_TRY(const std::uint64_t value,
                 whole(name, least, std::numeric_limits<std::int64_t>::max()));
    return static_cast<std::int64_t>(value);
  }

  template <class Number>
  Result<Number> checked(const std::string& name) {
    DISCREET_TRY(const double value, number(name));
    auto made = Number::make(value);
    if (!made) return wrong(name, made.error().message);
    return *made;
  }

  Result<std::shared_ptr<const LossEvent>> inner() {
    DISCREET_TRY(const json* value, field("inner"));
    DISCREET_TRY(LossEvent event, Reader(*value, path_ + ".inner", depth_ + 1).event());
    return std::shared_ptr<const LossEvent>(std::make_shared<LossEvent>(std::move(event)));
  }

  Result<std::vector<LossEvent>> parts() {
    DISCREET_TRY(const json* value, field("parts"));
    if (!value->is_array()) return wrong("parts", "must be a list of events");
    std::vector<LossEvent> events;
    events.reserve(value->size());
    for (std::size_t i = 0; i < value->size(); ++i) {
      DISCREET_TRY(LossEvent event,
                   Reader((*value)[i], fmt::format("{}.parts[{}]", path_, i), depth_ + 1).event());
      events.push_back(std::move(event));
    }
    return events;
  }

  Result<LossEvent> kind(const std::string& mechanism);
  Result<LossEvent> leaf(const std::string& mechanism);

  const json& object_;
  std::string path_;
  int depth_;
  std::set<std::string> asked_;
};

Result<LossEvent> Reader::event() {
  if (depth_ >= kLossEventDepthMax)
    return invalid_input(
        fmt::format("{}: events nest deeper than {} levels", path_, kLossEventDepthMax));
  if (!object_.is_object())
    return invalid_input(fmt::format("{}: an event must be an object", path_));
  DISCREET_TRY(const json* mechanism, field("mechanism"));
  if (!mechanism->is_string()) return wrong("mechanism", "must be a text");
  DISCREET_TRY(LossEvent event, kind(mechanism->get<std::string>()));
  for (const auto& [key, value] : object_.items())
    if (!asked_.contains(key)) return wrong(key, "is not a field of this mechanism");
  return event;
}

Result<LossEvent> Reader::kind(const std::string& mechanism) {
  if (mechanism == "poisson_subsampled") {
    DISCREET_TRY(const double probability, number("sampling_probability"));
    if (!(probability >= 0 && probability <= 1))
      return wrong("sampling_probability",
                   fmt::format("must be between 0 and 1, not {}", probability));
    DISCREET_TRY(auto event, inner());
    return LossEvent(loss::PoissonSubsampled{probability, std::move(event)});
  }
  if (mechanism == "sampled_without_replacement") {
    DISCREET_TRY(const auto population, count("population"));
    DISCREET_TRY(const auto sample, whole("sample", 0, population));
    DISCREET_TRY(auto event, inner());
    return LossEvent(loss::SampledWithoutReplacement{sample, population, std::move(event)});
  }
  if (mechanism == "repeated") {
    DISCREET_TRY(const auto times, whole("count", 0, std::numeric_limits<std::uint64_t>::max()));
    DISCREET_TRY(auto event, inner());
    return LossEvent(loss::Repeated{times, std::move(event)});
  }
  if (mechanism == "group") {
    DISCREET_TRY(const auto size, count("size"));
    DISCREET_TRY(auto event, inner());
    return LossEvent(loss::Group{size, std::move(event)});
  }
  if (mechanism == "composed") {
    DISCREET_TRY(auto events, parts());
    return LossEvent(loss::Composed{std::move(events)});
  }
  if (mechanism == "parallel") {
    DISCREET_TRY(auto events, parts());
    return LossEvent(loss::Parallel{std::move(events)});
  }
  return leaf(mechanism);
}

Result<LossEvent> Reader::leaf(const std::string& mechanism) {
  if (mechanism == "zcdp") {
    DISCREET_TRY(const Rho rho, checked<Rho>("rho"));
    return LossEvent(loss::Zcdp{rho});
  }
  if (mechanism == "laplace") {
    DISCREET_TRY(const double scale, positive("scale"));
    DISCREET_TRY(const double sensitivity, positive("sensitivity"));
    return LossEvent(loss::Laplace{scale, sensitivity});
  }
  if (mechanism == "discrete_laplace") {
    DISCREET_TRY(const double scale, positive("scale"));
    DISCREET_TRY(const auto sensitivity, integer("sensitivity", 1));
    return LossEvent(loss::DiscreteLaplace{scale, sensitivity});
  }
  if (mechanism == "gaussian") {
    DISCREET_TRY(const double sigma, positive("sigma"));
    DISCREET_TRY(const double sensitivity, positive("sensitivity"));
    return LossEvent(loss::Gaussian{sigma, sensitivity});
  }
  if (mechanism == "discrete_gaussian") {
    DISCREET_TRY(const double sigma2, positive("sigma2"));
    DISCREET_TRY(const double sensitivity, positive("sensitivity"));
    std::uint64_t dimension = 1;
    if (object_.contains("dimension")) {
      DISCREET_TRY(dimension, count("dimension"));
    }
    return LossEvent(loss::DiscreteGaussian{sigma2, sensitivity, dimension});
  }
  const bool has_delta = mechanism == "approx_dp" || mechanism == "truncated_geometric";
  if (!has_delta && mechanism != "pure_dp" && mechanism != "randomized_response" &&
      mechanism != "bounded_range" && mechanism != "sparse_vector")
    return wrong("mechanism", fmt::format("\"{}\" is not a known mechanism", mechanism));
  DISCREET_TRY(const Epsilon epsilon, checked<Epsilon>("epsilon0"));
  if (has_delta) {
    DISCREET_TRY(const Delta delta, checked<Delta>("delta0"));
    if (mechanism == "approx_dp") return LossEvent(loss::Approximate{epsilon, delta});
    DISCREET_TRY(const auto bound, integer("bound", 0));
    return LossEvent(loss::TruncatedGeometric{epsilon, delta, bound});
  }
  if (mechanism == "randomized_response") {
    std::uint64_t values = 2;
    if (object_.contains("values")) {
      DISCREET_TRY(values, whole("values", 2, std::numeric_limits<std::uint64_t>::max()));
    }
    return LossEvent(loss::RandomizedResponse{epsilon, values});
  }
  if (mechanism == "sparse_vector") {
    DISCREET_TRY(const auto answers, count("answers_max"));
    return LossEvent(loss::SparseVector{epsilon, answers});
  }
  if (mechanism == "bounded_range") return LossEvent(loss::BoundedRange{epsilon});
  return LossEvent(loss::Pure{epsilon});
}

// Brackets outside strings: cheap, and done before any memory is spent on the text.
bool nests_deeper(std::string_view text, int limit) {
  int depth = 0;
  bool quoted = false, escaped = false;
  for (const char c : text) {
    if (quoted) {
      if (escaped)
        escaped = false;
      else if (c == '\\')
        escaped = true;
      else if (c == '"')
        quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      if (++depth > limit) return true;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return false;
}

// The parser keeps the last of two equal keys; which one a reader meant cannot be known.
Result<json> parse_strict(std::string_view text) {
  std::vector<std::set<std::string>> open;
  std::string repeated;
  const auto watch = [&](int, json::parse_event_t event, json& value) {
    if (event == json::parse_event_t::object_start) open.emplace_back();
    if (event == json::parse_event_t::object_end) open.pop_back();
    if (event == json::parse_event_t::key && !open.back().insert(value.get<std::string>()).second)
      repeated = value.get<std::string>();
    return true;
  };
  try {
    json document = json::parse(text.begin(), text.end(), watch);
    if (!repeated.empty())
      return invalid_input(
          fmt::format("a loss document names \"{}\" twice in one object", repeated));
    return document;
  } catch (const json::exception& error) {
    return invalid_input(fmt::format("a loss document is not JSON: {}", error.what()));
  }
}

}  // namespace

json to_json(const LossEvent& event) {
  return encode(event);
}

Result<LossEvent> loss_event_from_json(const json& object) {
  return Reader(object, "event", 0).event();
}

std::string encode_loss_document(const LossEvent& event) {
  return json{{"version", kLossDocumentVersion}, {"event", encode(event)}}.dump();
}

Result<LossEvent> decode_loss_document(std::string_view text) {
  if (text.size() > kLossDocumentBytesMax)
    return invalid_input(fmt::format("a loss document of {} bytes is larger than the limit of {}",
                                     text.size(), kLossDocumentBytesMax));
  if (nests_deeper(text, kTextDepthMax))
    return invalid_input(
        fmt::format("a loss document nests deeper than {} brackets", kTextDepthMax));
  DISCREET_TRY(const json document, parse_strict(text));
  if (!document.is_object()) return invalid_input("a loss document must be an object");
  const auto version = document.find("version");
  if (version == document.end()) return invalid_input("version: is missing");
  if (!version->is_number_integer() || *version != kLossDocumentVersion)
    return invalid_input(
        fmt::format("version: this program reads version {} only", kLossDocumentVersion));
  const auto event = document.find("event");
  if (event == document.end()) return invalid_input("event: is missing");
  if (document.size() != 2)
    return invalid_input("a loss document has the fields \"version\" and \"event\" and no others");
  return loss_event_from_json(*event);
}

bool same_event(const LossEvent& a, const LossEvent& b) {
  return encode(a) == encode(b);
}

}  // namespace discreet
