#include "cli/score_file.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iostream>
#include <iterator>
#include <limits>
#include <unordered_map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/saturating.h"

namespace discreet::cli {
namespace {

constexpr const char* kFix = "write one candidate a line as name,score with a plain decimal score";

// Collects candidates; refuses what cannot be a score, naming only the place.
struct Collector {
  std::vector<std::string> names;
  std::vector<Decimal> scores;
  std::unordered_map<std::string, std::string> places;

  Result<void> add(std::string name, const std::string& score, const std::string& place) {
    if (name.empty()) return invalid_input(fmt::format("{}: the name is empty; {}", place, kFix));
    const auto decimal = parse_decimal(score);
    if (!decimal)
      return invalid_input(fmt::format("{}: {}; {}", place, decimal.error().message, kFix));
    const auto [known, fresh] = places.emplace(name, place);
    if (!fresh)
      return invalid_input(fmt::format("{}: the same name as at {}; give every candidate one line",
                                       place, known->second));
    names.push_back(std::move(name));
    scores.push_back(*decimal);
    return {};
  }
};

// One line's fields; a field in double quotes may hold commas and doubled quotes.
Result<std::vector<std::string>> split_fields(const std::string& line, const std::string& place) {
  std::vector<std::string> fields{""};
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted) {
      if (c != '"') {
        fields.back() += c;
      } else if (i + 1 < line.size() && line[i + 1] == '"') {
        fields.back() += line[++i];
      } else {
        quoted = false;
      }
    } else if (c == '"' && fields.back().find_first_not_of(" \t") == std::string::npos) {
      fields.back().clear();
      quoted = true;
    } else if (c == ',') {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  if (quoted)
    return invalid_input(
        fmt::format("{}: a quoted name does not end on its line; {}", place, kFix));
  return fields;
}

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\r"), last = text.find_last_not_of(" \t\r");
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

bool has_digit(const std::string& text) {
  return std::any_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isdigit(c) != 0; });
}

Result<void> read_csv(const std::string& text, const std::string& file, Collector& out) {
  std::size_t number = 0;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const std::string line = trimmed(text.substr(start, end - start));
    start = end + 1;
    const std::string place = fmt::format("{}:{}", file, ++number);
    if (line.empty()) continue;
    DISCREET_TRY(const auto fields, split_fields(line, place));
    if (fields.size() != 2)
      return invalid_input(
          fmt::format("{}: {} fields instead of 2; {} (quote a name that has a comma)", place,
                      fields.size(), kFix));
    const std::string score = trimmed(fields[1]);
    if (number == 1 && !score.empty() && !has_digit(score) &&
        std::isalpha(static_cast<unsigned char>(score[0])) && score != "nan" && score != "inf" &&
        score != "NaN")
      continue;  // a header
    DISCREET_TRY_VOID(out.add(trimmed(fields[0]), score, place));
  }
  return {};
}

// The scores' own text is kept (number_float hands it over), because a double would round it.
class JsonReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  JsonReader(const std::string& file, const std::string& text, Collector& out)
      : file_(file), text_(text), out_(out) {}

  bool number_integer(number_integer_t value) override { return score(std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) override { return score(std::to_string(value)); }
  bool number_float(number_float_t, const string_t& raw) override { return score(raw); }
  bool string(string_t& value) override {
    if (depth_ != 2 || (in_object_ && key_ != "name") || has_name_)
      return refuse("text where a score is expected");
    name_ = value;
    has_name_ = true;
    return true;
  }
  bool key(string_t& value) override {
    key_ = value;
    if (depth_ == 1) {
      name_ = value;
      has_name_ = true;
      return true;
    }
    return value == "name" || value == "score" ? true : refuse("a key other than name and score");
  }
  bool start_object(std::size_t) override { return open(true); }
  bool start_array(std::size_t) override { return open(false); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool null() override { return refuse("null where a score is expected"); }
  bool boolean(bool) override { return refuse("true or false where a score is expected"); }
  bool binary(binary_t&) override { return refuse("binary data where a score is expected"); }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    const auto end = text_.begin() + static_cast<std::ptrdiff_t>(std::min(position, text_.size()));
    error_ = fmt::format("{}:{}: not valid JSON; check commas, quotes and brackets", file_,
                         1 + std::count(text_.begin(), end, '\n'));
    return false;
  }

  Error error() const { return invalid_input(error_); }

 private:
  bool open(bool object) {
    if (depth_ == 1 && outer_object_) return refuse("a nested value where a score is expected");
    if (depth_ == 2) return refuse("values nested too deeply");
    if (depth_ == 0)
      outer_object_ = object;
    else
      in_object_ = object;
    ++depth_;
    if (depth_ == 2) has_name_ = has_score_ = false;
    return true;
  }
  bool close() {
    if (--depth_ == 0) return true;
    if (!has_name_ || !has_score_) return refuse("an entry without both a name and a score");
    return add(name_, score_);
  }
  bool score(const std::string& text) {
    if (depth_ == 1)
      return outer_object_ ? add(name_, text) : add(std::to_string(out_.names.size()), text);
    if (depth_ != 2 || has_score_ || (in_object_ ? key_ != "score" : !has_name_))
      return refuse("a number where a name is expected");
    score_ = text;
    has_score_ = true;
    return true;
  }
  std::string place() const { return fmt::format("{}: entry {}", file_, out_.names.size() + 1); }
  bool add(const std::string& name, const std::string& text) {
    const auto added = out_.add(name, text, place());
    if (!added) error_ = added.error().message;
    return added.has_value();
  }
  bool refuse(const char* what) {
    error_ = fmt::format("{}: {}; use {{\"name\": score}} or [[\"name\", score]]", place(), what);
    return false;
  }

  const std::string& file_;
  const std::string& text_;
  Collector& out_;
  std::string name_, score_, key_, error_;
  int depth_ = 0;
  bool outer_object_ = false, in_object_ = false, has_name_ = false, has_score_ = false;
};

