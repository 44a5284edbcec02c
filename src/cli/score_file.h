// Candidates and their scores from a file: CSV `name,score`, or JSON.
//
// Scores are decimals and are kept exactly, as whole multiples of 10^-decimals. Scores are private,
// so a refusal says where the trouble is and never repeats what was there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace discreet::cli {

/// An exact decimal: digits * 10^exponent, digits not divisible by ten unless zero.
struct Decimal {
  std::int64_t digits = 0;
  int exponent = 0;
};
/// Digits with at most 18 significant ones; a sign, a point and an exponent are allowed, nothing
/// else.
Result<Decimal> parse_decimal(const std::string& text);

struct ScoreList {
  std::vector<std::string> names;
  std::vector<std::int64_t> scores;  ///< in units of 10^-decimals
  std::int64_t sensitivity = 0;      ///< in the same units
  int decimals = 0;
};

/// Reads FILE ("-": standard input). JSON is {"name": score, ...}, [score, ...], [["name", score],
/// ...] or
/// [{"name": ..., "score": ...}, ...]; anything else is CSV with or without a header.
/// NotFound, or InvalidInput with file and line.
Result<ScoreList> read_scores(const std::string& file, const Decimal& sensitivity);

}  // namespace discreet::cli
