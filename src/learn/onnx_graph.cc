#include <bit>
#include <cstring>

#include "learn/onnx_graph_internal.h"

namespace discreet::learn {
namespace {

// Of each message, by its name in onnx.proto3.
namespace model_proto {
constexpr int kIrVersion = 1, kProducer = 2, kGraph = 7, kOperators = 8, kMetadata = 14;
}
namespace graph_proto {
constexpr int kNode = 1, kName = 2, kInitializer = 5, kInput = 11, kOutput = 12;
}
namespace node_proto {
constexpr int kInput = 1, kOutput = 2, kOperator = 4, kAttribute = 5, kDomain = 7;
}
namespace attribute_proto {
constexpr int kName = 1, kInt = 3, kInts = 8, kStrings = 9, kType = 20;
constexpr int kIsInt = 2, kIsInts = 7, kIsStrings = 8;
}  // namespace attribute_proto
namespace tensor_proto {
constexpr int kDims = 1, kType = 2, kName = 8, kRaw = 9;
}

constexpr std::int64_t kIr = 8, kOpset = 17, kMlOpset = 3;

// Little-endian, as raw_data must be.
template <class T>
std::string raw_of(const std::vector<T>& values) {
  static_assert(std::endian::native == std::endian::little);
  std::string raw(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(raw.data(), values.data(), raw.size());
  return raw;
}

}  // namespace

void ProtoMessage::varint(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) wire_ += static_cast<char>((value & 0x7f) | 0x80);
  wire_ += static_cast<char>(value);
}

void ProtoMessage::number(int field, std::int64_t value) {
  varint(static_cast<std::uint64_t>(field) << 3);
  varint(static_cast<std::uint64_t>(value));
}

void ProtoMessage::bytes(int field, std::string_view value) {
  varint(static_cast<std::uint64_t>(field) << 3 | 2);
  varint(value.size());
  wire_ += value;
}

std::string OnnxGraph::fresh() {
  return "discreet/" + std::to_string(named_++);  // columns may have any other name
}

void OnnxGraph::value(int field, const std::string& name, OnnxType type, std::int64_t columns) {
  ProtoMessage rows, width, shape, tensor, kind, info;
  rows.bytes(2, "rows");  // dim_param: any number
  width.number(1, columns);
  shape.message(1, rows);
  shape.message(1, width);
  tensor.number(1, static_cast<int>(type));
  tensor.message(2, shape);
  kind.message(1, tensor);
  info.bytes(1, name);
  info.message(2, kind);
  ends_.message(field, info);
}

std::string OnnxGraph::input(const std::string& name, OnnxType type) {
  value(graph_proto::kInput, name, type, 1);
  return name;
}

void OnnxGraph::output(const std::string& tensor, const std::string& name, OnnxType type,
                       std::int64_t columns) {
  ProtoMessage made;
  made.bytes(node_proto::kInput, tensor);
  made.bytes(node_proto::kOutput, name);
  made.bytes(node_proto::kOperator, "Identity");
  nodes_.message(graph_proto::kNode, made);
  value(graph_proto::kOutput, name, type, columns);
}

std::string OnnxGraph::initializer(ProtoMessage tensor, const std::vector<std::int64_t>& shape,
                                   OnnxType type, const std::string& raw) {
  for (const std::int64_t size : shape) tensor.number(tensor_proto::kDims, size);
  const std::string name = fresh();
  tensor.number(tensor_proto::kType, static_cast<int>(type));
  tensor.bytes(tensor_proto::kName, name);
  tensor.bytes(tensor_proto::kRaw, raw);
  tensors_.message(graph_proto::kInitializer, tensor);
  return name;
}

std::string OnnxGraph::constant(const std::vector<double>& values,
                                const std::vector<std::int64_t>& shape) {
  return initializer({}, shape, OnnxType::Double, raw_of(values));
}
std::string OnnxGraph::constant(const std::vector<std::int64_t>& values,
                                const std::vector<std::int64_t>& shape) {
  return initializer({}, shape, OnnxType::Int64, raw_of(values));
}

std::string OnnxGraph::node(const char* op, const std::vector<std::string>& inputs,
                            const std::vector<Attribute>& attributes, const char* domain) {
  ProtoMessage made;
  for (const std::string& name : inputs) made.bytes(node_proto::kInput, name);
  const std::string out = fresh();
  made.bytes(node_proto::kOutput, out);
  made.bytes(node_proto::kOperator, op);
  for (const Attribute& attribute : attributes) {
    ProtoMessage written;
    written.bytes(attribute_proto::kName, attribute.name);
    if (attribute.single) {
      written.number(attribute_proto::kInt, attribute.ints.front());
      written.number(attribute_proto::kType, attribute_proto::kIsInt);
    } else if (!attribute.strings.empty()) {
      for (const auto& text : attribute.strings) written.bytes(attribute_proto::kStrings, text);
      written.number(attribute_proto::kType, attribute_proto::kIsStrings);
    } else {
      for (const auto number : attribute.ints) written.number(attribute_proto::kInts, number);
      written.number(attribute_proto::kType, attribute_proto::kIsInts);
    }
    made.message(node_proto::kAttribute, written);
  }
  if (*domain != '\0') made.bytes(node_proto::kDomain, domain);
  nodes_.message(graph_proto::kNode, made);
  return out;
}

std::string OnnxGraph::to_bytes(
    const std::vector<std::pair<std::string, std::string>>& metadata) const {
  ProtoMessage graph;
  graph.bytes(graph_proto::kName, "discreet");
  ProtoMessage model;
  model.number(model_proto::kIrVersion, kIr);
  model.bytes(model_proto::kProducer, "discreet");
  // Fields of a message may come in any order: pieces are strung together.
  model.bytes(model_proto::kGraph, nodes_.wire() + graph.wire() + tensors_.wire() + ends_.wire());
  for (const auto& [domain, version] : {std::pair{"", kOpset}, std::pair{"ai.onnx.ml", kMlOpset}}) {
    ProtoMessage operators;
    operators.bytes(1, domain);
    operators.number(2, version);
    model.message(model_proto::kOperators, operators);
  }
  for (const auto& [key, text] : metadata) {
    ProtoMessage entry;
    entry.bytes(1, key);
    entry.bytes(2, text);
    model.message(model_proto::kMetadata, entry);
  }
  return model.wire();
}

}  // namespace discreet::learn
