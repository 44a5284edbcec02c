#include "local/oracle.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "local/oracles_internal.h"

namespace discreet::local {

void Tally::merge(const Tally& other) {
  DISCREET_CHECK(cells.size() == other.cells.size(), "tallies of one collection");
  reports += other.reports;
  for (std::size_t i = 0; i < cells.size(); ++i) cells[i] += other.cells[i];
}

Result<std::unique_ptr<Oracle>> Oracle::make(Spec given) {
  DISCREET_TRY(const Spec spec, complete(std::move(given)));
  switch (spec.kind) {
    case OracleKind::RandomizedResponse:
      return make_randomized_response(spec);
    case OracleKind::SymmetricUnary:
    case OracleKind::OptimizedUnary:
    case OracleKind::ThresholdHistogram:
      return make_unary(spec);
    case OracleKind::SummedHistogram:
      return make_summed_histogram(spec);
    case OracleKind::BinaryHash:
    case OracleKind::OptimizedHash:
      return make_local_hash(spec);
    case OracleKind::Hadamard:
      return make_hadamard(spec);
    case OracleKind::Subset:
      return make_subset(spec);
    case OracleKind::CountMeanSketch:
      return make_count_mean_sketch(spec);
    case OracleKind::HadamardSketch:
      return make_hadamard_sketch(spec);
    case OracleKind::Rappor:
      return make_rappor(spec);
    case OracleKind::MeanDuchi:
    case OracleKind::MeanPiecewise:
    case OracleKind::MeanHybrid:
    case OracleKind::MeanLaplace:
      return make_mean(spec);
    case OracleKind::Sample:
    case OracleKind::Split:
      return make_record(spec);
  }
  fail_check("a known oracle", "every oracle has a maker");
}

void Oracle::add(Bytes reports, Tally& tally) const {
  DISCREET_CHECK(reports.size() % report_bytes_ == 0, "whole reports");
  DISCREET_CHECK(tally.cells.size() == cells_, "a tally of this collection");
  add_valid(reports, tally.cells);
  tally.reports += reports.size() / report_bytes_;
}

Result<std::vector<Estimate>> Oracle::estimate(const Tally& tally,
                                               std::span<const std::uint64_t> inputs) const {
  if (tally.cells.size() != cells_)
    return invalid_parameter("this tally belongs to another collection");
  if (is_mean(spec_.kind)) return estimate_mean(tally);
  std::vector<std::uint64_t> all;
  if (inputs.empty()) {
    if (spec_.values == 0)
      return invalid_parameter(
          "reports of open text are counted for candidates that you name; give a list of them");
    all.resize(spec_.values);
    std::iota(all.begin(), all.end(), std::uint64_t{0});
    inputs = all;
  }
  const std::uint64_t rows = is_record(spec_.kind) ? spec_.values : inputs_;
  if (std::any_of(inputs.begin(), inputs.end(), [&](auto input) { return input >= rows; }))
    return invalid_parameter(fmt::format("a value to estimate is not below {}", rows));
  return with_errors(tally, inputs);
}

std::vector<double> Oracle::variances(double n, std::span<const double> counts,
                                      std::span<const std::uint64_t>) const {
  const Variance law = variance();
  std::vector<double> out;
  out.reserve(counts.size());
  for (const double count : counts) out.push_back(std::max(0.0, law.at(n, count)));
  return out;
}

std::vector<Estimate> Oracle::with_errors(const Tally& tally,
                                          std::span<const std::uint64_t> inputs) const {
  const auto raw = estimate_valid(tally, inputs);
  const auto n = static_cast<double>(tally.reports);
  auto counts = raw;
  for (double& count : counts) count = std::clamp(count, 0.0, n);
  const auto spread = variances(n, counts, inputs);
  std::vector<Estimate> out;
  out.reserve(raw.size());
  for (std::size_t i = 0; i < raw.size(); ++i)
    out.push_back({raw[i], std::sqrt(spread[i]), variance().per_holder});
  return out;
}

Rational exact_epsilon(const Spec& spec, int numerator, int denominator) {
  return exact_rational(spec.epsilon).value() * Rational(numerator, denominator);
}

// Eight columns a byte: a table spreads a byte's bits over eight byte-wide counters, which are
// emptied before they can overflow.
void count_columns(const BitRows& rows, std::span<std::int64_t> cells) {
  static const auto spread = [] {
    std::array<std::uint64_t, 256> table{};
    for (std::size_t byte = 0; byte < 256; ++byte)
      for (unsigned i = 0; i < 8; ++i) table[byte] |= std::uint64_t{(byte >> i) & 1} << (8 * i);
    return table;
  }();
  const std::size_t bytes = (cells.size() + 7) / 8;
  const std::size_t count = rows.rows.size() / rows.stride;
  std::vector<std::uint64_t> counters(bytes);
  for (std::size_t row = 0; row < count;) {
    const std::size_t until = std::min(count, row + 255);
    for (; row < until; ++row) {
      const std::uint8_t* bits = rows.rows.data() + row * rows.stride + rows.offset;
      for (std::size_t i = 0; i < bytes; ++i) counters[i] += spread[bits[i]];
    }
    for (std::size_t i = 0; i < cells.size(); ++i)
      cells[i] += static_cast<std::int64_t>((counters[i / 8] >> (8 * (i % 8))) & 255);
    std::fill(counters.begin(), counters.end(), 0);
  }
}

void walsh_hadamard(std::span<std::int64_t> values) {
  for (std::size_t half = 1; half < values.size(); half *= 2)
    for (std::size_t start = 0; start < values.size(); start += 2 * half)
      for (std::size_t i = start; i < start + half; ++i) {
        const std::int64_t a = values[i], b = values[i + half];
        values[i] = a + b;
        values[i + half] = a - b;
      }
}

}  // namespace discreet::local
