#include "learn/coding.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/parse_number.h"

namespace discreet::learn {
namespace {

constexpr double kSingleValuesMax = 256;  // wider ranges get edges
constexpr int kEvenEdges = 192;
constexpr double kEdgeRatio = 1.189207115002721;  // 2^(1/4)

std::optional<double> number_of(const std::string& text, bool date) {
  if (date) {
    const auto days = synth::parse_date(text);
    if (!days) return std::nullopt;
    return static_cast<double>(*days);
  }
  const auto parsed = parse_number(text, "value");
  if (!parsed || !std::isfinite(*parsed)) return std::nullopt;
  return *parsed;
}

// Where codes of a range begin: every step of a short range; else even steps, and steps that grow
// with the distance from zero (or from the lower end), because long ranges are often skewed.
std::vector<double> starts_of(const synth::NumberColumn& numbers) {
  const double span = numbers.upper - numbers.lower;
  std::vector<double> starts{numbers.lower};
  if (span / numbers.step < kSingleValuesMax) {
    for (int i = 1; numbers.lower + i * numbers.step <= numbers.upper + 1e-9 * span; ++i)
      starts.push_back(numbers.lower + i * numbers.step);
    return starts;
  }
  for (int i = 1; i < kEvenEdges; ++i) starts.push_back(numbers.lower + span * i / kEvenEdges);
  const double origin = numbers.lower < 0 && numbers.upper > 0 ? 0 : numbers.lower;
  for (double distance = std::fmax(numbers.step, span * 1e-6); distance < span;
       distance *= kEdgeRatio) {
    starts.push_back(origin + distance);
    starts.push_back(origin - distance);
  }
  std::erase_if(starts, [&](double s) { return s < numbers.lower || s > numbers.upper; });
  std::sort(starts.begin(), starts.end());
  starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
  return starts;
}

const synth::RawColumn* column_of(const synth::RawTable& raw, const std::string& name) {
  for (const auto& column : raw.columns)
    if (column.name == name) return &column;
  return nullptr;
}

Error missing_column(const std::string& name) {
  return Error{ErrorCode::NotFound,
               fmt::format("the table has no column \"{}\", which the model needs", name)};
}

}  // namespace

Result<ColumnCoder> ColumnCoder::make(const synth::ColumnSpec& spec) {
  ColumnCoder coder;
  coder.spec_ = spec;
  bool nullable = spec.nullable;
  if (const auto* codes = std::get_if<synth::CodeColumn>(&spec.kind)) {
    for (std::uint32_t i = 0; i < codes->size; ++i) coder.starts_.push_back(i);
    coder.upper_ = std::max(1u, codes->size - 1);
    coder.ordered_ = codes->size > kNominalMax;
    coder.numeric_ = true;
    nullable = false;  // as in synth: what is missing counts as 0
  } else if (const auto* values = std::get_if<synth::ValueColumn>(&spec.kind)) {
    for (std::size_t i = 0; i < values->values.size(); ++i)
      coder.known_.emplace(values->values[i], static_cast<std::uint16_t>(i));
    coder.ordered_ = values->ordered;
    coder.upper_ = std::max<double>(1, static_cast<double>(values->values.size()) - 1);
  } else if (const auto* numbers = std::get_if<synth::NumberColumn>(&spec.kind)) {
    coder.starts_ = starts_of(*numbers);
    coder.lower_ = numbers->lower;
    coder.upper_ = numbers->upper > numbers->lower ? numbers->upper : numbers->lower + 1;
    coder.ordered_ = coder.numeric_ = true;
  } else {
    return Error{ErrorCode::Refused,
                 fmt::format("column \"{}\" has no declared values; give it \"values\" or a "
                             "\"range\" in the domain, or leave it out: reading its values from "
                             "rows would give people away",
                             spec.name)};
  }
  const auto* values = std::get_if<synth::ValueColumn>(&spec.kind);
  coder.size_ = static_cast<std::uint32_t>(values ? values->values.size() : coder.starts_.size());
  if (nullable) coder.missing_ = static_cast<std::uint16_t>(coder.size_++);
  return coder;
}

std::optional<std::uint32_t> ColumnCoder::code_of(const std::string& text) const {
  if (!numeric_) {
    const auto found = known_.find(text);
    if (found == known_.end()) return std::nullopt;
    return found->second;
  }
  const auto* range = std::get_if<synth::NumberColumn>(&spec_.kind);
  const auto value = number_of(text, range != nullptr && range->date);
  if (!value) return std::nullopt;
  // The last start at or below the value; half a thousandth of a step forgives decimal fractions.
  const double step = range != nullptr ? range->step : 1;
  const auto next = std::upper_bound(starts_.begin(), starts_.end(), *value + 5e-4 * step);
  return next == starts_.begin() ? 0u : static_cast<std::uint32_t>(next - starts_.begin() - 1);
}

std::vector<std::uint16_t> ColumnCoder::codes(const synth::RawColumn& raw) const {
  const std::uint16_t fallback = missing_.value_or(0);
  std::vector<std::uint16_t> of_text(raw.texts.size(), fallback);
  for (std::size_t i = 0; i < raw.texts.size(); ++i)
    if (const auto code = code_of(raw.texts[i])) of_text[i] = static_cast<std::uint16_t>(*code);
  std::vector<std::uint16_t> codes(raw.rows.size(), fallback);
  for (std::size_t row = 0; row < codes.size(); ++row)
    if (raw.rows[row] != synth::RawColumn::kNull) codes[row] = of_text[raw.rows[row]];
  return codes;
}

double ColumnCoder::scaled(double value) const {
  const double inside = std::clamp(value, lower_, upper_);
  return std::clamp(2 * (inside - lower_) / (upper_ - lower_) - 1, -1.0, 1.0);
}

double ColumnCoder::unscaled(double scaled) const {
  return lower_ + (scaled + 1) / 2 * (upper_ - lower_);
}

std::vector<double> ColumnCoder::numbers(const synth::RawColumn& raw) const {
  const auto* range = std::get_if<synth::NumberColumn>(&spec_.kind);
  const double fallback = std::holds_alternative<synth::CodeColumn>(spec_.kind) ? -1 : 0;
  std::vector<double> of_text(raw.texts.size(), fallback);
  for (std::size_t i = 0; i < raw.texts.size(); ++i) {
    if (numeric_) {
      if (const auto value = number_of(raw.texts[i], range != nullptr && range->date))
        of_text[i] = scaled(*value);
    } else if (const auto code = code_of(raw.texts[i])) {
      of_text[i] = scaled(*code);
    }
  }
  std::vector<double> numbers(raw.rows.size(), fallback);
  for (std::size_t row = 0; row < numbers.size(); ++row)
    if (raw.rows[row] != synth::RawColumn::kNull) numbers[row] = of_text[raw.rows[row]];
  return numbers;
}

std::string ColumnCoder::text_of(std::uint32_t code) const {
  if (missing_ && code == *missing_) return "";
  if (const auto* values = std::get_if<synth::ValueColumn>(&spec_.kind))
    return values->values[code];
  const auto* range = std::get_if<synth::NumberColumn>(&spec_.kind);
  if (range != nullptr && range->date)
    return synth::format_date(static_cast<std::int64_t>(starts_[code]));
  return fmt::format("{:.12g}", starts_[code]);
}

Result<Coding> Coding::make(std::span<const synth::ColumnSpec> specs, const std::string& target,
                            std::optional<double> at_least) {
  Coding coding;
  for (synth::ColumnSpec spec : specs) {
    // A missing label counts as the first value: it is not a class of its own.
    if (spec.name == target) spec.nullable = false;
    DISCREET_TRY(ColumnCoder coder, ColumnCoder::make(spec));
    if (spec.name == target)
      coding.target_ = std::move(coder);
    else
      coding.features_.push_back(std::move(coder));
  }
  if (!target.empty() && !coding.target_)
    return Error{ErrorCode::NotFound,
                 fmt::format("the domain has no column \"{}\" to predict", target)};
  if (coding.features_.empty())
    return Error{ErrorCode::Refused, "there is no column to learn from"};
  if (at_least && (!coding.target_ || !coding.target_->numeric()))
    return invalid_parameter("--at-least needs a target whose values are numbers");
  coding.at_least_ = at_least;
  return coding;
}

std::uint32_t Coding::classes() const {
  if (at_least_) return 2;
  return target_ ? target_->size() : 0;
}

std::string Coding::class_text(std::uint32_t code) const {
  if (at_least_) return code == 0 ? "0" : "1";
  return target_->text_of(code);
}

Result<CodedRows> code_rows(const Coding& coding, const synth::RawTable& raw, WithTarget target) {
  CodedRows rows;
  rows.rows = raw.rows();
  for (const ColumnCoder& feature : coding.features()) {
    const auto* column = column_of(raw, feature.name());
    if (column == nullptr) return missing_column(feature.name());
    rows.columns.push_back(feature.codes(*column));
  }
  if (target == WithTarget::No || !coding.target()) return rows;
  const auto* column = column_of(raw, coding.target()->name());
  if (column == nullptr) return missing_column(coding.target()->name());
  if (!coding.at_least()) {
    rows.labels = coding.target()->codes(*column);
    return rows;
  }
  const double cut = coding.target()->scaled(*coding.at_least());
  for (const double number : coding.target()->numbers(*column))
    rows.labels.push_back(number >= cut - 1e-12 ? 1 : 0);
  return rows;
}

Result<NumericRows> number_rows(const Coding& coding, const synth::RawTable& raw,
                                WithTarget target) {
  NumericRows rows;
  rows.rows = raw.rows();
  for (const ColumnCoder& feature : coding.features()) {
    const auto* column = column_of(raw, feature.name());
    if (column == nullptr) return missing_column(feature.name());
    rows.columns.push_back(feature.numbers(*column));
  }
  if (target == WithTarget::No || !coding.target()) return rows;
  const auto* column = column_of(raw, coding.target()->name());
  if (column == nullptr) return missing_column(coding.target()->name());
  rows.columns.push_back(coding.target()->numbers(*column));
  return rows;
}

}  // namespace discreet::learn
