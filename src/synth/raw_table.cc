#include "synth/raw_table.h"

#include <fmt/format.h>

#include <set>
#include <unordered_map>

namespace discreet::synth {
namespace {

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>{}(text);
  }
};

// Reads one field at `at`; leaves `at` behind its separator. Quoted fields keep what is inside.
struct Field {
  std::string_view text;  // into the input, or into `unquoted`
  bool quoted = false;
  bool ends_row = false;
};

Field next_field(std::string_view input, std::size_t& at, std::string& unquoted) {
  Field field;
  if (at < input.size() && input[at] == '"') {
    field.quoted = true;
    unquoted.clear();
    for (++at; at < input.size(); ++at) {
      if (input[at] != '"') {
        unquoted += input[at];
      } else if (at + 1 < input.size() && input[at + 1] == '"') {
        unquoted += '"';
        ++at;
      } else {
        ++at;
        break;
      }
    }
    field.text = unquoted;
    while (at < input.size() && input[at] != ',' && input[at] != '\n') ++at;
  } else {
    const std::size_t end = std::min(input.find_first_of(",\n", at), input.size());
    field.text = input.substr(at, end - at);
    if (!field.text.empty() && field.text.back() == '\r' &&
        (end == input.size() || input[end] == '\n'))
      field.text.remove_suffix(1);
    at = end;
  }
  field.ends_row = at >= input.size() || input[at] == '\n';
  ++at;
  return field;
}

}  // namespace

struct RawColumnBuilder::State {
  RawColumn column;
  std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>> positions;
};

RawColumnBuilder::RawColumnBuilder(std::string name) : state_(std::make_unique<State>()) {
  state_->column.name = std::move(name);
}
RawColumnBuilder::RawColumnBuilder(RawColumnBuilder&&) noexcept = default;
RawColumnBuilder::~RawColumnBuilder() = default;

void RawColumnBuilder::add(std::string_view text) {
  auto found = state_->positions.find(text);
  if (found == state_->positions.end()) {
    const auto position = static_cast<std::uint32_t>(state_->column.texts.size());
    found = state_->positions.emplace(std::string(text), position).first;
    state_->column.texts.emplace_back(text);
  }
  state_->column.rows.push_back(found->second);
}

void RawColumnBuilder::add_null() {
  state_->column.rows.push_back(RawColumn::kNull);
}

RawColumn RawColumnBuilder::take() {
  return std::move(state_->column);
}

Result<RawTable> parse_csv(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // a byte order mark
  std::size_t at = 0;
  std::string unquoted;
  std::vector<RawColumnBuilder> builders;
  std::set<std::string> names;
  for (bool ended = text.empty(); !ended;) {
    const Field field = next_field(text, at, unquoted);
    if (!names.insert(std::string(field.text)).second)
      return invalid_input(fmt::format("two columns are named \"{}\"", field.text));
    builders.emplace_back(std::string(field.text));
    ended = field.ends_row;
  }
  if (builders.empty()) return invalid_input("a CSV file begins with the names of its columns");
  while (at < text.size()) {
    if (builders.size() > 1 && (text[at] == '\n' || text.substr(at).starts_with("\r\n"))) {
      at += text[at] == '\n' ? 1 : 2;  // an empty line is no row
      continue;
    }
    bool ended = false;
    for (RawColumnBuilder& builder : builders) {
      if (ended) {
        builder.add_null();
        continue;
      }
      const Field field = next_field(text, at, unquoted);
      if (field.text.empty() && !field.quoted)
        builder.add_null();
      else
        builder.add(field.text);
      ended = field.ends_row;
    }
    while (!ended) ended = next_field(text, at, unquoted).ends_row;
  }
  RawTable table;
  for (RawColumnBuilder& builder : builders) table.columns.push_back(builder.take());
  return table;
}

std::string format_csv(const RawTable& table) {
  const auto quoted = [](std::string_view text) {
    if (!text.empty() && text.find_first_of(",\"\r\n") == std::string_view::npos)
      return std::string(text);
    std::string out = "\"";
    for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
    return out + "\"";
  };
  std::string out;
  std::vector<std::vector<std::string>> fields;
  for (const RawColumn& column : table.columns) {
    out += (out.empty() ? "" : ",") + quoted(column.name);
    auto& texts = fields.emplace_back();
    for (const std::string& text : column.texts) texts.push_back(quoted(text));
  }
  out += '\n';
  for (std::size_t row = 0; row < table.rows(); ++row) {
    for (std::size_t c = 0; c < fields.size(); ++c) {
      if (c > 0) out += ',';
      const std::uint32_t at = table.columns[c].rows[row];
      if (at != RawColumn::kNull) out += fields[c][at];
    }
    out += '\n';
  }
  return out;
}

}  // namespace discreet::synth
