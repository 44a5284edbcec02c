#include "synth/encoding.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "base/parse_number.h"
#include "mechanisms/partition_selection.h"
#include "mechanisms/quantiles.h"

namespace discreet::synth {
namespace {

constexpr std::int64_t kSingleValuesMax = 256;  // wider ranges are cut into bins
constexpr int kBins = 32;
constexpr double kStepsMax = 1 << 30;

std::int64_t steps_of(const NumberColumn& numbers) {
  return static_cast<std::int64_t>(
      std::floor((numbers.upper - numbers.lower) / numbers.step + 1e-9));
}

// The text as steps from lower, moved into the range; nothing when it is no number.
std::optional<std::int64_t> to_steps(const std::string& text, const NumberColumn& numbers) {
  double value = 0;
  if (numbers.date) {
    const auto days = parse_date(text);
    if (!days) return std::nullopt;
    value = static_cast<double>(*days);
  } else {
    const auto parsed = parse_number(text, "value");
    if (!parsed) return std::nullopt;
    value = *parsed;
  }
  const double clamped = std::clamp(value, numbers.lower, numbers.upper);
  const double steps = std::floor((clamped - numbers.lower) / numbers.step + 0.5);
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(steps), 0, steps_of(numbers));
}

// A spec whose bins are known: texts of a column to codes.
std::uint16_t code_of_steps(const ColumnCodec& codec, std::int64_t steps) {
  const auto first = std::partition_point(
      codec.bins.begin(), codec.bins.end(),
      [&](const ColumnCodec::Bin& bin) { return bin.is_number && bin.high < steps; });
  return static_cast<std::uint16_t>(first - codec.bins.begin());
}

std::vector<std::uint16_t> encode_column(const RawColumn& raw, const ColumnCodec& codec,
                                         bool numbers) {
  std::unordered_map<std::string, std::uint16_t> known;
  std::uint16_t fallback = 0;  // NULL where the column has it, else the first code
  for (std::size_t i = 0; i < codec.bins.size(); ++i) {
    if (codec.bins[i].is_null) fallback = static_cast<std::uint16_t>(i);
    if (!codec.bins[i].is_number) known.emplace(codec.bins[i].text, static_cast<std::uint16_t>(i));
  }
  std::vector<std::uint16_t> codes(raw.texts.size(), fallback);
  for (std::size_t i = 0; i < raw.texts.size(); ++i) {
    if (numbers) {
      if (const auto steps = to_steps(raw.texts[i], codec.numbers))
        codes[i] = code_of_steps(codec, *steps);
    } else if (const auto found = known.find(raw.texts[i]); found != known.end()) {
      codes[i] = found->second;
    }
  }
  std::vector<std::uint16_t> column(raw.rows.size());
  for (std::size_t row = 0; row < column.size(); ++row)
    column[row] = raw.rows[row] == RawColumn::kNull ? fallback : codes[raw.rows[row]];
  return column;
}

// Edges between private quantiles; a value that several quantiles hit becomes a bin of its own.
Result<std::vector<ColumnCodec::Bin>> find_bins(const RawColumn& raw, const NumberColumn& numbers,
                                                Epsilon epsilon, RandomSource& random) {
  const std::int64_t top = steps_of(numbers);
  std::vector<double> wanted;
  for (int i = 1; i < kBins; ++i) wanted.push_back(static_cast<double>(i) / kBins);
  DISCREET_TRY(const Quantiles quantiles,
               Quantiles::make(epsilon, wanted, {.lower = 0, .upper = top}));
  std::vector<std::optional<std::int64_t>> steps;
  for (const std::string& text : raw.texts) steps.push_back(to_steps(text, numbers));
  std::vector<std::int64_t> values;
  for (const std::uint32_t row : raw.rows)
    if (row != RawColumn::kNull && steps[row]) values.push_back(*steps[row]);
  const auto cuts = quantiles.release(values, random);
  std::vector<std::int64_t> starts{0};
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    starts.push_back(cuts[i]);
    if (i > 0 && cuts[i] == cuts[i - 1]) starts.push_back(cuts[i] + 1);
  }
  std::sort(starts.begin(), starts.end());
  starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
  std::erase_if(starts, [&](std::int64_t start) { return start > top; });
  std::vector<ColumnCodec::Bin> bins;
  for (std::size_t i = 0; i < starts.size(); ++i)
    bins.push_back({"", starts[i], i + 1 < starts.size() ? starts[i + 1] - 1 : top, false, true});
  return bins;
}

