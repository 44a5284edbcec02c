// Reports on the wire: lines of JSON for people and scripts, records end to end for machines.
//
// Both begin with the same header line, so either describes itself. Reading is forgiving to the
// batch and strict to the report: what is not a report is counted and named by its place, and the
// rest is taken.
// Format: docs/formats/local.md
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "local/oracle.h"

namespace discreet::local {

/// One report as a line without the newline: a JSON string of hexadecimal digits.
std::string report_line(Bytes report);

/// The bytes of such a line, whatever they mean; nothing when it is not one.
std::optional<std::vector<std::uint8_t>> parse_report_line(std::string_view line);

struct Refusal {
  std::uint64_t place;  ///< the line's or record's number, from 1
  std::string why;
};

struct ReadReports {
  std::vector<std::uint8_t> reports;  ///< the valid ones, end to end
  std::uint64_t accepted = 0, refused = 0;
  std::vector<Refusal> refusals;  ///< the first few

  void refuse(std::uint64_t place, std::string why);
};

/// Lines after the header. Empty lines are skipped.
void read_lines(const Oracle& oracle, std::string_view text, std::uint64_t first_line,
                ReadReports& into);
/// Records after the header; bytes left over at the end are one refused report.
void read_records(const Oracle& oracle, Bytes records, ReadReports& into);

/// The binary form: "DLR1", the header's length in four bytes (little-endian), header, records.
std::string binary_batch(const Spec& spec, Bytes reports);
struct BinaryBatch {
  Spec spec;
  Bytes records;  ///< within the bytes given
};
bool is_binary_batch(Bytes bytes);
Result<BinaryBatch> parse_binary_batch(Bytes bytes);

}  // namespace discreet::local
