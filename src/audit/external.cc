#include "audit/external.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <sys/wait.h>

#include "audit/float_grain.h"

namespace discreet {
namespace {

Error unavailable(std::string message) {
  return {ErrorCode::Unavailable, std::move(message)};
}

std::string with_values(std::string text, int side, std::uint64_t count) {
  const auto put = [&](const std::string& mark, const std::string& value) {
    for (std::size_t at; (at = text.find(mark)) != std::string::npos;)
      text.replace(at, mark.size(), value);
  };
  put("{side}", std::to_string(side));
  put("{count}", std::to_string(count));
  return text;
}

Result<std::vector<std::string>> lines_of(const std::string& command, std::uint64_t count) {
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return unavailable("The program to audit could not be started.");
  std::vector<std::string> lines;
  std::string line;
  for (int c; (c = std::fgetc(pipe)) != EOF;) {
    if (c != '\n') {
      line.push_back(static_cast<char>(c));
      continue;
    }
    lines.push_back(std::move(line));
    line.clear();
    if (lines.size() > count) break;
  }
  if (!line.empty()) lines.push_back(line);
  const int status = pclose(pipe);
  if (lines.size() > count)
    return invalid_input(
        fmt::format("The program printed more than the {} lines asked for with "
                    "{{count}}; one line must be one run.",
                    count));
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return unavailable(fmt::format("The program to audit failed: {}", command));
  if (lines.size() != count)
    return invalid_input(fmt::format("The program printed {} lines where {{count}} asked for {}.",
                                     lines.size(), count));
  return lines;
}

std::optional<double> number(const std::string& line) {
  double value = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value);
  if (error != std::errc() || end != line.data() + line.size()) return std::nullopt;
  return value;
}

struct Numbers {
  std::vector<std::int64_t> by_value, by_grain;
  bool whole = true;
};

std::optional<Numbers> numbers(const std::vector<std::string>& lines) {
  Numbers found;
  for (const std::string& line : lines) {
    const auto value = number(line);
    if (!value) return std::nullopt;
    found.by_value.push_back(ordered_bits(*value));
    found.by_grain.push_back(lowest_bit(*value));
    found.whole = found.whole && line.find_first_of(".eEnN") == std::string::npos;
  }
  return found;
}

// Lines of as many numbers each, two or more, apart by commas or spaces.
std::optional<std::vector<std::vector<double>>> rows(const std::vector<std::string>& lines) {
  std::vector<std::vector<double>> all;
  for (const std::string& line : lines) {
    std::vector<double> row;
    for (std::size_t at = 0; (at = line.find_first_not_of(", \t", at)) != std::string::npos;) {
      const std::size_t end = std::min(line.find_first_of(", \t", at), line.size());
      const auto value = number(line.substr(at, end - at));
      if (!value) return std::nullopt;
      row.push_back(*value);
      at = end;
    }
    if (row.size() < 2 || (!all.empty() && row.size() != all.front().size())) return std::nullopt;
    all.push_back(std::move(row));
  }
  return all;
}

AuditReport report(const AuditResult& found, ApproxDp claim, const std::string& look) {
  const double claimed = claim.epsilon.value();
  return {claimed, claim.delta.value(), found.lower_bound, look + found.event,
          found.lower_bound > claimed};
}

// Outputs in words. Places in order of first appearance; the order means nothing, points do.
std::vector<std::int64_t> places(const std::vector<std::string>& lines,
                                 std::map<std::string, std::int64_t>& seen) {
  std::vector<std::int64_t> keys;
  for (const std::string& line : lines)
    keys.push_back(seen.emplace(line, static_cast<std::int64_t>(seen.size())).first->second);
  return keys;
}

}  // namespace

Result<AuditReport> audit_lines(const std::vector<std::string>& first,
                                const std::vector<std::string>& second, ApproxDp claim,
                                double confidence) {
  if (first.size() < 100 || second.size() < 100)
    return invalid_input("An audit needs at least 100 runs on each data set.");
  AuditOptions options;
  options.delta = claim.delta.value();
  if (const auto one = rows(first), two = rows(second);
      one && two && one->front().size() == two->front().size()) {
    options.confidence = confidence;
    return report(audit_vectors(*one, *two, options), claim, "");
  }
  const auto one = numbers(first), two = numbers(second);
  if (!one || !two) {
    options.confidence = confidence;
    std::map<std::string, std::int64_t> seen;
    const auto a = places(first, seen), b = places(second, seen);
    return report(audit_outputs(a, b, options), claim, "line, numbered by first appearance: ");
  }
  const bool whole = one->whole && two->whole;
  options.confidence = whole ? confidence : 1 - (1 - confidence) / 2;
  const AuditReport by_value = report(audit_outputs(one->by_value, two->by_value, options), claim,
                                      "value, as ordered bits: ");
  if (whole) return by_value;
  const AuditReport by_grain = report(audit_outputs(one->by_grain, two->by_grain, options), claim,
                                      "exponent of the lowest set bit: ");
  return by_grain.lower_bound > by_value.lower_bound ? by_grain : by_value;
}

Result<AuditReport> audit_program(const std::string& command, ApproxDp claim, std::uint64_t trials,
                                  double confidence) {
  if (command.find("{side}") == std::string::npos)
    return invalid_parameter(
        "--exec needs {side} in the command: it is replaced by 0 and 1 for the "
        "two neighbouring data sets.");
  auto first = lines_of(with_values(command, 0, trials), trials);
  if (!first) return first.error();
  auto second = lines_of(with_values(command, 1, trials), trials);
  if (!second) return second.error();
  return audit_lines(*first, *second, claim, confidence);
}

}  // namespace discreet
