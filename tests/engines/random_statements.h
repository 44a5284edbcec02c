// Random tables and statements that every engine must answer alike: arithmetic at the edges of the
// types, NULL, NaN, infinities, casts, text, dates, per-person subqueries, joins.
#pragma once

#include <string>
#include <vector>

#include "random/random_source.h"

namespace discreet::testing {

class RandomStatements {
 public:
  explicit RandomStatements(RandomSource& random) : random_(random) {}

  static std::string policy();
  /// CREATE TABLE ... INSERT ... in DuckDB's SQL.
  std::string tables();
  std::string next();

 private:
  std::size_t below(std::size_t n) { return random_.bits64() % n; }
  std::string pick(const std::vector<std::string>& all) { return all[below(all.size())]; }
  std::string whole(int depth);
  std::string decimal(int depth);
  std::string real(int depth);
  std::string text(int depth);
  std::string day(int depth);
  std::string time(int depth);
  std::string truth(int depth);
  std::string number(int depth);
  std::string aggregate();
  std::string key();
  std::string literal_row(bool is_person, int id);

  RandomSource& random_;
  bool has_visits_ = false;
};

}  // namespace discreet::testing
