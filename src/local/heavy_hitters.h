// Frequent strings that nobody listed, found one piece at a time (PEM: Wang, Li and Jha 2021).
//
// Every client is put into one of several groups at random; group i reports the first bits_of(i)
// bits of its string by local hashing, with the whole epsilon. The collector finds the frequent
// short prefixes first, extends them by all next pieces, and keeps those that the next group's
// reports support. Guarantee: a report is epsilon-DP in the local model: the group and the hash do
// not depend on the string. Assumes:   strings are cut at bytes_max bytes. Proof:
// docs/proofs/local_reports.md (local hashing)
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "local/coin.h"
#include "local/oracle.h"

namespace discreet::local {

struct HitterSpec {
  double epsilon = 0;
  std::uint32_t bytes_max = 8;   ///< strings are cut here, up to 64
  std::uint32_t piece_bits = 4;  ///< how far prefixes grow from group to group: 1 to 8
  std::uint32_t cells = 0;       ///< of the hash; zero chooses the best
  std::string name;
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

  static constexpr std::size_t kReportBytes = 21;  ///< group (1), a (8), b (8), cell (4)
  std::uint32_t groups() const { return groups_; }

  void randomize(std::string_view text, RandomSource& random, std::span<std::uint8_t> report) const;
  bool valid(Bytes report) const;

  /// The strings that stand out from the noise with this confidence, for all candidates together;
  /// at most `most`, largest first. `reports` are laid end to end, all valid.
  Result<std::vector<Hitter>> find(Bytes reports, std::size_t most, double confidence = 0.95) const;

  std::string header() const;
  static Result<HeavyHitters> from_header(std::string_view line);
  /// Whether a header line is of this kind.
  static bool is_header(std::string_view line);

 private:
  HeavyHitters(HitterSpec spec, Coin lie);
  std::uint32_t bits_of(std::uint32_t group) const { return (group + 1) * spec_.piece_bits; }
  std::uint64_t key(std::uint32_t group, const std::string& padded) const;

  HitterSpec spec_;
  std::uint32_t groups_;
  Coin lie_;
};

}  // namespace discreet::local