Result<std::string> slurp(const std::string& file) {
  if (file == "-") return std::string(std::istreambuf_iterator<char>(std::cin), {});
  std::ifstream stream(file, std::ios::binary);
  if (!stream)
    return Error{ErrorCode::NotFound,
                 fmt::format("{}: cannot be read; check the name and its permissions", file)};
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

// digits * 10^(exponent + decimals), if that is an int64.
Result<std::int64_t> scaled(const Decimal& value, int decimals) {
  Int128 result = value.digits;
  for (int i = 0; i < value.exponent + decimals && result != 0; ++i) {
    result *= 10;
    if (saturate(result) != result)
      return invalid_input(
          "the scores span more digits than 64-bit numbers hold; round them to fewer decimals or "
          "use another unit");
  }
  return static_cast<std::int64_t>(result);
}

}  // namespace

Result<Decimal> parse_decimal(const std::string& text) {
  const Error refused =
      invalid_input("the score is not a plain finite decimal number of at most 18 digits");
  std::size_t at = 0;
  const bool negative = !text.empty() && text[0] == '-';
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) ++at;
  Decimal value;
  int digits = 0, significant = 0;
  bool point = false;
  for (;
       at < text.size() && (text[at] == '.' || std::isdigit(static_cast<unsigned char>(text[at])));
       ++at) {
    if (text[at] == '.') {
      if (point) return refused;
      point = true;
      continue;
    }
    ++digits;
    significant += significant > 0 || text[at] != '0' ? 1 : 0;
    if (significant > 18) return refused;
    value.digits = value.digits * 10 + (text[at] - '0');
    value.exponent -= point ? 1 : 0;
  }
  if (digits == 0 || digits > 1000) return refused;
  if (at < text.size()) {
    if (text[at] != 'e' && text[at] != 'E') return refused;
    ++at;
    const bool down = at < text.size() && text[at] == '-';
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
    if (at == text.size() || text.size() - at > 4) return refused;
    int power = 0;
    for (; at < text.size(); ++at) {
      if (!std::isdigit(static_cast<unsigned char>(text[at]))) return refused;
      power = power * 10 + (text[at] - '0');
    }
    value.exponent += down ? -power : power;
  }
  if (value.digits == 0) return Decimal{};
  for (; value.digits % 10 == 0; value.digits /= 10) ++value.exponent;
  if (negative) value.digits = -value.digits;
  return value;
}

Result<ScoreList> read_scores(const std::string& file, const Decimal& sensitivity) {
  DISCREET_TRY(std::string text, slurp(file));
  const std::string shown = file == "-" ? "standard input" : file;
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  Collector collected;
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && (text[first] == '{' || text[first] == '[')) {
    JsonReader reader(shown, text, collected);
    if (!nlohmann::json::sax_parse(text, &reader)) return reader.error();
  } else {
    DISCREET_TRY_VOID(read_csv(text, shown, collected));
  }
  if (collected.names.empty())
    return invalid_input(fmt::format("{}: there is nothing to choose from; {}", shown, kFix));

  ScoreList list;
  int least = std::min(0, sensitivity.exponent);
  for (const Decimal& score : collected.scores) least = std::min(least, score.exponent);
  if (least < -300)
    return invalid_input(fmt::format("{}: more than 300 decimals; use a larger unit", shown));
  list.decimals = -least;
  DISCREET_TRY(list.sensitivity, scaled(sensitivity, list.decimals));
  for (const Decimal& score : collected.scores) {
    DISCREET_TRY(const std::int64_t units, scaled(score, list.decimals));
    list.scores.push_back(units);
  }
  list.names = std::move(collected.names);
  return list;
}

}  // namespace discreet::cli
