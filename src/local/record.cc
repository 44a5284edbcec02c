// Several attributes as one oracle, so that records travel, are stored and counted like any report.
// An input numbers the combination of values, the first attribute counting fastest; cells are, one
// attribute after another, the number of its reports and then its own cells.
#include <algorithm>

#include "local/attributes.h"
#include "local/oracles_internal.h"
#include "local/report_bytes_internal.h"

namespace discreet::local {
namespace {

std::size_t cells_of(const AttributeReports& reports) {
  std::size_t cells = 0;
  for (std::size_t i = 0; i < reports.attributes(); ++i) cells += 1 + reports.oracle(i).cells();
  return cells;
}

std::uint64_t combinations(const Spec& spec) {
  std::uint64_t product = 1;
  for (const Spec& attribute : spec.attributes) product *= attribute.values;
  return product;
}

class RecordOracle final : public Oracle {
 public:
  RecordOracle(const Spec& spec, AttributeReports reports)
      : Oracle(spec, reports.report_bytes(), cells_of(reports), combinations(spec)),
        reports_(std::move(reports)) {}

  void randomize(std::uint64_t input, RandomSource& random,
                 std::span<std::uint8_t> report) const override {
    reports_.randomize(values_of(input), random, report);
  }

  Rational likelihood(Bytes report, std::uint64_t input) const override {
    if (!valid(report)) return 0;
    const auto values = values_of(input);
    if (spec().kind == OracleKind::Sample) {
      const std::uint64_t drawn = get(report.data(), 2);
      const Oracle& oracle = reports_.oracle(drawn);
      return oracle.likelihood(report.subspan(2, oracle.report_bytes()), values[drawn]) /
             Rational(static_cast<std::int64_t>(reports_.attributes()));
    }
    Rational chance = 1;
    for (std::size_t i = 0; i < reports_.attributes(); ++i) {
      const std::size_t size = reports_.oracle(i).report_bytes();
      chance *= reports_.oracle(i).likelihood(report.first(size), values[i]);
      report = report.subspan(size);
    }
    return chance;
  }

  bool valid(Bytes report) const override { return reports_.valid(report); }

  /// Of the attribute whose counts are least sure.
  Variance variance() const override {
    Variance worst;
    for (std::size_t i = 0; i < reports_.attributes(); ++i) {
      const Variance law = reports_.variance(i);
      if (law.per_report > worst.per_report) worst = law;
    }
    return worst;
  }

 protected:
  void add_valid(Bytes reports, std::span<std::int64_t> cells) const override {
    auto tallies = reports_.empty_tallies();
    reports_.add(reports, tallies);
    for (const Tally& tally : tallies) {
      cells[0] += static_cast<std::int64_t>(tally.reports);
      for (std::size_t i = 0; i < tally.cells.size(); ++i) cells[1 + i] += tally.cells[i];
      cells = cells.subspan(1 + tally.cells.size());
    }
  }

  std::vector<Estimate> with_errors(const Tally& tally,
                                    std::span<const std::uint64_t> rows) const override {
    auto tallies = reports_.empty_tallies();
    std::span<const std::int64_t> cells = tally.cells;
    for (Tally& part : tallies) {
      part.reports = static_cast<std::uint64_t>(cells[0]);
      const auto own = cells.subspan(1, part.cells.size());
      std::copy(own.begin(), own.end(), part.cells.begin());
      cells = cells.subspan(1 + own.size());
    }
    std::vector<Estimate> all;
    for (std::size_t i = 0; i < reports_.attributes(); ++i) {
      const auto part = reports_.estimate(i, tallies).value();
      all.insert(all.end(), part.begin(), part.end());
    }
    std::vector<Estimate> out;
    out.reserve(rows.size());
    for (const std::uint64_t row : rows) out.push_back(all[row]);
    return out;
  }

  std::vector<double> estimate_valid(const Tally& tally,
                                     std::span<const std::uint64_t> rows) const override {
    std::vector<double> out;
    for (const Estimate& estimate : with_errors(tally, rows)) out.push_back(estimate.estimate);
    return out;
  }

 private:
  std::vector<std::uint64_t> values_of(std::uint64_t input) const {
    std::vector<std::uint64_t> values;
    values.reserve(reports_.attributes());
    for (const Spec& attribute : spec().attributes) {
      values.push_back(input % attribute.values);
      input /= attribute.values;
    }
    return values;
  }

  AttributeReports reports_;
};

}  // namespace

std::unique_ptr<Oracle> make_record(const Spec& spec) {
  const auto strategy = spec.kind == OracleKind::Sample ? AttributeReports::Strategy::Sample
                                                        : AttributeReports::Strategy::Split;
  return std::make_unique<RecordOracle>(
      spec, AttributeReports::make(strategy, spec.epsilon, spec.attributes).value());
}

}  // namespace discreet::local
