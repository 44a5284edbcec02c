#include <charconv>

#include "engines/spark/files_internal.h"

namespace discreet::spark {
namespace {

bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/// "8-4-4-4-12" digits of 16 at the beginning of `text`.
bool is_uuid(std::string_view text) {
  constexpr std::size_t kLength = 36;
  if (text.size() < kLength) return false;
  for (std::size_t i = 0; i < kLength; ++i) {
    const bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (is_dash ? text[i] != '-' : !is_hex(text[i])) return false;
  }
  return true;
}

/// "part-00000-<uuid>-c000.snappy.parquet"
bool is_sparks_own(std::string_view name) {
  constexpr std::string_view kPart = "part-", kParquet = ".parquet";
  if (!name.starts_with(kPart) || !name.ends_with(kParquet)) return false;
  name.remove_prefix(kPart.size());
  const std::size_t digits = name.find_first_not_of("0123456789");
  return digits != std::string_view::npos && digits > 0 && name[digits] == '-' &&
         is_uuid(name.substr(digits + 1));
}

std::optional<std::string> decoded(std::string_view text) {
  std::string made;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      made += text[i];
      continue;
    }
    unsigned value = 0;
    if (i + 2 >= text.size() ||
        std::from_chars(&text[i + 1], &text[i + 3], value, 16).ptr != &text[i + 3] || value == 0)
      return std::nullopt;
    made += static_cast<char>(value);
    i += 2;
  }
  return made;
}

}  // namespace

bool is_plain(std::string_view plan) {
  constexpr std::string_view kOptimized = "== Optimized Logical Plan ==\n";
  const std::size_t at = plan.find(kOptimized);
  if (at == std::string_view::npos) return false;
  plan.remove_prefix(at + kOptimized.size());
  // One node, the relation, and nothing above or beside it.
  const std::size_t end = plan.find('\n');
  if (end == std::string_view::npos || !plan.substr(end).starts_with("\n\n== Physical Plan ==\n"))
    return false;
  const std::string_view node = plan.substr(0, end);
  const std::size_t statistics = node.rfind(", Statistics(");
  // A list of files and no catalog of partitions, no log.
  return node.starts_with("Relation ") && statistics != std::string_view::npos &&
         node.substr(0, statistics).ends_with("] parquet") &&
         plan.find(" Location: InMemoryFileIndex(") != std::string_view::npos;
}

std::optional<std::string> local_file(std::string_view uri) {
  // "file:/a" and "file:///a"; "file://host/a" is another machine's.
  constexpr std::string_view kScheme = "file:";
  if (!uri.starts_with(kScheme)) return std::nullopt;
  uri.remove_prefix(kScheme.size());
  if (uri.starts_with("///")) uri.remove_prefix(2);
  if (!uri.starts_with("/") || uri.starts_with("//")) return std::nullopt;
  auto path = decoded(uri);
  // What a list of files would take for a pattern, or for a partition's value.
  if (!path || path->find_first_of("*?[]{}=") != std::string::npos) return std::nullopt;
  if (!is_sparks_own(std::string_view(*path).substr(path->rfind('/') + 1))) return std::nullopt;
  return path;
}

}  // namespace discreet::spark
