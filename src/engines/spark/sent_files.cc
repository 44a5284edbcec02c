#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "engines/spark/arrow_internal.h"
#include "engines/spark/sent_files_internal.h"

namespace discreet::spark {
namespace {

using Part = PartialFiles::Part;

constexpr std::uint64_t kEndBytes = 64 << 10;   // what Parquet says of most files fits
constexpr std::uint64_t kPieceBytes = 1 << 20;  // of one row: batches stay small
constexpr std::size_t kPiecesMax = 512;         // that one statement names

std::string quoted(const std::string& text) {
  std::string made = "'";
  for (const char c : text) {
    if (c == '\\' || c == '\'') made += '\\';
    made += c;
  }
  return made + "'";
}

/// Every row of a statement over files. False: `see` said so, or the columns are others.
Result<bool> for_each_row(const Sender& sender, const std::string& sql,
                          const std::vector<std::string>& locations,
                          const std::vector<EngineType>& types,
                          const std::function<bool(const EngineChunk&, std::size_t row)>& see) {
  Connection& connection = sender.connection;
  DISCREET_TRY_VOID(connection.start_over(sql, locations));
  DISCREET_TRY_VOID(sender.goes_on());
  const auto stop = [&] {
    connection.drain();
    return false;
  };
  for (;;) {
    DISCREET_TRY(auto bytes, connection.next());
    if (!bytes) return true;
    const auto batches = arrow::read_stream(*std::move(bytes));
    if (!batches) return stop();
    for (const EngineChunk& chunk : batches->chunks) {
      if (batches->fields.size() != types.size()) return stop();
      for (std::size_t i = 0; i < types.size(); ++i)
        if (chunk.type(i) != types[i] || chunk.has_nulls(i)) return stop();
      for (std::size_t row = 0; row < chunk.size(); ++row)
        if (!see(chunk, row)) return stop();
    }
  }
}

/// Parts that lie one behind the other are one; no part is longer than a piece.
std::vector<Part> in_pieces(std::vector<Part> parts) {
  std::ranges::sort(parts, {}, [](const Part& one) { return std::pair(one.file, one.begin); });
  std::vector<Part> joined, pieces;
  for (const Part& part : parts) {
    if (!joined.empty() && joined.back().file == part.file &&
        part.begin <= joined.back().begin + joined.back().size)
      joined.back().size =
          std::max(joined.back().size, part.begin + part.size - joined.back().begin);
    else
      joined.push_back(part);
  }
  for (const Part& part : joined)
    for (std::uint64_t at = 0; at < part.size; at += kPieceBytes)
      pieces.push_back({part.file, part.begin + at, std::min(kPieceBytes, part.size - at)});
  return pieces;
}

/// One row a piece: its number, its bytes.
std::string pieces_sql(const std::vector<std::string>& locations, std::span<const Part> pieces) {
  std::string cases;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const bool is_first = i == 0 || pieces[i].file != pieces[i - 1].file;
    if (is_first)
      cases += fmt::format("{} WHEN {} THEN array(", i == 0 ? "" : ")",
                           quoted(locations[pieces[i].file]));
    cases += fmt::format("{}struct({} AS number, {} AS at, {} AS size)", is_first ? "" : ", ", i,
                         pieces[i].begin + 1, pieces[i].size);
  }
  return fmt::format(
      "SELECT piece.number, substring(content, piece.at, piece.size) AS bytes FROM (SELECT "
      "content, "
      "explode(CASE path{}) END) AS piece FROM {})",
      cases, Connection::kFilesTable);
}

std::uint32_t little_endian(std::string_view bytes) {
  std::uint32_t number = 0;
  for (int i = 3; i >= 0; --i)
    number = number << 8 | static_cast<unsigned char>(bytes[static_cast<std::size_t>(i)]);
  return number;
}

}  // namespace

Result<bool> send_parts(const Sender& sender, const std::vector<std::string>& locations,
                        const std::vector<Part>& parts,
                        const std::vector<std::shared_ptr<FileCopy>>& copies) {
  const std::vector<Part> pieces = in_pieces(parts);
  for (const Part& piece : pieces)
    if (piece.begin + piece.size > copies[piece.file]->size()) return false;
  for (std::size_t begin = 0; begin < pieces.size();) {
    std::size_t end = begin;
    std::vector<std::string> some;
    for (std::uint64_t bytes = 0;
         end < pieces.size() && end - begin < kPiecesMax &&
         (end == begin || bytes + pieces[end].size <= sender.limits.bytes_at_once);
         ++end) {
      bytes += pieces[end].size;
      const std::string& location = locations[pieces[end].file];
      if (some.empty() || some.back() != location) some.push_back(location);
    }
    const auto asked = std::span(pieces).subspan(begin, end - begin);
    std::vector<bool> came(asked.size());
    const auto see = [&](const EngineChunk& chunk, std::size_t row) {
      const auto number = static_cast<std::uint64_t>(chunk.int64s(0)[row]);
      const std::string_view bytes = chunk.varchar(1, row);
      if (number >= asked.size() || came[number] || bytes.size() != asked[number].size)
        return false;
      came[number] = true;
      return copies[asked[number].file]->write(asked[number].begin, bytes);
    };
    DISCREET_TRY(const bool done, for_each_row(sender, pieces_sql(locations, asked), some,
                                               {EngineType::Int64, EngineType::Varchar}, see));
    if (!done || std::ranges::find(came, false) != came.end()) return false;
    begin = end;
  }
  return true;
}

