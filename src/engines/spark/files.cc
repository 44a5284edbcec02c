#include "engines/spark/files_internal.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace discreet::spark {
namespace {

/// What Spark calls the folder of rows that have no value.
constexpr std::string_view kNoValue = "__HIVE_DEFAULT_PARTITION__";

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

Layout layout_of(std::string_view plan) {
  constexpr std::string_view kOptimized = "== Optimized Logical Plan ==\n";
  const std::size_t at = plan.find(kOptimized);
  if (at == std::string_view::npos) return Layout::Other;
  plan.remove_prefix(at + kOptimized.size());
  // One node, the relation, and nothing above or beside it.
  const std::size_t end = plan.find('\n');
  if (end == std::string_view::npos || !plan.substr(end).starts_with("\n\n== Physical Plan ==\n"))
    return Layout::Other;
  const std::string_view node = plan.substr(0, end);
  const std::size_t statistics = node.rfind(", Statistics(");
  if (!node.starts_with("Relation ") || statistics == std::string_view::npos ||
      !node.substr(0, statistics).ends_with("] parquet"))
    return Layout::Other;
  // A list of files, or the catalog's of partitions; no log.
  const auto lies_in = [&](const char* index) {
    return plan.find(fmt::format(" Location: {}(", index)) != std::string_view::npos;
  };
  return lies_in("InMemoryFileIndex")  ? Layout::Files
         : lies_in("CatalogFileIndex") ? Layout::Partitions
                                       : Layout::Other;
}

std::optional<OwnFile> own_file(std::string_view uri) {
  // "file:/a", "file:///a", "s3a://bucket/a"; "file://host/a" is another machine's.
  const std::size_t colon = uri.find(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  const std::string_view scheme = uri.substr(0, colon);
  std::string_view rest = uri.substr(colon + 1), authority;
  if (rest.starts_with("//")) {
    authority = rest.substr(2, rest.find('/', 2) - 2);
    rest.remove_prefix(std::min(rest.size(), 2 + authority.size()));
  }
  if (!rest.starts_with("/") || rest.starts_with("//")) return std::nullopt;
  auto path = decoded(rest);
  // What a list of files would take for a pattern.
  if (!path || path->find_first_of("*?[]{}") != std::string::npos) return std::nullopt;
  std::string_view folder(*path);
  const auto last = [&] { return folder.substr(folder.rfind('/') + 1); };
  const auto leave = [&] { folder = folder.substr(0, folder.rfind('/')); };
  if (!is_sparks_own(last())) return std::nullopt;
  OwnFile file;
  for (leave(); last().find('=') != std::string_view::npos; leave()) {
    const std::size_t equals = last().find('=');
    auto column = decoded(last().substr(0, equals)), value = decoded(last().substr(equals + 1));
    if (!column || !value) return std::nullopt;
    if (*value == kNoValue) value.reset();
    file.partition.emplace(file.partition.begin(), *std::move(column), std::move(value));
  }
  file.root = folder;
  if (file.root.find('=') != std::string::npos) return std::nullopt;
  file.location = fmt::format("{}:{}{}{}", scheme, authority.empty() ? "" : "//", authority, *path);
  file.path = *std::move(path);
  file.is_local = scheme == "file" && authority.empty();
  return file;
}

namespace {

PlainFiles files_of(const std::vector<std::string>& uris, Layout layout,
                    std::string OwnFile::* name) {
  PlainFiles all;
  std::string root;
  for (const std::string& uri : uris) {
    auto file = own_file(uri);
    if (!file || file->partition.empty() != (layout == Layout::Files)) return {};
    if (name == &OwnFile::path && !file->is_local) return {};
    if (all.files.empty()) {
      root = file->root;
      for (const auto& [column, value] : file->partition) all.constants.push_back({column, {}});
    }
    if (layout == Layout::Partitions &&
        (file->root != root || file->partition.size() != all.constants.size()))
      return {};
    for (std::size_t i = 0; i < all.constants.size(); ++i) {
      if (file->partition[i].first != all.constants[i].column) return {};
      all.constants[i].values.push_back(std::move(file->partition[i].second));
    }
    all.files.push_back(std::move((*file).*name));
  }
  return all;
}

}  // namespace

PlainFiles local_files(const std::vector<std::string>& uris, Layout layout) {
  return files_of(uris, layout, &OwnFile::path);
}

PlainFiles located_files(const std::vector<std::string>& uris, Layout layout) {
  return files_of(uris, layout, &OwnFile::location);
}

}  // namespace discreet::spark
