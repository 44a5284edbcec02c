// A table as anonymisation sees it: quasi-identifiers, which an attacker may know from elsewhere,
// and one sensitive column.
//
// Nothing in this folder gives a privacy guarantee. It is the practice that differential privacy
// replaces, here so that it can be measured and broken (attack/).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace discreet::anonymity {

struct Column {
  std::string name;
  std::vector<std::int64_t> codes;    ///< a number, or an index into labels
  std::vector<std::string> labels{};  ///< empty: the codes are numbers
  bool is_date = false;               ///< codes are days since 1970-01-01
};

struct Table {
  std::vector<Column> quasi;
  Column sensitive;

  std::size_t rows() const { return sensitive.codes.size(); }
};

/// Codes from `lower` to `upper`, both included.
struct Range {
  std::int64_t lower, upper;

  friend bool operator==(const Range&, const Range&) = default;
};

/// Rows that look alike once generalised.
struct Class {
  std::vector<std::size_t> rows;
  std::vector<Range> ranges;  ///< one per quasi-identifier
};

struct Release {
  std::vector<Class> classes;
  std::vector<std::size_t> suppressed{};  ///< rows left out
};

/// What every class must have.
struct Requirements {
  std::size_t k = 5;
  std::size_t l = 1;  ///< distinct sensitive values
  double t = 1;       ///< distance of a class's sensitive values from the table's, at most
};

/// The range as people read it: "30-39", "02138", "1950-01-01..1959-12-31", "{a, b}", "*" for all.
std::string describe(const Column& column, const Range& range);

/// The distance between a class's sensitive distribution and the table's: half the L1 distance,
/// which is the earth mover's when all values are equally far apart.
double sensitive_distance(const Table& table, const std::vector<std::size_t>& rows);

/// The same for many classes of one table, which must outlive it.
class SensitiveShares {
 public:
  explicit SensitiveShares(const Table& table);
  double distance(const std::vector<std::size_t>& rows) const;

 private:
  const Table& table_;
  std::map<std::int64_t, double> whole_;
};

/// Whether these rows may be a class.
bool meets(const Table& table, const std::vector<std::size_t>& rows,
           const Requirements& requirements);

}  // namespace discreet::anonymity