namespace {

using Copies = std::vector<std::shared_ptr<FileCopy>>;

/// Copies of files that are not here yet, in the same order, with their ends.
Result<std::optional<Copies>> new_copies(const Sender& sender,
                                         const std::vector<std::string>& locations,
                                         std::uint64_t total) {
  const auto none = std::optional<Copies>();
  std::map<std::string_view, std::size_t> numbers;
  for (const std::string& location : locations) numbers.emplace(location, numbers.size());
  if (numbers.size() != locations.size()) return none;
  const auto number_of = [&](const EngineChunk& chunk, std::size_t row) {
    const auto found = numbers.find(chunk.varchar(0, row));
    return found == numbers.end() ? locations.size() : found->second;
  };

  constexpr std::uint64_t kNotSeen = UINT64_MAX;
  std::vector<std::uint64_t> sizes(locations.size(), kNotSeen);
  const auto see_size = [&](const EngineChunk& chunk, std::size_t row) {
    const std::size_t file = number_of(chunk, row);
    const auto size = static_cast<std::uint64_t>(chunk.int64s(1)[row]);
    if (file == locations.size() || sizes[file] != kNotSeen || size > sender.limits.file_bytes)
      return false;
    sizes[file] = size;
    total += size;
    return total <= sender.limits.table_bytes;
  };
  DISCREET_TRY(
      const bool sized,
      for_each_row(sender, fmt::format("SELECT path, length FROM {}", Connection::kFilesTable),
                   locations, {EngineType::Varchar, EngineType::Int64}, see_size));
  if (!sized || std::ranges::find(sizes, kNotSeen) != sizes.end()) return none;

  std::vector<std::string> ends(locations.size());
  const auto see_end = [&](const EngineChunk& chunk, std::size_t row) {
    const std::size_t file = number_of(chunk, row);
    const std::string_view bytes = chunk.varchar(1, row);
    if (file == locations.size() || !ends[file].empty() ||
        bytes.size() != std::min(sizes[file], kEndBytes))
      return false;
    ends[file] = bytes;
    return true;
  };
  const std::string ends_sql = fmt::format(
      "SELECT path, substring(content, CAST(greatest(length - {0}, 0) AS INT) + 1, {0}) AS bytes "
      "FROM {1}",
      kEndBytes, Connection::kFilesTable);
  DISCREET_TRY(const bool came, for_each_row(sender, ends_sql, locations,
                                             {EngineType::Varchar, EngineType::Varchar}, see_end));
  if (!came) return none;

  Copies copies;
  std::vector<Part> missing;
  for (std::size_t file = 0; file < ends.size(); ++file) {
    const std::string& bytes = ends[file];
    const std::uint64_t size = sizes[file];
    // ... the length of what it says of the file, and its name.
    constexpr std::size_t kTrailer = 8;
    if (bytes.size() < kTrailer || !bytes.ends_with("PAR1")) return none;
    const std::uint64_t said =
        little_endian(std::string_view(bytes).substr(bytes.size() - kTrailer));
    if (said + kTrailer > size) return none;
    if (said + kTrailer > bytes.size())
      missing.push_back({file, size - said - kTrailer, said + kTrailer - bytes.size()});
    copies.push_back(FileCopy::make(size));
    if (!copies.back() || !copies.back()->write(size - bytes.size(), bytes)) return none;
  }
  DISCREET_TRY(const bool whole, send_parts(sender, locations, missing, copies));
  return whole ? std::optional(std::move(copies)) : none;
}

}  // namespace

Result<std::vector<std::shared_ptr<FileCopy>>> send_ends(const Sender& sender,
                                                         const std::vector<std::string>& locations,
                                                         FileCopies& kept) {
  if (locations.size() > FileCopies::kFilesMax / 2) return Copies();
  Copies copies;
  std::vector<std::string> missing;
  std::uint64_t total = 0;
  for (const std::string& location : locations) {
    copies.push_back(kept.find(location));
    if (copies.back())
      total += copies.back()->size();
    else
      missing.push_back(location);
  }
  if (missing.empty()) return copies;
  DISCREET_TRY(auto added, new_copies(sender, missing, total));
  if (!added) return Copies();
  std::size_t next = 0;
  for (std::size_t file = 0; file < copies.size(); ++file)
    if (!copies[file]) {
      copies[file] = std::move((*added)[next++]);
      kept.keep(locations[file], copies[file]);
    }
  return copies;
}

}  // namespace discreet::spark
