// Which rows and columns of a policy's table a twin is made from.
//
// Guarantee: with a unit column each unit keeps one row, drawn at random, so that one unit is one
//            row of what is synthesised. What a column holds is said by the policy and the schema;
//            hidden columns and the unit stay out.
#pragma once

#include <string>
#include <vector>

#include "curator/data.h"
#include "synth/encoding.h"
#include "synth/raw_table.h"

namespace discreet {

struct TwinRows {
  std::vector<synth::ColumnSpec> specs;
  std::vector<std::string> types;  ///< of the columns of `specs`, as DuckDB calls them
  std::string sql;                 ///< all columns as text
  std::vector<std::string> notes;

  /// Refused: no column can be synthesised, the table is public, or its rows do not say whose they
  /// are.
  static Result<TwinRows> plan(const catalog::Table& table, const Data& data);

  /// The rows themselves: private, so only after a charge.
  Result<synth::RawTable> read(Data& data) const;

 private:
  Result<synth::RawTable> read_now(Engine& engine) const;
};

/// Twins as recorded in the ledger.
struct RecordedTwins {
  std::vector<std::string> notes;
  std::vector<synth::RawTable> tables;
  std::vector<std::string> types;  ///< of the columns; may be absent

  std::string to_bytes() const;
  static Result<RecordedTwins> from_bytes(const std::string& bytes);
};

}  // namespace discreet
