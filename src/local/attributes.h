// Several attributes of one person, within one epsilon: report one of them, drawn at random, with
// all of epsilon (sample), or all of them with a share of epsilon each (split).
//
// Guarantee: a report is epsilon-DP for exchanging all of the person's attributes at once.
//            Sample: which attribute is reported does not depend on their values. Split: sequential
//            composition of shares that are rounded down.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "local/oracle.h"

namespace discreet::local {

class AttributeReports {
 public:
  enum class Strategy { Sample, Split };

  /// `attributes` say kind and values; their epsilon is set here.
  static Result<AttributeReports> make(Strategy strategy, double epsilon,
                                       std::vector<Spec> attributes);
  /// The best oracle for each attribute, under either strategy.
  static Result<AttributeReports> choose(Strategy strategy, double epsilon,
                                         std::span<const std::uint64_t> values);

  std::size_t attributes() const { return oracles_.size(); }
  const Oracle& oracle(std::size_t attribute) const { return *oracles_[attribute]; }
  std::size_t report_bytes() const { return report_bytes_; }

  /// One input for each attribute. Sample: the attribute's number (2 bytes), its report, zeros.
  /// Split: all reports end to end.
  void randomize(std::span<const std::uint64_t> inputs, RandomSource& random,
                 std::span<std::uint8_t> report) const;
  bool valid(Bytes report) const;

  std::vector<Tally> empty_tallies() const;
  /// Valid reports laid end to end.
  void add(Bytes reports, std::span<Tally> tallies) const;
  /// Counts among all people who reported; under `Sample` scaled up from those who drew the
  /// attribute, with the error of that.
  Result<std::vector<Estimate>> estimate(std::size_t attribute,
                                         std::span<const Tally> tallies) const;
  /// Of a count of one of the attribute's values among all people who reported.
  Oracle::Variance variance(std::size_t attribute) const;

 private:
  AttributeReports(Strategy strategy, std::vector<std::unique_ptr<Oracle>> oracles);

  Strategy strategy_;
  std::vector<std::unique_ptr<Oracle>> oracles_;
  std::size_t report_bytes_ = 0;
};

/// What is asked about one attribute: how many values there are, or what they are called.
struct AttributeQuestion {
  std::string name;
  std::uint64_t values = 0;
  std::vector<std::string> labels;
};

/// The collection of these attributes: `strategy` is sample, split, or auto for the one whose least
/// sure attribute is surer; every attribute by its best oracle.
Result<Spec> record_spec(std::string_view strategy, double epsilon,
                         std::span<const AttributeQuestion> attributes);

}  // namespace discreet::local
