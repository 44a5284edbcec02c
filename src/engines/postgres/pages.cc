#include "engines/postgres/pages_internal.h"

#include <cstring>

#include <fmt/format.h>

namespace discreet {
namespace {

constexpr std::string_view kMark = "/*pages of ", kMarkEnd = "*/";

std::int64_t word_at(std::string_view words, std::size_t index) {
  std::uint64_t raw;
  std::memcpy(&raw, words.data() + 8 * index, sizeof(raw));
  return static_cast<std::int64_t>(__builtin_bswap64(raw));
}

}  // namespace

std::optional<PagedStatement> PagedStatement::find(const std::string& sql) {
  const std::size_t at = sql.find(kMark);
  if (at == std::string::npos || sql.find(kMark, at + 1) != std::string::npos) return std::nullopt;
  const std::size_t end = sql.find(kMarkEnd, at);
  if (end == std::string::npos) return std::nullopt;
  PagedStatement found;
  found.before_ = sql.substr(0, at);
  found.after_ = sql.substr(end + kMarkEnd.size());
  found.relation_ = sql.substr(at + kMark.size(), end - at - kMark.size());
  return found;
}

std::string PagedStatement::over(const std::string& first, const std::string& end) const {
  constexpr char kLastPage[] = "4294967295";  // pages have 32 bits
  return fmt::format(
      "{} WHERE ctid >= CAST(format('(%s,0)', {}) AS tid) AND ctid < CAST(format('(%s,0)', "
      "least({}, {})) AS tid){}",
      before_, first, end, kLastPage, after_);
}

std::string PagedStatement::from(std::int64_t page) const {
  return fmt::format("{} WHERE ctid >= CAST('({},0)' AS tid){}", before_, page, after_);
}

std::optional<RowWord> RowWord::make(const std::vector<PostgresDecoder>& columns) {
  if (columns.empty() || columns.size() > 2 || columns[0].type != EngineType::Int64)
    return std::nullopt;
  RowWord word;
  if (columns.size() == 1) return word;
  // The value's bits hold its sign and one number more, which stands for NULL.
  if (columns[1].type == EngineType::Bool) {
    word.is_flag_ = true;
    word.bits_ = 2;
    word.null_ = -1;
    return word;
  }
  const int size = columns[1].size();
  if (size != 2 && size != 4) return std::nullopt;
  word.bits_ = 8 * size + 1;
  word.null_ = std::int64_t{1} << (8 * size - 1);
  return word;
}

std::string RowWord::sql(const std::vector<std::string>& columns) const {
  const std::string unit = fmt::format("CAST({} AS bigint)", columns.at(0));
  if (bits_ == 0) return unit;
  // Shifts and exclusive or never overflow; units that lost bits are noticed by fits().
  return fmt::format("({} << {}) # coalesce(CAST({} AS bigint), {})", unit, bits_,
                     is_flag_ ? fmt::format("CAST({} AS integer)", columns.at(1)) : columns.at(1),
                     null_);
}

void RowWord::put(std::string_view words, PostgresChunk& chunk) const {
  const std::size_t count = words.size() / 8;
  if (bits_ == 0) {
    for (std::size_t i = 0; i < count; ++i) chunk.put_whole(0, i, word_at(words, i));
  } else {
    const int above = 64 - bits_;
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t word = word_at(words, i);
      const std::int64_t value =
          static_cast<std::int64_t>(static_cast<std::uint64_t>(word) << above) >> above;
      chunk.put_whole(0, i, (word ^ value) >> bits_);
      if (value == null_)
        chunk.put_null(1, i);
      else if (is_flag_)
        chunk.put_flag(1, i, value != 0);
      else
        chunk.put_whole(1, i, value);
    }
  }
  chunk.set_size(count);
}

std::optional<PageWords> read_page_words(std::string_view tuple) {
  // Three fields: the page and the units in 8 bytes each, then the words; before each its length.
  constexpr std::size_t kHead = 2 + 4 + 8 + 4 + 8 + 4;
  constexpr std::string_view kEight("\0\0\0\10", 4);
  if (tuple.size() < kHead || !tuple.starts_with(std::string_view("\0\3", 2)) ||
      tuple.substr(2, 4) != kEight || tuple.substr(14, 4) != kEight)
    return std::nullopt;
  std::uint32_t length;
  std::memcpy(&length, tuple.data() + kHead - sizeof(length), sizeof(length));
  length = __builtin_bswap32(length);
  if (tuple.size() - kHead != length || length % 8 != 0) return std::nullopt;
  return PageWords{word_at(tuple.substr(6), 0), word_at(tuple.substr(18), 0), tuple.substr(kHead)};
}

}  // namespace discreet
