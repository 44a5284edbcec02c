// Frequent strings that nobody listed, found one piece at a time.
//
// Every client is put into one of several groups at random; group i reports the first bits_of(i)
// bits of its string with the whole epsilon: by local hashing (PEM: Wang, Li and Jha 2021), or as
// one sign of a Hadamard sketch (TreeHist: Bassily, Nissim, Stemmer and Thakurta 2017, with the
// sketch of hcms). The collector finds the frequent short prefixes first, extends them by all next
// pieces, and keeps those that the next group's reports support. Decoding a hash looks at every
// report for every candidate; a sketch is added up once, and its error is larger.
//
// Guarantee: a report is epsilon-DP in the local model: the group, the hash and the sketch's row
// and
//            column do not depend on the string.
// Assumes:   strings are cut at bytes_max bytes.
// Proof:     docs/proofs/local_reports.md (local hashing, sketches, strings)
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "local/coin.h"
#include "local/oracle.h"

namespace discreet::local {

enum class HitterKind { Hash, Sketch };  ///< pem, treehist

struct HitterSpec {
  double epsilon = 0;
  std::uint32_t bytes_max = 8;   ///< strings are cut here, up to 64
  std::uint32_t piece_bits = 4;  ///< how far prefixes grow from group to group: 1 to 8
  std::uint32_t cells = 0;       ///< of the hash; zero chooses the best
  std::string name = {};
  HitterKind kind = HitterKind::Hash;
  std::uint32_t hashes = 0, width = 0;  ///< of the sketch; zero chooses
  std::uint64_t hash_seed = 0;          ///< which public functions the sketch uses
};

struct Hitter {
  std::string text;
  double estimate = 0;        ///< of how many people hold it
  double standard_error = 0;  ///< of randomisation and of who was put into which group
};

class HeavyHitters {
 public:
  /// InvalidParameter: epsilon, bytes_max or piece_bits out of range.
  static Result<HeavyHitters> make(HitterSpec spec);

  static constexpr std::size_t kReportBytes = 21;  ///< pem: group (1), a (8), b (8), cell (4)
  std::size_t report_bytes() const;
  std::uint32_t groups() const { return groups_; }

  void randomize(std::string_view text, RandomSource& random, std::span<std::uint8_t> report) const;
  bool valid(Bytes report) const;
  /// The exact chance that this text's client sends this report, given its hash in the case of pem;
  /// zero if not valid.
  Rational likelihood(Bytes report, std::string_view text) const;

  /// The strings that stand out from the noise with this confidence, for all candidates together;
  /// at most `most`, largest first. `reports` are laid end to end, all valid.
  Result<std::vector<Hitter>> find(Bytes reports, std::size_t most, double confidence = 0.95) const;

  std::string header() const;
  static Result<HeavyHitters> from_header(std::string_view line);
  /// Whether a header line is of this kind.
  static bool is_header(std::string_view line);

 private:
  HeavyHitters(HitterSpec spec, Coin lie, std::shared_ptr<const Oracle> sketch);
  std::string padded(std::string_view text) const;
  /// How many of one group's people hold each key, by their reports without the group's byte.
  Result<std::vector<Estimate>> support(Bytes reports, std::span<const std::uint64_t> keys) const;
  std::uint32_t bits_of(std::uint32_t group) const { return (group + 1) * spec_.piece_bits; }
  std::uint64_t key(std::uint32_t group, const std::string& padded) const;

  HitterSpec spec_;
  std::uint32_t groups_;
  Coin lie_;
  std::shared_ptr<const Oracle> sketch_;  // treehist only
};

}  // namespace discreet::local
