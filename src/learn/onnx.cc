#include "learn/onnx.h"

#include <fmt/format.h>

#include "learn/onnx_graph_internal.h"

namespace discreet::learn {
namespace {

using Strings = std::vector<std::string>;

std::string scalar(OnnxGraph& graph, double value) {
  return graph.constant(std::vector<double>{value}, {});
}
std::string scalar(OnnxGraph& graph, std::int64_t value) {
  return graph.constant(std::vector<std::int64_t>{value}, {});
}

std::string sum_over(OnnxGraph& graph, const std::string& tensor, std::int64_t axis, bool keep) {
  const auto axes = graph.constant(std::vector<std::int64_t>{axis}, {1});
  return graph.node("ReduceSum", {tensor, axes}, {OnnxGraph::number("keepdims", keep)});
}

std::string input_of(OnnxGraph& graph, const ColumnCoder& column) {
  return graph.input(column.name(), column.numeric() ? OnnxType::Double : OnnxType::String);
}

// Texts to codes; others to `unknown`.
std::string text_codes(OnnxGraph& graph, const ColumnCoder& column, const std::string& raw,
                       std::int64_t unknown) {
  const auto& values = std::get<synth::ValueColumn>(column.spec().kind).values;
  std::vector<std::int64_t> codes;
  for (std::size_t i = 0; i < values.size(); ++i) codes.push_back(static_cast<std::int64_t>(i));
  return graph.node("LabelEncoder", {raw},
                    {{"keys_strings", {}, values},
                     {"values_int64s", codes},
                     OnnxGraph::number("default_int64", unknown)},
                    "ai.onnx.ml");
}

// As ColumnCoder::codes.
std::string code_of(OnnxGraph& graph, const ColumnCoder& column) {
  const std::string raw = input_of(graph, column);
  const std::int64_t missing = column.has_missing() ? std::int64_t{column.size()} - 1 : 0;
  if (!column.numeric()) return text_codes(graph, column, raw, missing);
  const auto* range = std::get_if<synth::NumberColumn>(&column.spec().kind);
  const auto& starts = column.starts();
  const auto edges = graph.constant(starts, {1, static_cast<std::int64_t>(starts.size())});
  const auto forgiving =
      graph.node("Add", {raw, scalar(graph, 5e-4 * (range != nullptr ? range->step : 1))});
  const auto reached = graph.node("GreaterOrEqual", {forgiving, edges});
  const auto ones = graph.node("Cast", {reached}, {OnnxGraph::number("to", 7)});
  const auto last =
      graph.node("Sub", {sum_over(graph, ones, 1, true), scalar(graph, std::int64_t{1})});
  const auto code = graph.node("Max", {last, scalar(graph, std::int64_t{0})});
  if (!column.has_missing()) return code;
  return graph.node("Where", {graph.node("IsNaN", {raw}), scalar(graph, missing), code});
}

std::string codes_of(OnnxGraph& graph, const Coding& coding) {
  Strings codes;
  for (const ColumnCoder& column : coding.features()) codes.push_back(code_of(graph, column));
  return graph.node("Concat", codes, {OnnxGraph::number("axis", 1)});
}

// As ColumnCoder::numbers.
std::string numbers_of(OnnxGraph& graph, const Coding& coding) {
  Strings numbers;
  for (const ColumnCoder& column : coding.features()) {
    const std::string raw = input_of(graph, column);
    if (!column.numeric()) {
      const auto& values = std::get<synth::ValueColumn>(column.spec().kind).values;
      std::vector<double> of_code;
      for (std::size_t i = 0; i < values.size(); ++i)
        of_code.push_back(column.scaled(static_cast<double>(i)));
      of_code.push_back(0);
      const auto table = graph.constant(of_code, {static_cast<std::int64_t>(of_code.size())});
      numbers.push_back(graph.node(
          "Gather",
          {table, text_codes(graph, column, raw, static_cast<std::int64_t>(values.size()))}));
      continue;
    }
    const double lower = column.unscaled(-1), upper = column.unscaled(1);
    const auto inside = graph.node("Clip", {raw, scalar(graph, lower), scalar(graph, upper)});
    const auto part = graph.node("Div", {graph.node("Sub", {inside, scalar(graph, lower)}),
                                         scalar(graph, (upper - lower) / 2)});
    const auto scaled = graph.node("Sub", {part, scalar(graph, 1.0)});
    const double missing = std::holds_alternative<synth::CodeColumn>(column.spec().kind) ? -1 : 0;
    numbers.push_back(
        graph.node("Where", {graph.node("IsNaN", {raw}), scalar(graph, missing), scaled}));
  }
  return graph.node("Concat", numbers, {OnnxGraph::number("axis", 1)});
}

// Looks up each column's code in a table of [code][width] and adds the rows up.
std::string sum_of_lookups(OnnxGraph& graph, const std::string& codes, std::span<const Bins> bins,
                           const std::vector<std::vector<double>>& by_bin, std::size_t width) {
  std::vector<double> table;
  std::vector<std::int64_t> offsets;
  for (std::size_t c = 0; c < bins.size(); ++c) {
    offsets.push_back(static_cast<std::int64_t>(table.size() / width));
    for (const std::uint16_t bin : bins[c].bin_of_code)
      for (std::size_t o = 0; o < width; ++o) table.push_back(by_bin[c][bin * width + o]);
  }
  const auto rows = static_cast<std::int64_t>(table.size() / width);
  const auto places = graph.node(
      "Add", {codes, graph.constant(offsets, {1, static_cast<std::int64_t>(offsets.size())})});
  const auto found = graph.node(
      "Gather", {graph.constant(table, {rows, static_cast<std::int64_t>(width)}), places});
  return sum_over(graph, found, 1, false);
}

std::string scores_of(OnnxGraph& graph, const std::string& codes, const AdditiveModel& model) {
  const auto sum = sum_of_lookups(graph, codes, model.bins, model.weights, model.outputs());
  return graph.node("Add", {sum, graph.constant(model.prior, {1, model.outputs()})});
}

// All trees at once: for each its three columns' codes, the sides they lie on, the leaf, its
// values.
std::string scores_of(OnnxGraph& graph, const std::string& codes, const TreesModel& model) {
  const auto start = scores_of(graph, codes, model.start);
  if (model.trees.empty()) return start;
  const std::size_t k = model.outputs();
  std::vector<std::int64_t> columns, offsets, sides, first_leaf, place_values;
  std::vector<double> leaves;
  for (const ObliviousTree& tree : model.trees) {
    for (std::size_t d = 0; d < kTreeDepth; ++d) {
      columns.push_back(tree.column[d]);
      offsets.push_back(static_cast<std::int64_t>(sides.size()));
      for (const std::uint16_t bin : model.start.bins[tree.column[d]].bin_of_code)
        sides.push_back(tree.side[d][bin]);
    }
    first_leaf.push_back(static_cast<std::int64_t>(leaves.size() / k));
    leaves.insert(leaves.end(), tree.leaves.begin(), tree.leaves.end());
  }
  for (std::size_t d = 0; d < kTreeDepth; ++d)
    place_values.push_back(std::int64_t{1} << (kTreeDepth - 1 - d));
  const auto trees = static_cast<std::int64_t>(model.trees.size());
  constexpr auto kDepth = static_cast<std::int64_t>(kTreeDepth);
  const auto asked = graph.node("Gather", {codes, graph.constant(columns, {trees, kDepth})},
                                {OnnxGraph::number("axis", 1)});
  const auto places = graph.node("Add", {asked, graph.constant(offsets, {1, trees, kDepth})});
  const auto side = graph.node(
      "Gather", {graph.constant(sides, {static_cast<std::int64_t>(sides.size())}), places});
  const auto weighed = graph.node("Mul", {side, graph.constant(place_values, {1, 1, kDepth})});
  const auto leaf = graph.node(
      "Add", {sum_over(graph, weighed, 2, false), graph.constant(first_leaf, {1, trees})});
  const auto values =
      graph.node("Gather", {graph.constant(leaves, {static_cast<std::int64_t>(leaves.size() / k),
                                                    static_cast<std::int64_t>(k)}),
                            leaf});
  return graph.node("Add", {start, sum_over(graph, values, 1, false)});
}

std::string scores_of(OnnxGraph& graph, const std::string& codes, const NetworkModel& model) {
  const auto linear = scores_of(graph, codes, model.linear);
  if (model.hidden == 0) return linear;
  const auto in = sum_of_lookups(graph, codes, model.linear.bins, model.inputs, model.hidden);
  const auto out = graph.node(
      "MatMul", {graph.node("Tanh", {in}),
                 graph.constant(model.outputs_of_hidden, {model.hidden, model.outputs()})});
  return graph.node("Add", {linear, out});
}

// The last rule first, so that earlier ones overrule it.
std::string scores_of(OnnxGraph& graph, const std::string& codes, const RulesModel& model) {
  const auto said = [&](std::uint8_t label) { return scalar(graph, label == 1 ? 1.0 : -1.0); };
  const auto column_of = [&](std::uint32_t column) {
    return graph.node("Gather", {codes, graph.constant(std::vector<std::int64_t>{column}, {1})},
                      {OnnxGraph::number("axis", 1)});
  };
  // A tensor of one score a row, whatever the rules.
  std::string score =
      graph.node("Where", {graph.node("Less", {column_of(0), scalar(graph, std::int64_t{0})}),
                           said(model.otherwise), said(model.otherwise)});
  for (auto rule = model.rules.rbegin(); rule != model.rules.rend(); ++rule) {
    std::string all;
    for (const Literal& literal : rule->conditions) {
      const auto code = scalar(graph, std::int64_t{literal.code});
      const auto value = column_of(literal.column);
      std::string holds;
      switch (literal.test) {
        case Literal::Test::AtLeast:
          holds = graph.node("GreaterOrEqual", {value, code});
          break;
        case Literal::Test::Below:
          holds = graph.node("Less", {value, code});
          break;
        case Literal::Test::Equal:
          holds = graph.node("Equal", {value, code});
          break;
        case Literal::Test::Differs:
          holds = graph.node("Not", {graph.node("Equal", {value, code})});
          break;
      }
      all = all.empty() ? holds : graph.node("And", {all, holds});
    }
    score = all.empty() ? graph.node("Where", {graph.node("Equal", {score, score}),
                                               said(rule->label), said(rule->label)})
                        : graph.node("Where", {all, said(rule->label), score});
  }
  return score;
}

template <class Classifier>
void write(OnnxGraph& graph, const Coding& coding, const Classifier& classifier) {
  const auto scores = scores_of(graph, codes_of(graph, coding), classifier);
  const bool two = classifier.outputs() == 1;
  const std::uint32_t classes = two ? 2 : classifier.outputs();
  const auto chosen =
      two ? graph.node("Cast", {graph.node("Greater", {scores, scalar(graph, 0.0)})},
                       {OnnxGraph::number("to", 7)})
          : graph.node("ArgMax", {scores},
                       {OnnxGraph::number("axis", 1), OnnxGraph::number("keepdims", 1)});
  std::vector<std::int64_t> keys;
  Strings texts;
  for (std::uint32_t y = 0; y < classes; ++y) {
    keys.push_back(y);
    texts.push_back(coding.class_text(y < coding.classes() ? y : 0));
  }
  const auto label =
      graph.node("LabelEncoder", {chosen}, {{"keys_int64s", keys}, {"values_strings", {}, texts}},
                 "ai.onnx.ml");
  graph.output(label, "label", OnnxType::String, 1);
  graph.output(two ? graph.node("Sigmoid", {scores})
                   : graph.node("Softmax", {scores}, {OnnxGraph::number("axis", 1)}),
               "probability", OnnxType::Double, classifier.outputs());
}

void write(OnnxGraph& graph, const Coding& coding, const LinearModel& model) {
  const auto d = static_cast<std::int64_t>(model.coefficients.size());
  const auto product =
      graph.node("MatMul", {numbers_of(graph, coding), graph.constant(model.coefficients, {d, 1})});
  const auto scaled =
      graph.node("Clip", {graph.node("Add", {product, scalar(graph, model.intercept)}),
                          scalar(graph, -1.0), scalar(graph, 1.0)});
  const double middle = coding.target()->unscaled(0);
  const double half = coding.target()->unscaled(1) - middle;
  const auto value =
      graph.node("Add", {graph.node("Mul", {scaled, scalar(graph, half)}), scalar(graph, middle)});
  graph.output(value, "value", OnnxType::Double, 1);
}

void write(OnnxGraph& graph, const Coding& coding, const ClustersModel& model) {
  const auto d = static_cast<std::int64_t>(coding.features().size());
  const auto k = static_cast<std::int64_t>(model.centres.size());
  std::vector<double> centres;
  for (const auto& centre : model.centres)
    centres.insert(centres.end(), centre.begin(), centre.end());
  const auto rows = graph.node(
      "Reshape",
      {numbers_of(graph, coding), graph.constant(std::vector<std::int64_t>{-1, 1, d}, {3})});
  const auto gap = graph.node("Sub", {rows, graph.constant(centres, {1, k, d})});
  const auto squared = sum_over(graph, graph.node("Mul", {gap, gap}), 2, false);
  const auto nearest = graph.node("ArgMin", {squared},
                                  {OnnxGraph::number("axis", 1), OnnxGraph::number("keepdims", 1)});
  const auto least =
      graph.node("ReduceMin", {squared}, {{"axes", {1}}, OnnxGraph::number("keepdims", 1)});
  graph.output(nearest, "cluster", OnnxType::Int64, 1);
  graph.output(graph.node("Sqrt", {least}), "distance", OnnxType::Double, 1);
}

void write(OnnxGraph& graph, const Coding& coding, const ComponentsModel& model) {
  const std::size_t d = model.mean.size(), k = model.components.size();
  std::vector<double> matrix(d * k);
  for (std::size_t i = 0; i < k; ++i)
    for (std::size_t c = 0; c < d; ++c) matrix[c * k + i] = model.components[i][c];
  const auto wide = static_cast<std::int64_t>(d), narrow = static_cast<std::int64_t>(k);
  const auto centred =
      graph.node("Sub", {numbers_of(graph, coding), graph.constant(model.mean, {1, wide})});
  graph.output(graph.node("MatMul", {centred, graph.constant(matrix, {wide, narrow})}),
               "components", OnnxType::Double, narrow);
}

}  // namespace

std::string to_onnx(const Model& model) {
  OnnxGraph graph;
  std::visit([&](const auto& fitted) { write(graph, model.coding, fitted); }, model.fitted);
  return graph.to_bytes({{"method", model.method},
                         {"epsilon", fmt::format("{}", model.paid.epsilon.value())},
                         {"delta", fmt::format("{}", model.paid.delta.value())}});
}

}  // namespace discreet::learn
