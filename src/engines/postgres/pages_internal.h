// Rows of one table (or of its partitions), a range of its pages at a time, each row as one word of
// 64 bits.
//
// A message, and a function call for each value, cost the server more than reading the row. So
// where a statement goes over one table row by row (EngineDialect::by_pages), the server puts a
// row's unit and value into one number and hands over the numbers of some pages as one byte string;
// of what has no pages, such as a view, those of all rows, if they are not too many.
// Guarantee: words are the rows that have a unit, exactly; those without one are nobody's and left
//            out. Pages with a row that does not fit a word are known by it, and read in another
//            way.
// Assumes:   one snapshot over all statements, taken before pages are counted: rows it sees lie on
//            pages that are there by then. (Those of a partition that is attached meanwhile may be
//            missed.)
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engines/postgres/decode_internal.h"

namespace discreet {

/// A statement with the mark that EngineDialect::by_pages() left in it.
class PagedStatement {
 public:
  /// Nothing: there is no mark, or more than one thing that looks like it.
  static std::optional<PagedStatement> find(const std::string& sql);

  const std::string& relation() const { return relation_; }
  /// The same statement over some pages: SQL for a page's number, and for the one past the last.
  std::string over(const std::string& first, const std::string& end) const;
  /// ... and over all pages from this one on.
  std::string from(std::int64_t page) const;

 private:
  std::string before_, after_, relation_;
};

/// How the columns of a row lie in a word: the unit, which is not negative, above; the value's bits
/// below. No row makes the expressions fail.
class RowWord {
 public:
  /// Nothing: there are other columns than a whole number and perhaps a small one or a boolean.
  static std::optional<RowWord> make(const std::vector<PostgresDecoder>& columns);

  /// The word in SQL.
  std::string sql(const std::vector<std::string>& columns) const;
  /// Whether all units of some pages fit their words. `units`: all of them, joined by OR.
  bool fits(std::int64_t units) const { return units >= 0 && units >> (63 - bits_) == 0; }
  /// Puts words (as int8send() writes them) into a chunk that has room for them.
  void put(std::string_view words, PostgresChunk& chunk) const;

 private:
  int bits_ = 0;  ///< of the value; 0: there is none
  bool is_flag_ = false;
  std::int64_t null_ = 0;
};

/// Some pages: the first one's number, their units joined by OR, and the words of their rows.
struct PageWords {
  std::int64_t page, units;
  std::string_view words;
};
/// A row of a binary COPY, if it is what PageWords are sent as.
std::optional<PageWords> read_page_words(std::string_view tuple);

}  // namespace discreet