Result<std::vector<ColumnCodec::Bin>> find_keys(const RawColumn& raw, ApproxDp budget,
                                                RandomSource& random) {
  DISCREET_TRY(const auto selection, PartitionSelection::make(budget, {}));
  std::vector<std::uint64_t> counts(raw.texts.size(), 0);
  for (const std::uint32_t row : raw.rows)
    if (row != RawColumn::kNull) ++counts[row];
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (selection.keep(counts[i], random)) kept.push_back(raw.texts[i]);
  std::sort(kept.begin(), kept.end());  // not the rows' order, which is theirs
  if (kept.size() >= kAttributeSizeMax) kept.resize(kAttributeSizeMax - 1);
  std::vector<ColumnCodec::Bin> bins;
  for (std::string& key : kept) bins.push_back({std::move(key)});
  return bins;
}

bool needs_bins(const NumberColumn& numbers) {
  return steps_of(numbers) >= kSingleValuesMax;
}

const RawColumn* column_of(const RawTable& raw, const std::string& name) {
  for (const RawColumn& column : raw.columns)
    if (column.name == name) return &column;
  return nullptr;
}

Result<NumberColumn> parse_range(const std::string& name, const nlohmann::ordered_json& entry) {
  const auto& range = entry["range"];
  const auto wrong = [&] {
    return invalid_input(
        fmt::format("the range of \"{}\" must be [lower, upper], two numbers or two dates", name));
  };
  if (!range.is_array() || range.size() != 2) return wrong();
  NumberColumn numbers{0, 0};
  if (range[0].is_string() && range[1].is_string()) {
    DISCREET_TRY(const std::int64_t lower, parse_date(range[0].get<std::string>()));
    DISCREET_TRY(const std::int64_t upper, parse_date(range[1].get<std::string>()));
    numbers = {static_cast<double>(lower), static_cast<double>(upper), 1, true};
  } else if (range[0].is_number() && range[1].is_number()) {
    numbers = {range[0].get<double>(), range[1].get<double>()};
    if (!range[0].is_number_integer() || !range[1].is_number_integer())
      numbers.step = (numbers.upper - numbers.lower) / 1e6;
    if (entry.contains("step") && entry["step"].is_number())
      numbers.step = entry["step"].get<double>();
  } else {
    return wrong();
  }
  if (!(numbers.lower <= numbers.upper) || !(numbers.step > 0) ||
      !((numbers.upper - numbers.lower) / numbers.step < kStepsMax))
    return invalid_input(
        fmt::format("the range of \"{}\" must rise and hold at most 2^30 steps", name));
  return numbers;
}

}  // namespace

