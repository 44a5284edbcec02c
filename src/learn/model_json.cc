// Models as JSON (docs/formats/model.md), both ways.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "learn/model.h"

namespace discreet::learn {
namespace {

using nlohmann::ordered_json;

constexpr int kFormat = 1;

ordered_json spec_json(const synth::ColumnSpec& spec) {
  if (const auto* codes = std::get_if<synth::CodeColumn>(&spec.kind)) return codes->size;
  ordered_json entry = ordered_json::object();
  if (const auto* values = std::get_if<synth::ValueColumn>(&spec.kind)) {
    entry["values"] = values->values;
    entry["ordered"] = values->ordered;
  } else if (const auto* numbers = std::get_if<synth::NumberColumn>(&spec.kind)) {
    if (numbers->date)
      entry["range"] = {synth::format_date(static_cast<std::int64_t>(numbers->lower)),
                        synth::format_date(static_cast<std::int64_t>(numbers->upper))};
    else
      entry["range"] = {numbers->lower, numbers->upper};
    entry["step"] = numbers->step;
  }
  entry["nullable"] = spec.nullable;
  return entry;
}

ordered_json bins_json(const std::vector<Bins>& bins) {
  ordered_json all = ordered_json::array();
  for (const Bins& b : bins) all.push_back(b.bin_of_code);
  return all;
}

ordered_json fitted_json(const AdditiveModel& model) {
  return {{"form", "additive"},
          {"bins", bins_json(model.bins)},
          {"weights", model.weights},
          {"prior", model.prior}};
}
ordered_json fitted_json(const TreesModel& model) {
  ordered_json json = {{"form", "trees"}, {"start", fitted_json(model.start)}};
  auto& trees = json["trees"] = ordered_json::array();
  for (const ObliviousTree& tree : model.trees) {
    ordered_json side = ordered_json::array();
    for (const auto& s : tree.side) side.push_back(s);
    trees.push_back({{"columns", tree.column}, {"sides", side}, {"leaves", tree.leaves}});
  }
  return json;
}
ordered_json fitted_json(const NetworkModel& model) {
  return {{"form", "network"},
          {"linear", fitted_json(model.linear)},
          {"hidden", model.hidden},
          {"inputs", model.inputs},
          {"outputs", model.outputs_of_hidden}};
}

constexpr const char* kTests[] = {"at_least", "below", "equal", "differs"};

ordered_json fitted_json(const RulesModel& model) {
  ordered_json rules = ordered_json::array();
  for (const auto& rule : model.rules) {
    ordered_json conditions = ordered_json::array();
    for (const Literal& literal : rule.conditions)
      conditions.push_back({{"column", literal.column},
                            {"test", kTests[static_cast<std::size_t>(literal.test)]},
                            {"code", literal.code}});
    rules.push_back({{"if", conditions}, {"then", rule.label}});
  }
  return {{"form", "rules"}, {"rules", rules}, {"else", model.otherwise}};
}
ordered_json fitted_json(const LinearModel& model) {
  return {{"form", "linear"}, {"coefficients", model.coefficients}, {"intercept", model.intercept}};
}
ordered_json fitted_json(const ComponentsModel& model) {
  return {{"form", "components"},
          {"mean", model.mean},
          {"components", model.components},
          {"variances", model.variances}};
}
ordered_json fitted_json(const ClustersModel& model) {
  return {{"form", "clusters"}, {"centres", model.centres}};
}

Error wrong(const std::string& what) {
  return invalid_input(fmt::format("this is not a model of ours: {}", what));
}

// Numbers that a file may hold; nlohmann reads NaN as null, so a number is finite or too large.
bool finite(const std::vector<double>& numbers) {
  for (const double x : numbers)
    if (!std::isfinite(x)) return false;
  return true;
}

template <class T>
Result<T> get(const ordered_json& json, const char* name) {
  const auto found = json.find(name);
  if (found == json.end()) return wrong(fmt::format("\"{}\" is missing", name));
  try {
    return found->get<T>();
  } catch (const nlohmann::json::exception&) {
    return wrong(fmt::format("\"{}\" is of another kind", name));
  }
}

Result<AdditiveModel> read_additive(const ordered_json& json, const Coding& coding) {
  AdditiveModel model;
  model.classes = coding.classes();
  using Table = std::vector<std::vector<double>>;
  DISCREET_TRY(const auto bins, get<std::vector<std::vector<std::uint16_t>>>(json, "bins"));
  DISCREET_TRY(model.weights, get<Table>(json, "weights"));
  DISCREET_TRY(model.prior, get<std::vector<double>>(json, "prior"));
  const std::size_t k = model.outputs();
  if (model.classes < 1 || bins.size() != coding.features().size() ||
      model.weights.size() != bins.size() || model.prior.size() != k || !finite(model.prior))
    return wrong("its columns do not fit");
  for (std::size_t c = 0; c < bins.size(); ++c) {
    if (bins[c].size() != coding.features()[c].size() || model.weights[c].size() % k != 0 ||
        !finite(model.weights[c]))
      return wrong("a column's bins do not fit");
    const auto size = static_cast<std::uint32_t>(model.weights[c].size() / k);
    for (const std::uint16_t bin : bins[c])
      if (bin >= size) return wrong("a bin has no weight");
    model.bins.push_back({bins[c], size});
  }
  return model;
}

Result<TreesModel> read_trees(const ordered_json& json, const Coding& coding) {
  TreesModel model;
  DISCREET_TRY(const auto start, get<ordered_json>(json, "start"));
  DISCREET_TRY(model.start, read_additive(start, coding));
  DISCREET_TRY(const auto trees, get<std::vector<ordered_json>>(json, "trees"));
  for (const ordered_json& entry : trees) {
    ObliviousTree tree;
    DISCREET_TRY(const auto columns, get<std::vector<std::uint32_t>>(entry, "columns"));
    DISCREET_TRY(const auto sides, get<std::vector<std::vector<std::uint8_t>>>(entry, "sides"));
    DISCREET_TRY(tree.leaves, get<std::vector<double>>(entry, "leaves"));
    if (columns.size() != kTreeDepth || sides.size() != kTreeDepth ||
        tree.leaves.size() != kTreeLeaves * model.outputs() || !finite(tree.leaves))
      return wrong("a tree has another shape");
    for (std::size_t d = 0; d < kTreeDepth; ++d) {
      if (columns[d] >= coding.features().size() ||
          sides[d].size() != model.start.bins[columns[d]].size)
        return wrong("a tree asks about a column that is not there");
      for (const std::uint8_t side : sides[d])
        if (side > 1) return wrong("a tree has more than two sides");
      tree.column[d] = columns[d];
      tree.side[d] = sides[d];
    }
    model.trees.push_back(std::move(tree));
  }
  return model;
}

Result<NetworkModel> read_network(const ordered_json& json, const Coding& coding) {
  NetworkModel model;
  DISCREET_TRY(const auto linear, get<ordered_json>(json, "linear"));
  DISCREET_TRY(model.linear, read_additive(linear, coding));
  DISCREET_TRY(model.hidden, get<std::uint32_t>(json, "hidden"));
  DISCREET_TRY(model.inputs, get<std::vector<std::vector<double>>>(json, "inputs"));
  DISCREET_TRY(model.outputs_of_hidden, get<std::vector<double>>(json, "outputs"));
  bool fits = model.hidden <= 4096 && model.inputs.size() == model.linear.bins.size() &&
              model.outputs_of_hidden.size() == std::size_t{model.hidden} * model.outputs() &&
              finite(model.outputs_of_hidden);
  for (std::size_t c = 0; fits && c < model.inputs.size(); ++c)
    fits = model.inputs[c].size() == std::size_t{model.linear.bins[c].size} * model.hidden &&
           finite(model.inputs[c]);
  if (!fits) return wrong("its hidden units do not fit");
  return model;
}

Result<RulesModel> read_rules(const ordered_json& json, const Coding& coding) {
  RulesModel model;
  DISCREET_TRY(const auto rules, get<std::vector<ordered_json>>(json, "rules"));
  DISCREET_TRY(model.otherwise, get<std::uint8_t>(json, "else"));
  bool fits = model.otherwise <= 1 && coding.classes() == 2;
  for (const ordered_json& entry : rules) {
    RulesModel::Rule rule;
    DISCREET_TRY(rule.label, get<std::uint8_t>(entry, "then"));
    DISCREET_TRY(const auto conditions, get<std::vector<ordered_json>>(entry, "if"));
    fits = fits && rule.label <= 1 && !conditions.empty();
    for (const ordered_json& condition : conditions) {
      Literal literal;
      DISCREET_TRY(literal.column, get<std::uint32_t>(condition, "column"));
      DISCREET_TRY(literal.code, get<std::uint16_t>(condition, "code"));
      DISCREET_TRY(const std::string test, get<std::string>(condition, "test"));
      const auto known = std::find(std::begin(kTests), std::end(kTests), test);
      fits = fits && known != std::end(kTests) && literal.column < coding.features().size();
      if (!fits) break;
      fits = literal.code < coding.features()[literal.column].size();
      literal.test = static_cast<Literal::Test>(known - std::begin(kTests));
      rule.conditions.push_back(literal);
    }
    model.rules.push_back(std::move(rule));
  }
  if (!fits) return wrong("a rule does not fit");
  return model;
}

Result<ComponentsModel> read_components(const ordered_json& json, std::size_t columns) {
  ComponentsModel model;
  DISCREET_TRY(model.mean, get<std::vector<double>>(json, "mean"));
  DISCREET_TRY(model.components, get<std::vector<std::vector<double>>>(json, "components"));
  DISCREET_TRY(model.variances, get<std::vector<double>>(json, "variances"));
  bool fits = model.mean.size() == columns && finite(model.mean) && !model.components.empty();
  for (const auto& c : model.components) fits = fits && c.size() == columns && finite(c);
  if (!fits) return wrong("its components do not fit");
  return model;
}

Result<void> read_fitted(const ordered_json& json, Model& model) {
  DISCREET_TRY(const std::string form, get<std::string>(json, "form"));
  const std::size_t columns = model.coding.features().size();
  if (form == "additive") {
    DISCREET_TRY(model.fitted, read_additive(json, model.coding));
  } else if (form == "trees") {
    DISCREET_TRY(model.fitted, read_trees(json, model.coding));
  } else if (form == "network") {
    DISCREET_TRY(model.fitted, read_network(json, model.coding));
  } else if (form == "rules") {
    DISCREET_TRY(model.fitted, read_rules(json, model.coding));
  } else if (form == "linear") {
    LinearModel linear;
    DISCREET_TRY(linear.coefficients, get<std::vector<double>>(json, "coefficients"));
    DISCREET_TRY(linear.intercept, get<double>(json, "intercept"));
    if (linear.coefficients.size() != columns || !finite(linear.coefficients) ||
        !model.coding.target())
      return wrong("its coefficients do not fit");
    model.fitted = std::move(linear);
  } else if (form == "components") {
    DISCREET_TRY(model.fitted, read_components(json, columns));
  } else if (form == "clusters") {
    ClustersModel clusters;
    DISCREET_TRY(clusters.centres, get<std::vector<std::vector<double>>>(json, "centres"));
    for (const auto& centre : clusters.centres)
      if (centre.size() != columns || !finite(centre)) return wrong("a centre does not fit");
    if (clusters.centres.empty()) return wrong("it has no centres");
    model.fitted = std::move(clusters);
  } else {
    return wrong(fmt::format("its form \"{}\" is unknown", form));
  }
  return {};
}

}  // namespace

std::string to_json(const Model& model) {
  ordered_json json = {{"discreet_model", kFormat}, {"method", model.method}};
  auto& features = json["features"] = ordered_json::object();
  for (const auto& feature : model.coding.features())
    features[feature.name()] = spec_json(feature.spec());
  if (model.coding.target()) {
    json["target"] = {{model.coding.target()->name(), spec_json(model.coding.target()->spec())}};
    if (model.coding.at_least()) json["at_least"] = *model.coding.at_least();
  }
  json["privacy"] = {{"epsilon", model.paid.epsilon.value()},
                     {"delta", model.paid.delta.value()},
                     {"neighbours", "add or remove one row"}};
  json["rows_estimate"] = model.rows_estimate;
  json["majority"] = model.majority;
  json["notes"] = model.notes;
  json["model"] = std::visit([](const auto& fitted) { return fitted_json(fitted); }, model.fitted);
  return json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

Result<Model> model_from_json(const std::string& text) {
  const auto json = ordered_json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("discreet_model")) return wrong("no \"discreet_model\"");
  if (json["discreet_model"] != kFormat) return wrong(fmt::format("its format is not {}", kFormat));
  DISCREET_TRY(const auto features, get<ordered_json>(json, "features"));
  DISCREET_TRY(auto specs, synth::parse_specs(features.dump()));
  std::string target;
  if (json.contains("target")) {
    DISCREET_TRY(const auto of_target, synth::parse_specs(json["target"].dump()));
    target = of_target.front().name;
    specs.push_back(of_target.front());
  }
  std::optional<double> at_least;
  if (json.contains("at_least")) {
    DISCREET_TRY(at_least, get<double>(json, "at_least"));
  }
  DISCREET_TRY(Coding coding, Coding::make(specs, target, at_least));
  DISCREET_TRY(const auto privacy, get<ordered_json>(json, "privacy"));
  DISCREET_TRY(const double epsilon, get<double>(privacy, "epsilon"));
  DISCREET_TRY(const double delta, get<double>(privacy, "delta"));
  DISCREET_TRY(const Epsilon e, Epsilon::make(epsilon));
  DISCREET_TRY(const Delta d, Delta::make(delta));
  DISCREET_TRY(std::string method, get<std::string>(json, "method"));
  Model model{std::move(method), std::move(coding), LinearModel{}, {e, d}, 0, false, {}};
  DISCREET_TRY(model.rows_estimate, get<double>(json, "rows_estimate"));
  DISCREET_TRY(model.majority, get<bool>(json, "majority"));
  DISCREET_TRY(model.notes, get<std::vector<std::string>>(json, "notes"));
  DISCREET_TRY(const auto fitted, get<ordered_json>(json, "model"));
  DISCREET_TRY_VOID(read_fitted(fitted, model));
  return model;
}

}  // namespace discreet::learn
