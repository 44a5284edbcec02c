// What a collection asks of its clients: the protocol, its privacy loss and its shape. It is the
// first line of every file of reports, so reports describe themselves.
//
// Guarantee: a client that follows a complete() specification is epsilon-DP in the local model,
//            whatever the other fields say: they come from the collector, and the chances of every
//            coin are recomputed from epsilon by the client.
// Format:    docs/formats/local.md
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace discreet::local {

enum class OracleKind {
  RandomizedResponse,  ///< one of d values, k-ary (binary for d = 2)
  SymmetricUnary,      ///< d bits, each flipped alike: basic RAPPOR, SUE
  OptimizedUnary,      ///< d bits, ones kept with chance 1/2: OUE
  ThresholdHistogram,  ///< d Laplace counts cut at a threshold: THE
  SummedHistogram,     ///< d Laplace counts as they are: SHE
  BinaryHash,          ///< a hash to two cells: BLH
  OptimizedHash,       ///< a hash to e^epsilon + 1 cells: OLH
  Hadamard,            ///< Hadamard response
  Subset,              ///< subset selection
  CountMeanSketch,     ///< Apple's CMS
  HadamardSketch,      ///< Apple's HCMS
  Rappor,              ///< Bloom filters in cohorts, permanent and instantaneous rounds
  MeanDuchi,           ///< numbers in a range: one of two values
  MeanPiecewise,
  MeanHybrid,
  MeanLaplace,
  Sample,  ///< several attributes of one person: one of them, drawn at random, with all of epsilon
  Split,   ///< several attributes: all of them, with a share of epsilon each
};

const char* name(OracleKind kind);
Result<OracleKind> oracle_kind(std::string_view name);
/// Those of one value or number.
std::vector<OracleKind> all_oracles();
bool is_mean(OracleKind kind);
/// Reports of a whole record, attribute by attribute.
bool is_record(OracleKind kind);
/// Works on text that is not in any list: the collector brings the candidates afterwards.
bool takes_open_text(OracleKind kind);

struct Spec {
  OracleKind kind = OracleKind::RandomizedResponse;
  double epsilon = 0;               ///< of one report
  std::uint64_t values = 0;         ///< how many values there are; zero for open text and means
  std::vector<std::string> labels;  ///< their names, when they are not 0, 1, 2, ...
  std::string name;                 ///< of the collection

  std::uint32_t cells = 0;       ///< local hashing: cells of the hash (g)
  std::uint32_t subset = 0;      ///< subset selection: size of the subset (w)
  double threshold = 0;          ///< THE: where counts are cut
  std::uint32_t hashes = 0;      ///< sketches: hash functions (k); RAPPOR: bits set per value (h)
  std::uint32_t width = 0;       ///< sketches and RAPPOR: cells of a row (m)
  std::uint32_t cohorts = 0;     ///< RAPPOR
  std::uint64_t hash_seed = 0;   ///< sketches and RAPPOR: which public hash functions
  double permanent_epsilon = 0;  ///< RAPPOR: of all reports of one value together; 0: one round
  double low = -1, high = 1;     ///< means: the range
  /// Records: what each attribute is, with its name; their epsilon follows from this one's.
  /// `values` is then the number of rows to estimate: all values of all attributes.
  std::vector<Spec> attributes;

  friend bool operator==(const Spec&, const Spec&) = default;
};

/// Limits kept by complete(): beyond them reports would carry nothing or hide nothing.
inline constexpr double kEpsilonMin = 0x1p-20;
inline constexpr double kEpsilonMax = 20;
inline constexpr std::uint64_t kValuesMax = std::uint64_t{1} << 24;
inline constexpr std::uint64_t kCombinationsMax = std::uint64_t{1} << 62;

/// Fills the fields left at zero with the best choice and checks all of them.
Result<Spec> complete(Spec spec);

/// One line of JSON without the newline, and back. `parse_header` completes what it read and
/// refuses fields it does not know.
std::string header_line(const Spec& spec);
Result<Spec> parse_header(std::string_view line);

/// What a person's text is as a client's input: a label's place, a number below `values`, the key
/// of an open text, or a number of the range as a point of the grid. Of a record: the values of all
/// attributes in order, with commas between them; the first attribute counts fastest.
Result<std::uint64_t> input_of(const Spec& spec, std::string_view text);
/// What is estimated for this text: an input, or of a record the row "attribute=value".
Result<std::uint64_t> row_of(const Spec& spec, std::string_view text);
/// The text of row `index`, the other way round; numbered values only.
std::string value_text(const Spec& spec, std::uint64_t index);

}  // namespace discreet::local
