// From the values of a table to codes, and back: what each column may hold, and what must be found
// privately because nobody declared it.
//
// Guarantee: the domain that encode() finds is (epsilon, delta)-DP under add/remove of one row, for
//            the budget it is given: bins of wide numeric ranges are private quantiles, keys of
//            undeclared columns are chosen by partition selection. Errors depend on the
//            declarations and the header, never on rows: a value that does not fit goes to the
//            nearest code, or to the code for what is missing.
// Proof:     docs/proofs/synth_measurements.md
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "privacy/parameters.h"
#include "synth/dice.h"
#include "synth/domain.h"
#include "synth/raw_table.h"

namespace discreet::synth {

/// Whole numbers 0 .. size - 1, as in a domain file. A missing value counts as 0.
struct CodeColumn {
  std::uint32_t size;
};
/// One of these texts.
struct ValueColumn {
  std::vector<std::string> values;
  bool ordered = false;
};
/// Numbers from lower to upper. `step` is what they are multiples of, counted from lower.
struct NumberColumn {
  double lower, upper;
  double step = 1;
  bool date = false;  ///< days since 1970-01-01, written YYYY-MM-DD
};
/// Texts that only the rows know.
struct KeyColumn {};

struct ColumnSpec {
  std::string name;
  std::variant<CodeColumn, ValueColumn, NumberColumn, KeyColumn> kind;
  bool nullable = true;  ///< has a code for NULL; code columns never do
};

/// {"age": 85}, {"age": {"range": [0, 120]}}, {"born": {"range": ["1900-01-01", "2026-12-31"]}},
/// {"income": {"range": [0, 1e6], "step": 0.01}}, {"ward": {"values": ["ICU", "ER"]}},
/// {"zip": {}}; "nullable": false leaves out the code for NULL.
Result<std::vector<ColumnSpec>> parse_specs(const std::string& json);

/// Days since 1970-01-01 of YYYY-MM-DD. InvalidInput: not a date.
Result<std::int64_t> parse_date(const std::string& text);
std::string format_date(std::int64_t days);

/// How to write a code as text again.
struct ColumnCodec {
  std::string name;
  struct Bin {
    std::string text;                ///< of a value; unused for numbers
    std::int64_t low = 0, high = 0;  ///< steps from lower, both within
    bool is_null = false, is_number = false;
  };
  std::vector<Bin> bins;
  NumberColumn numbers{0, 0};

  /// One value of the code; a number is drawn evenly from its bin. Nothing for NULL.
  std::optional<std::string> decode(std::uint16_t code, Dice& dice) const;
};

struct EncodedTable {
  CodedTable table;
  std::vector<ColumnCodec> codecs;
};

/// How many columns need some of the budget.
std::size_t columns_to_find(std::span<const ColumnSpec> specs);

/// Columns of the table that no spec names are left out. NotFound: a spec's column is not there.
/// InvalidParameter: a budget of zero where columns_to_find is not; a delta of zero where keys are.
Result<EncodedTable> encode(const RawTable& raw, std::span<const ColumnSpec> specs, ApproxDp budget,
                            RandomSource& random);

/// The same codecs applied to another table, for scoring.
Result<CodedTable> encode_with(const RawTable& raw, const EncodedTable& known);

RawTable decode(const CodedTable& table, std::span<const ColumnCodec> codecs, Dice& dice);

}  // namespace discreet::synth
