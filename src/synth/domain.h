// Which values a column may take, and a table written in their codes.
//
// A domain is public: it comes from a file, a policy, or a private release. Nothing here looks at
// rows to find it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace discreet::synth {

/// Codes run from 0 to size - 1.
struct Attribute {
  std::string name;
  std::uint32_t size = 0;
  /// Whether neighbouring codes mean similar values; only such values are grouped by position.
  bool ordered = true;
};

inline constexpr std::uint32_t kAttributeSizeMax = 65'536;
inline constexpr std::uint64_t kCellsMax = std::uint64_t{1} << 28;

/// Positions of attributes, without repeats.
using Clique = std::vector<std::uint32_t>;

class Domain {
 public:
  /// InvalidParameter: no attributes, two of one name, an empty one, or one of more than
  /// kAttributeSizeMax values.
  static Result<Domain> make(std::vector<Attribute> attributes);
  /// {"age": 85, ...}, in the file's order. InvalidInput: anything else.
  static Result<Domain> parse(const std::string& json);

  std::size_t size() const { return attributes_.size(); }
  const Attribute& operator[](std::size_t i) const { return attributes_[i]; }
  std::span<const Attribute> attributes() const { return attributes_; }
  /// Where the attribute of this name stands. NotFound, with the nearest name.
  Result<std::uint32_t> find(const std::string& name) const;

  /// How many cells a marginal has; saturates at 2^63.
  std::uint64_t cells(std::span<const std::uint32_t> clique) const;
  /// The sum of all sizes: the width of the one-hot form.
  std::uint64_t width() const;

  /// The same attributes in the order of these names, which must all be there.
  Result<Domain> in_order_of(std::span<const std::string> names) const;

 private:
  explicit Domain(std::vector<Attribute> attributes) : attributes_(std::move(attributes)) {}
  std::vector<Attribute> attributes_;
};

/// Rows as codes, a column at a time. Every code is below its attribute's size.
struct CodedTable {
  Domain domain;
  std::vector<std::vector<std::uint16_t>> columns;

  std::size_t rows() const { return columns.empty() ? 0 : columns.front().size(); }
};

}  // namespace discreet::synth
