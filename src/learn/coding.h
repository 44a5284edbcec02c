// From the columns of a table to what trainers work on: codes and scaled numbers, by rules that are
// public before a row is read.
//
// Guarantee: the coding of one row depends on that row and on the declarations alone, so it costs
// no
//            privacy and one row of the table stays one row of the coded rows. Values that do not
//            fit go to the nearest code, or to the code for what is missing; nothing is refused
//            because of a row.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "synth/encoding.h"
#include "synth/raw_table.h"

namespace discreet::learn {

/// Code columns with more codes than this are taken as ordered: their codes are numbers.
inline constexpr std::uint32_t kNominalMax = 48;

/// One column's public coding.
class ColumnCoder {
 public:
  /// Refused: texts that only the rows know.
  static Result<ColumnCoder> make(const synth::ColumnSpec& spec);

  const synth::ColumnSpec& spec() const { return spec_; }
  const std::string& name() const { return spec_.name; }
  std::uint32_t size() const { return size_; }
  /// Whether neighbouring codes (but for the last, where it means missing) are similar values.
  bool ordered() const { return ordered_; }
  /// Whether the column has numbers at all.
  bool numeric() const { return numeric_; }

  std::vector<std::uint16_t> codes(const synth::RawColumn& raw) const;
  /// Scaled to [-1, 1] by the declared range; what is missing stands in the middle.
  std::vector<double> numbers(const synth::RawColumn& raw) const;
  /// From [-1, 1] back to the column's own unit.
  double unscaled(double scaled) const;
  double scaled(double value) const;
  /// What a code means, for people.
  std::string text_of(std::uint32_t code) const;
  bool has_missing() const { return missing_.has_value(); }
  /// Where the codes of numbers begin, rising; empty for texts.
  const std::vector<double>& starts() const { return starts_; }

 private:
  std::optional<std::uint32_t> code_of(const std::string& text) const;

  synth::ColumnSpec spec_;
  std::uint32_t size_ = 0;
  bool ordered_ = false, numeric_ = false;
  double lower_ = 0, upper_ = 1;
  std::vector<double> starts_;  // of numeric codes, rising
  std::unordered_map<std::string, std::uint16_t> known_;
  std::optional<std::uint16_t> missing_;
};

/// What is to be predicted: the codes of a column, or whether its number reaches `at_least`.
struct TargetSpec {
  synth::ColumnSpec column;
  std::optional<double> at_least;
};

class Coding {
 public:
  /// Features in the order of the specs, the target taken out. NotFound: no such target. Refused:
  /// as ColumnCoder; no features are left.
  static Result<Coding> make(std::span<const synth::ColumnSpec> specs, const std::string& target,
                             std::optional<double> at_least = std::nullopt);

  const std::vector<ColumnCoder>& features() const { return features_; }
  const std::optional<ColumnCoder>& target() const { return target_; }
  std::optional<double> at_least() const { return at_least_; }
  std::uint32_t classes() const;
  std::string class_text(std::uint32_t code) const;

 private:
  std::vector<ColumnCoder> features_;
  std::optional<ColumnCoder> target_;
  std::optional<double> at_least_;
};

/// Rows as codes, a column at a time.
struct CodedRows {
  std::vector<std::vector<std::uint16_t>> columns;
  std::vector<std::uint16_t> labels;  ///< empty where the target's column is not there
  std::size_t rows = 0;
};
/// Rows as numbers in [-1, 1], a column at a time; the target last where there is one.
struct NumericRows {
  std::vector<std::vector<double>> columns;
  std::size_t rows = 0;
};

enum class WithTarget { Yes, No };
/// NotFound: a column is not in the table.
Result<CodedRows> code_rows(const Coding& coding, const synth::RawTable& raw, WithTarget target);
Result<NumericRows> number_rows(const Coding& coding, const synth::RawTable& raw,
                                WithTarget target);

}  // namespace discreet::learn
