// A frequency oracle: clients randomise one value each, the collector estimates how many hold what.
//
// Reports are fixed-width byte strings. Every collector's state is a vector of whole numbers that
// reports add to, so tallies can be kept up as reports arrive, merged and stored without knowing
// the protocol.
// Guarantee: randomize() is epsilon-DP in the local model (replace-one of the person's value) for
//            the spec's epsilon; everything after it is post-processing.
// Assumes:   RandomSource yields independent uniform bits.
// Proof:     docs/proofs/local_reports.md; estimates and variances: docs/proofs/local_estimates.md
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/rational.h"
#include "local/spec.h"
#include "random/random_source.h"

namespace discreet::local {

using Bytes = std::span<const std::uint8_t>;

/// What the collector keeps of the reports.
struct Tally {
  std::uint64_t reports = 0;
  std::vector<std::int64_t> cells;

  void merge(const Tally& other);
  friend bool operator==(const Tally&, const Tally&) = default;
};

struct Estimate {
  double estimate = 0;        ///< unbiased: may be negative or above the number of reports
  double standard_error = 0;  ///< of the randomisation, for the people who reported
  double slope = 0;           ///< how the variance grows with the true count; for intervals
};

class Oracle {
 public:
  /// The spec is completed first.
  static Result<std::unique_ptr<Oracle>> make(Spec spec);
  virtual ~Oracle() = default;

  const Spec& spec() const { return spec_; }
  std::size_t report_bytes() const { return report_bytes_; }
  std::size_t cells() const { return cells_; }
  Tally empty_tally() const { return {0, std::vector<std::int64_t>(cells_)}; }

  /// Inputs are below this.
  std::uint64_t inputs() const { return inputs_; }
  /// Writes one report of `input` into report_bytes() bytes.
  virtual void randomize(std::uint64_t input, RandomSource& random,
                         std::span<std::uint8_t> report) const = 0;
  /// The chance of this report, exactly; for tests and for likelihood methods. Zero for a report
  /// that no client sends.
  virtual Rational likelihood(Bytes report, std::uint64_t input) const = 0;

  /// Whether these bytes are a report at all; a collector adds no others.
  virtual bool valid(Bytes report) const = 0;
  /// Adds reports laid end to end, all valid.
  void add(Bytes reports, Tally& tally) const;

  /// How many of the tally's people hold each of `inputs`; all values in order when it is empty.
  /// For records `inputs` are rows (row_of()).
  /// For means: one estimate, of the mean in the range's own units.
  /// InvalidParameter: open text without candidates, or a tally of another shape.
  Result<std::vector<Estimate>> estimate(const Tally& tally,
                                         std::span<const std::uint64_t> inputs = {}) const;

  /// Var[count estimate] = n * per_report + c * per_holder for c holders among n reports, averaged
  /// over the protocol's public hashes. For means: of the mean's estimate times n, at the worst
  /// value.
  struct Variance {
    double per_report = 0;
    double per_holder = 0;
    double at(double n, double c) const { return n * per_report + c * per_holder; }
  };
  virtual Variance variance() const = 0;

  /// The variance of each estimate when `counts` are the true counts of `inputs` (and nobody holds
  /// anything else) among n reports.
  virtual std::vector<double> variances(double n, std::span<const double> counts,
                                        std::span<const std::uint64_t> inputs) const;

  /// A report that may be repeated without spending more than the first one of the same value did.
  /// Whatever must stay the same is drawn from the two lasting streams, which yield the same words
  /// every time: `client` for this client, `value` for this client and this value.
  struct Streams {
    RandomSource& client;
    RandomSource& value;
    RandomSource& fresh;
  };
  virtual void randomize_lasting(std::uint64_t input, const Streams& streams,
                                 std::span<std::uint8_t> report) const {
    randomize(input, streams.value, report);
  }

 protected:
  Oracle(Spec spec, std::size_t report_bytes, std::size_t cells, std::uint64_t inputs)
      : spec_(std::move(spec)), report_bytes_(report_bytes), cells_(cells), inputs_(inputs) {}

  virtual void add_valid(Bytes reports, std::span<std::int64_t> cells) const = 0;
  virtual std::vector<double> estimate_valid(const Tally& tally,
                                             std::span<const std::uint64_t> inputs) const = 0;

  /// Means only.
  virtual std::vector<Estimate> estimate_mean(const Tally&) const { return {}; }

  virtual std::vector<Estimate> with_errors(const Tally& tally,
                                            std::span<const std::uint64_t> inputs) const;

 private:
  Spec spec_;
  std::size_t report_bytes_;
  std::size_t cells_;
  std::uint64_t inputs_;
};

}  // namespace discreet::local
