#include "prio/circuit.h"

#include <algorithm>
#include <array>
#include <bit>

#include <fmt/format.h>

namespace discreet::prio {
namespace {

constexpr std::uint64_t kLengthMax = std::uint64_t{1} << 24;
constexpr std::uint64_t kMaxMax = std::uint64_t{1} << 62;

struct Named {
  CircuitKind kind;
  const char* name;
  std::uint32_t algorithm;
};
constexpr std::array<Named, 8> kNames = {
    {{CircuitKind::Count, "count", 1},
     {CircuitKind::Sum, "sum", 2},
     {CircuitKind::SumVec, "sum-vec", 3},
     {CircuitKind::Histogram, "histogram", 4},
     {CircuitKind::MultihotCountVec, "multihot-count-vec", 5},
     {CircuitKind::L1BoundSum, "l1-bound-sum", 7},
     {CircuitKind::SumVecMultiproof, "sum-vec-multiproof", 0xffffffff},
     {CircuitKind::HigherDegree, "higher-degree", 0xffffffff}}};

bool has_length(CircuitKind kind) {
  return kind != CircuitKind::Count && kind != CircuitKind::Sum &&
         kind != CircuitKind::HigherDegree;
}
bool has_max(CircuitKind kind) {
  return kind == CircuitKind::Sum || kind == CircuitKind::SumVec ||
         kind == CircuitKind::MultihotCountVec || kind == CircuitKind::L1BoundSum ||
         kind == CircuitKind::SumVecMultiproof;
}

Result<void> check(const Circuit& circuit) {
  if (has_length(circuit.kind) && (circuit.length == 0 || circuit.length > kLengthMax))
    return invalid_parameter(fmt::format("the length of {} must be from 1 to {}, not {}",
                                         name(circuit.kind), kLengthMax, circuit.length));
  if (has_max(circuit.kind) && (circuit.max == 0 || circuit.max >= kMaxMax))
    return invalid_parameter(
        fmt::format("the maximum of {} must be at least 1 and below 2^62, not {}",
                    name(circuit.kind), circuit.max));
  if (circuit.kind == CircuitKind::MultihotCountVec && circuit.max > circuit.length)
    return invalid_parameter("the weight of a multihot vector cannot exceed its length");
  if (circuit.chunk_length > kLengthMax) return invalid_parameter("the chunk length is too large");
  return {};
}

/// Digits of weights 1, 2, 4, ... and `last_weight`, which together reach exactly the maximum.
void encode_number(const Shape& shape, std::uint64_t value, std::vector<std::uint8_t>& out) {
  const std::uint64_t threshold = (std::uint64_t{1} << (shape.bits - 1)) - 1;
  const std::uint64_t high = threshold < value;
  const std::uint64_t low = value - (shape.last_weight & (0 - high));
  for (std::size_t bit = 0; bit + 1 < shape.bits; ++bit)
    out.push_back(static_cast<std::uint8_t>(low >> bit & 1));
  out.push_back(static_cast<std::uint8_t>(high));
}

/// The chunk whose proof, 2 chunk + 2 (P - 1) + 1 elements, is shortest.
std::size_t shortest_proof_chunk(std::size_t measurement) {
  std::size_t best = measurement, best_proof = 2 * measurement + 3;
  for (std::size_t points = 2; points / 2 <= measurement; points *= 2) {
    const std::size_t chunk = (measurement + points - 2) / (points - 1);
    const std::size_t proof = 2 * chunk + 2 * (points - 1) + 1;
    if (proof < best_proof) {
      best = chunk;
      best_proof = proof;
    }
  }
  return best;
}

Error wrong_measurement(const Shape& shape, const std::string& wanted) {
  return invalid_parameter(
      fmt::format("a measurement for {} must be {}", name(shape.circuit.kind), wanted));
}

/// The sum, or no sum when it passes the circuit's maximum.
Result<std::uint64_t> checked_sum(const Shape& shape, std::span<const std::uint64_t> values) {
  std::uint64_t sum = 0;
  for (const std::uint64_t value : values) {
    if (value > shape.circuit.max || sum + value > shape.circuit.max)
      return wrong_measurement(shape,
                               fmt::format("numbers that add up to at most {}", shape.circuit.max));
    sum += value;
  }
  return sum;
}

Result<void> check_numbers(const Shape& shape, std::span<const std::uint64_t> values) {
  const std::uint64_t most =
      shape.circuit.kind == CircuitKind::MultihotCountVec ? 1 : shape.circuit.max;
  for (const std::uint64_t value : values)
    if (value > most)
      return wrong_measurement(shape, fmt::format("whole numbers from 0 to {}", most));
  return {};
}

}  // namespace

const char* name(CircuitKind kind) {
  for (const Named& named : kNames)
    if (named.kind == kind) return named.name;
  return "unknown";
}

Result<CircuitKind> circuit_kind(std::string_view text) {
  for (const Named& named : kNames)
    if (text == named.name) return named.kind;
  return invalid_parameter(fmt::format(
      "no circuit is called {:?}; there are count, sum, sum-vec, histogram, multihot-count-vec, "
      "l1-bound-sum, sum-vec-multiproof",
      text));
}

Result<Shape> shape_of(const Circuit& circuit) {
  DISCREET_TRY_VOID(check(circuit));
  Shape shape{.circuit = circuit, .algorithm = 0, .field_bits = 64, .proofs = 1};
  for (const Named& named : kNames)
    if (named.kind == circuit.kind) shape.algorithm = named.algorithm;
  if (has_max(circuit.kind)) {
    shape.bits = static_cast<std::size_t>(std::bit_width(circuit.max));
    shape.last_weight = circuit.max - ((std::uint64_t{1} << (shape.bits - 1)) - 1);
  }
  const std::size_t length = circuit.length;
  switch (circuit.kind) {
    case CircuitKind::Count:
      shape.arity = 2;
      break;
    case CircuitKind::HigherDegree:
      shape.degree = 3;
      break;
    case CircuitKind::Sum:
      shape.measurement = shape.calls = shape.results = shape.bits;
      break;
    case CircuitKind::SumVecMultiproof:
    case CircuitKind::SumVec:
      shape.measurement = length * shape.bits;
      break;
    case CircuitKind::Histogram:
      shape.measurement = length;
      shape.results = 2;
      break;
    case CircuitKind::MultihotCountVec:
      shape.measurement = length + shape.bits;
      shape.results = 2;
      break;
    case CircuitKind::L1BoundSum:
      shape.measurement = (length + 1) * shape.bits;
      shape.results = 2;
      break;
  }
  if (has_length(circuit.kind)) {
    shape.field_bits = circuit.kind == CircuitKind::SumVecMultiproof ? 64 : 128;
    shape.proofs = circuit.kind == CircuitKind::SumVecMultiproof ? 3 : 1;
    std::size_t& chunk = shape.circuit.chunk_length;
    if (chunk == 0) chunk = shortest_proof_chunk(shape.measurement);
    shape.output = length;
    shape.calls = shape.joint = (shape.measurement + chunk - 1) / chunk;
    shape.arity = 2 * chunk;
  } else {
    shape.circuit.chunk_length = 0;
    shape.circuit.length = 1;
  }
  shape.points = std::bit_ceil(shape.calls + 1);
  shape.gadget_values = shape.degree * (shape.points - 1) + 1;
  shape.gadget_points = std::bit_ceil(shape.gadget_values);
  return shape;
}

Result<std::vector<std::uint8_t>> encode(const Shape& shape,
                                         std::span<const std::uint64_t> measurement) {
  const Circuit& circuit = shape.circuit;
  const bool is_vector = has_length(circuit.kind) && circuit.kind != CircuitKind::Histogram;
  const std::size_t entries = is_vector ? circuit.length : 1;
  if (measurement.size() != entries)
    return wrong_measurement(shape,
                             entries == 1 ? "one number" : fmt::format("{} numbers", entries));
  std::vector<std::uint8_t> out;
  out.reserve(shape.measurement);
  switch (circuit.kind) {
    case CircuitKind::Count:
      if (measurement[0] > 1) return wrong_measurement(shape, "0 or 1");
      out.push_back(static_cast<std::uint8_t>(measurement[0]));
      break;
    case CircuitKind::HigherDegree:
      if (measurement[0] > 2) return wrong_measurement(shape, "0, 1 or 2");
      out.push_back(static_cast<std::uint8_t>(measurement[0]));
      break;
    case CircuitKind::Histogram:
      if (measurement[0] >= circuit.length)
        return wrong_measurement(shape, fmt::format("a bucket from 0 to {}", circuit.length - 1));
      // Every bucket is written, so that time does not tell which.
      for (std::uint64_t bucket = 0; bucket < circuit.length; ++bucket)
        out.push_back(static_cast<std::uint8_t>(bucket == measurement[0]));
      break;
    case CircuitKind::Sum:
    case CircuitKind::SumVec:
    case CircuitKind::SumVecMultiproof:
      DISCREET_TRY_VOID(check_numbers(shape, measurement));
      for (const std::uint64_t value : measurement) encode_number(shape, value, out);
      break;
    case CircuitKind::MultihotCountVec: {
      DISCREET_TRY_VOID(check_numbers(shape, measurement));
      DISCREET_TRY(const std::uint64_t weight, checked_sum(shape, measurement));
      for (const std::uint64_t value : measurement) out.push_back(static_cast<std::uint8_t>(value));
      encode_number(shape, weight, out);
      break;
    }
    case CircuitKind::L1BoundSum: {
      DISCREET_TRY(const std::uint64_t norm, checked_sum(shape, measurement));
      for (const std::uint64_t value : measurement) encode_number(shape, value, out);
      encode_number(shape, norm, out);
      break;
    }
  }
  return out;
}

}  // namespace discreet::prio
