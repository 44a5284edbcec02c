// GoogleSQL's differential-privacy syntax, lifted out before PostgreSQL's grammar sees the text.
//
//   SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, max_groups_contributed = 2) COUNT(*) ...
//
// Guarantee: found by PostgreSQL's scanner, token by token, so a clause inside a string, a comment
// or
//            a quoted name is left alone. What is lifted is replaced by text of the same length: a
//            position in the cleaned text is a position in the statement.
// Meaning of the options: GoogleSQL reference, "Differentially private aggregation".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace discreet::sql {

enum class GroupSelection { Default, LaplaceThreshold, PublicGroups };

/// Ranges: any run of values; Prefixes: all up to a value.
enum class OrderedQuestions { Cells, Ranges, Prefixes };

/// What the asker set. Absent: the session's or the curator's choice.
struct PrivacyOptions {
  std::optional<double> epsilon;
  std::optional<double> delta;
  std::optional<std::uint64_t> max_groups_contributed;
  std::optional<std::uint64_t> max_rows_contributed;
  std::optional<std::uint64_t> min_privacy_units_per_group;
  std::optional<std::string> privacy_unit_column;
  std::optional<std::string> target_error;
  GroupSelection group_selection = GroupSelection::Default;
  /// Grouping sets: how many rows there are, where that is public; count(*) then adds up to it.
  std::optional<std::uint64_t> public_total;
  /// Grouping sets: public tables (table or table.column) with the number of rows by some of the
  /// keys; count(*) then adds up to them.
  std::vector<std::string> public_counts;
  /// Grouping sets: what of ordered keys should have the least error, besides single values.
  std::optional<OrderedQuestions> questions;

  /// Options in a fixed order, for the question's identity.
  std::string to_string() const;
  friend bool operator==(const PrivacyOptions&, const PrivacyOptions&) = default;
};

struct PrivacyClause {
  PrivacyOptions options;
  int position = -1;
};

struct LiftedText {
  std::string text;                    ///< for PostgreSQL's grammar; same length as the statement
  std::vector<PrivacyClause> clauses;  ///< clause i is the first target `discreet_clause_i`
};

inline constexpr std::string_view kClauseMarker = "discreet_clause_";

/// InvalidInput: text the scanner cannot read, an unknown option, or a value of the wrong kind.
Result<LiftedText> lift_dialect(const std::string& statement);

}  // namespace discreet::sql
