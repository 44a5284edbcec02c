// ONNX's file format, as much of it as our models need: protobuf messages written by hand.
//
// Field numbers are those of onnx.proto3, IR version 8
// (https://github.com/onnx/onnx/blob/main/docs/IR.md); operators are of operator set 17, and
// ai.onnx.ml 3.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace discreet::learn {

/// A protobuf message under construction.
class ProtoMessage {
 public:
  void number(int field, std::int64_t value);
  void bytes(int field, std::string_view value);
  void message(int field, const ProtoMessage& value) { bytes(field, value.wire_); }
  const std::string& wire() const { return wire_; }

 private:
  void varint(std::uint64_t value);
  std::string wire_;
};

enum class OnnxType : int { Int64 = 7, String = 8, Double = 11 };

/// One graph: rows come in, one tensor of shape [rows, 1] a column. Every method returns the name
/// of the tensor it makes.
class OnnxGraph {
 public:
  struct Attribute {
    std::string name;
    std::vector<std::int64_t> ints{};
    std::vector<std::string> strings{};
    bool single = false;  ///< one whole number instead of a list
  };
  static Attribute number(std::string name, std::int64_t value) {
    return {std::move(name), {value}, {}, true};
  }

  std::string input(const std::string& name, OnnxType type);
  /// Renames a tensor for the outside.
  void output(const std::string& tensor, const std::string& name, OnnxType type,
              std::int64_t columns);

  std::string constant(const std::vector<double>& values, const std::vector<std::int64_t>& shape);
  std::string constant(const std::vector<std::int64_t>& values,
                       const std::vector<std::int64_t>& shape);
  std::string node(const char* op, const std::vector<std::string>& inputs,
                   const std::vector<Attribute>& attributes = {}, const char* domain = "");

  std::string to_bytes(const std::vector<std::pair<std::string, std::string>>& metadata) const;

 private:
  std::string initializer(ProtoMessage tensor, const std::vector<std::int64_t>& shape,
                          OnnxType type, const std::string& raw);
  void value(int field, const std::string& name, OnnxType type, std::int64_t columns);
  std::string fresh();

  ProtoMessage nodes_, tensors_, ends_;
  std::uint64_t named_ = 0;
};

}  // namespace discreet::learn