Result<std::int64_t> parse_date(const std::string& text) {
  int year = 0, month = 0, day = 0, used = 0;
  if (text.size() < 8 ||
      std::sscanf(text.c_str(), "%4d-%2d-%2d%n", &year, &month, &day, &used) != 3 ||
      static_cast<std::size_t>(used) != text.size() || month < 1 || month > 12 || day < 1 ||
      day > 31)
    return invalid_input("a date is written YYYY-MM-DD");
  // Days from the civil calendar (the usual formula with years that begin in March).
  const std::int64_t y = year - (month <= 2 ? 1 : 0);
  const std::int64_t era = (y >= 0 ? y : y - 399) / 400;
  const std::int64_t of_era = y - era * 400;
  const std::int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

std::string format_date(std::int64_t days) {
  const std::int64_t z = days + 719468;
  const std::int64_t era = (z >= 0 ? z : z - 146096) / 146097;
  const std::int64_t of_era = z - era * 146097;
  const std::int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  const std::int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
  const std::int64_t shifted = (5 * of_year + 2) / 153;
  const std::int64_t day = of_year - (153 * shifted + 2) / 5 + 1;
  const std::int64_t month = shifted < 10 ? shifted + 3 : shifted - 9;
  return fmt::format("{:04}-{:02}-{:02}", year + era * 400 + (month <= 2 ? 1 : 0), month, day);
}

Result<std::vector<ColumnSpec>> parse_specs(const std::string& json) {
  const auto parsed = nlohmann::ordered_json::parse(json, nullptr, false);
  if (!parsed.is_object() || parsed.empty())
    return invalid_input(
        "a domain file is one JSON object from column names to numbers of values, for example "
        "{\"age\": 85, \"sex\": 2}, or to what they may hold: {\"ward\": {\"values\": [\"ICU\"]}}");
  std::vector<ColumnSpec> specs;
  for (const auto& [name, entry] : parsed.items()) {
    ColumnSpec spec{name, KeyColumn{}};
    if (entry.is_number_unsigned() && entry.get<std::uint64_t>() >= 1 &&
        entry.get<std::uint64_t>() <= kAttributeSizeMax) {
      spec.kind = CodeColumn{entry.get<std::uint32_t>()};
    } else if (entry.is_object() && entry.contains("values")) {
      ValueColumn values;
      if (!entry["values"].is_array() || entry["values"].empty() ||
          entry["values"].size() >= kAttributeSizeMax)
        return invalid_input(fmt::format("\"values\" of \"{}\" must be a list", name));
      for (const auto& value : entry["values"])
        values.values.push_back(value.is_string() ? value.get<std::string>() : value.dump());
      values.ordered = entry.value("ordered", false);
      spec.kind = std::move(values);
    } else if (entry.is_object() && entry.contains("range")) {
      DISCREET_TRY(spec.kind, parse_range(name, entry));
    } else if (!entry.is_object()) {
      return invalid_input(fmt::format(
          "the domain's \"{}\" must be a whole number of values from 1 to {}, or an object with "
          "\"values\" or \"range\"",
          name, kAttributeSizeMax));
    }
    if (entry.is_object() && entry.contains("nullable") && entry["nullable"].is_boolean())
      spec.nullable = entry["nullable"].get<bool>();
    specs.push_back(std::move(spec));
  }
  return specs;
}

std::optional<std::string> ColumnCodec::decode(std::uint16_t code, Dice& dice) const {
  const Bin& bin = bins[code];
  if (bin.is_null) return std::nullopt;
  if (!bin.is_number) return bin.text;
  const std::int64_t steps =
      bin.low +
      static_cast<std::int64_t>(dice.below(static_cast<std::uint64_t>(bin.high - bin.low + 1)));
  const double value = numbers.lower + static_cast<double>(steps) * numbers.step;
  if (numbers.date) return format_date(static_cast<std::int64_t>(std::llround(value)));
  if (numbers.step == std::floor(numbers.step) && numbers.lower == std::floor(numbers.lower))
    return fmt::format("{}", static_cast<std::int64_t>(std::llround(value)));
  return fmt::format("{:.9g}", value);
}

std::size_t columns_to_find(std::span<const ColumnSpec> specs) {
  return static_cast<std::size_t>(std::count_if(specs.begin(), specs.end(), [](const auto& spec) {
    const auto* numbers = std::get_if<NumberColumn>(&spec.kind);
    return std::holds_alternative<KeyColumn>(spec.kind) ||
           (numbers != nullptr && needs_bins(*numbers));
  }));
}

Result<EncodedTable> encode(const RawTable& raw, std::span<const ColumnSpec> specs, ApproxDp budget,
                            RandomSource& random) {
  const auto parts = static_cast<std::uint64_t>(std::max<std::size_t>(1, columns_to_find(specs)));
  const auto keys = std::max<std::ptrdiff_t>(
      1, std::count_if(specs.begin(), specs.end(), [](const ColumnSpec& spec) {
        return std::holds_alternative<KeyColumn>(spec.kind);
      }));
  DISCREET_TRY(const Delta delta,
               Delta::make(div_down(budget.delta.value(), static_cast<double>(keys))));
  const ApproxDp share{budget.epsilon.share(parts), delta};
  std::vector<ColumnCodec> codecs;
  std::vector<Attribute> attributes;
  std::vector<std::vector<std::uint16_t>> columns;
  for (const ColumnSpec& spec : specs) {
    const RawColumn* column = column_of(raw, spec.name);
    if (column == nullptr)
      return Error{
          ErrorCode::NotFound,
          fmt::format("the table has no column \"{}\", which the domain names", spec.name)};
    ColumnCodec codec{spec.name, {}, {0, 0}};
    bool nullable = spec.nullable, is_numeric = false, ordered = false;
    if (const auto* codes = std::get_if<CodeColumn>(&spec.kind)) {
      codec.numbers = {0, static_cast<double>(codes->size - 1)};
      for (std::uint32_t i = 0; i < codes->size; ++i) codec.bins.push_back({"", i, i, false, true});
      nullable = false;
      is_numeric = ordered = true;
    } else if (const auto* values = std::get_if<ValueColumn>(&spec.kind)) {
      for (const std::string& value : values->values) codec.bins.push_back({value});
      ordered = values->ordered;
    } else if (const auto* numbers = std::get_if<NumberColumn>(&spec.kind)) {
      codec.numbers = *numbers;
      if (needs_bins(*numbers)) {
        DISCREET_TRY(codec.bins, find_bins(*column, *numbers, share.epsilon, random));
      } else {
        for (std::int64_t i = 0; i <= steps_of(*numbers); ++i)
          codec.bins.push_back({"", i, i, false, true});
      }
      is_numeric = ordered = true;
    } else {
      DISCREET_TRY(codec.bins, find_keys(*column, share, random));
      nullable = true;  // keys that were not kept go there
    }
    if (nullable) codec.bins.push_back({"", 0, 0, true, false});
    attributes.push_back({spec.name, static_cast<std::uint32_t>(codec.bins.size()), ordered});
    columns.push_back(encode_column(*column, codec, is_numeric));
    codecs.push_back(std::move(codec));
  }
  DISCREET_TRY(Domain domain, Domain::make(std::move(attributes)));
  return EncodedTable{{std::move(domain), std::move(columns)}, std::move(codecs)};
}

Result<CodedTable> encode_with(const RawTable& raw, const EncodedTable& known) {
  CodedTable table{known.table.domain, {}};
  for (const ColumnCodec& codec : known.codecs) {
    const RawColumn* column = column_of(raw, codec.name);
    if (column == nullptr)
      return Error{ErrorCode::NotFound, fmt::format("there is no column \"{}\"", codec.name)};
    table.columns.push_back(encode_column(*column, codec, codec.bins.front().is_number));
  }
  return table;
}

RawTable decode(const CodedTable& table, std::span<const ColumnCodec> codecs, Dice& dice) {
  RawTable raw;
  for (std::size_t c = 0; c < codecs.size(); ++c) {
    RawColumnBuilder builder(codecs[c].name);
    for (const std::uint16_t code : table.columns[c]) {
      if (const auto text = codecs[c].decode(code, dice))
        builder.add(*text);
      else
        builder.add_null();
    }
    raw.columns.push_back(builder.take());
  }
  return raw;
}

}  // namespace discreet::synth
