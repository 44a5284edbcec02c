#include "local/spec.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/suggest.h"
#include "privacy/parameters.h"

namespace discreet::local {
namespace {

using enum OracleKind;

struct Named {
  OracleKind kind;
  const char* name;
};
constexpr std::array kNames = {Named{RandomizedResponse, "grr"},
                               Named{SymmetricUnary, "sue"},
                               Named{OptimizedUnary, "oue"},
                               Named{ThresholdHistogram, "the"},
                               Named{SummedHistogram, "she"},
                               Named{BinaryHash, "blh"},
                               Named{OptimizedHash, "olh"},
                               Named{Hadamard, "hr"},
                               Named{Subset, "ss"},
                               Named{CountMeanSketch, "cms"},
                               Named{HadamardSketch, "hcms"},
                               Named{Rappor, "rappor"},
                               Named{MeanDuchi, "duchi"},
                               Named{MeanPiecewise, "piecewise"},
                               Named{MeanHybrid, "hybrid"},
                               Named{MeanLaplace, "laplace"},
                               Named{Sample, "sample"},
                               Named{Split, "split"}};
constexpr std::size_t kAttributesMax = 1000;

/// The cells that give local hashing the least variance: e^epsilon + 1, or a neighbour of it.
std::uint32_t best_cells(double epsilon) {
  const double e = std::exp(epsilon);
  const auto variance = [&](double g) { return (e - 1 + g) * (e - 1 + g) / (g - 1); };
  const double below = std::max(2.0, std::floor(e + 1));
  return static_cast<std::uint32_t>(variance(below) <= variance(below + 1) ? below : below + 1);
}

/// THE's variance at f = 0 (Wang et al. 2017), minimised over a grid of 1/1024.
double best_threshold(double epsilon) {
  double best = 0.75, least = INFINITY;
  for (int i = 513; i < 1024; ++i) {
    const double t = i / 1024.0;
    const double a = 2 * std::exp(epsilon * t / 2);
    const double below = 1 + std::exp(epsilon * (t - 0.5)) - a;
    const double variance = (a - 1) / (below * below);
    if (variance < least) {
      least = variance;
      best = t;
    }
  }
  return best;
}

Error bad(const std::string& message) {
  return invalid_parameter(message);
}

Result<void> check_domain(Spec& spec) {
  if (!spec.labels.empty()) {
    if (spec.values == 0) spec.values = spec.labels.size();
    if (spec.values != spec.labels.size())
      return bad(
          fmt::format("{} labels were given for {} values", spec.labels.size(), spec.values));
    auto sorted = spec.labels;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
      return bad("two values have the same label");
  }
  if (is_mean(spec.kind)) {
    if (spec.values != 0) return bad("a mean has a range, not a number of values");
    if (!std::isfinite(spec.low) || !std::isfinite(spec.high) || !(spec.low < spec.high))
      return bad("the range of a mean needs a lower end below its upper end");
    return {};
  }
  if (spec.values == 0 && takes_open_text(spec.kind)) return {};
  if (spec.values < 2 || spec.values > kValuesMax)
    return bad(fmt::format("the number of values must be between 2 and {}", kValuesMax));
  return {};
}

Result<void> check_sketch(Spec& spec) {
  if (spec.hashes == 0) spec.hashes = 256;
  if (spec.width == 0) spec.width = 1024;
  if (spec.hashes > 65536 || spec.width < 2 || spec.width > 65536)
    return bad("a sketch has 1 to 65536 hash functions and rows of 2 to 65536 cells");
  if (std::uint64_t{spec.hashes} * spec.width > (std::uint64_t{1} << 27))
    return bad("a sketch of more than 2^27 cells does not fit in memory; use fewer hash functions");
  if (spec.kind == HadamardSketch && (spec.width & (spec.width - 1)) != 0)
    return bad("rows of a Hadamard sketch have a power of two of cells");
  return {};
}

Result<void> check_rappor(Spec& spec) {
  if (spec.hashes == 0) spec.hashes = 2;
  if (spec.width == 0) spec.width = 128;
  if (spec.cohorts == 0) spec.cohorts = 64;
  if (spec.hashes > 16 || spec.width < 2 * spec.hashes || spec.width > 4096 || spec.cohorts > 1024)
    return bad(
        "RAPPOR takes 1 to 16 hash functions, filters of up to 4096 bits (at least two per hash "
        "function) and up to 1024 cohorts");
  if (spec.permanent_epsilon != 0 &&
      (!(spec.permanent_epsilon > spec.epsilon) || spec.permanent_epsilon > kEpsilonMax))
    return bad(
        fmt::format("the permanent epsilon of RAPPOR covers all reports of a value, so it must be "
                    "above that of "
                    "one report ({}) and not above {}",
                    spec.epsilon, kEpsilonMax));
  return {};
}

bool writes_in_a_line(const std::string& text) {
  return !text.empty() && text.find_first_of(",=\r\n") == std::string::npos;
}

// Every attribute gets its epsilon here: all of it if one of them is drawn, a share of it, rounded
// down, if all of them are sent.
Result<void> check_record(Spec& spec) {
  if (spec.attributes.empty() || spec.attributes.size() > kAttributesMax)
    return bad(fmt::format("a record has 1 to {} attributes", kAttributesMax));
  if (!spec.labels.empty()) return bad("labels belong to the attributes of a record");
  DISCREET_TRY(const Epsilon whole, Epsilon::make(spec.epsilon));
  spec.values = 0;
  std::uint64_t combinations = 1;
  std::vector<std::string> names;
  for (Spec& attribute : spec.attributes) {
    if (is_record(attribute.kind) || is_mean(attribute.kind))
      return bad("attributes of a record have numbered values");
    if (!writes_in_a_line(attribute.name) ||
        !std::all_of(attribute.labels.begin(), attribute.labels.end(), writes_in_a_line))
      return bad("names and labels of attributes are not empty and have no ',' and no '='");
    attribute.epsilon =
        spec.kind == Split ? whole.share(spec.attributes.size()).value() : spec.epsilon;
    DISCREET_TRY(attribute, complete(std::move(attribute)));
    if (attribute.values == 0) return bad("attributes of a record have numbered values");
    if (attribute.values > kCombinationsMax / combinations)
      return bad(
          "a record has more than 2^62 combinations of values; collect some attributes separately");
    combinations *= attribute.values;
    spec.values += attribute.values;
    names.push_back(attribute.name);
  }
  std::sort(names.begin(), names.end());
  if (std::adjacent_find(names.begin(), names.end()) != names.end())
    return bad("two attributes have the same name");
  return {};
}

}  // namespace

const char* name(OracleKind kind) {
  for (const auto& named : kNames)
    if (named.kind == kind) return named.name;
  fail_check("a known oracle", "every oracle has a name");
}

Result<OracleKind> oracle_kind(std::string_view text) {
  std::vector<std::string> known;
  for (const auto& named : kNames) {
    if (text == named.name) return named.kind;
    known.emplace_back(named.name);
  }
  return bad(fmt::format("there is no oracle '{}'{}; the oracles are {}", text,
                         did_you_mean(text, known), fmt::join(known, ", ")));
}

std::vector<OracleKind> all_oracles() {
  std::vector<OracleKind> kinds;
  for (const auto& named : kNames)
    if (!is_record(named.kind)) kinds.push_back(named.kind);
  return kinds;
}

bool is_mean(OracleKind kind) {
  return kind == MeanDuchi || kind == MeanPiecewise || kind == MeanHybrid || kind == MeanLaplace;
}

bool is_record(OracleKind kind) {
  return kind == Sample || kind == Split;
}

bool takes_open_text(OracleKind kind) {
  return kind == CountMeanSketch || kind == HadamardSketch || kind == Rappor;
}

Result<Spec> complete(Spec spec) {
  if (!(spec.epsilon >= kEpsilonMin && spec.epsilon <= kEpsilonMax))
    return bad(
        fmt::format("epsilon of a report must be between {:.3g} (below it reports carry nothing) "
                    "and {} (above it "
                    "they hide nothing)",
                    kEpsilonMin, kEpsilonMax));
  if (is_record(spec.kind)) {
    DISCREET_TRY_VOID(check_record(spec));
    return spec;
  }
  if (!spec.attributes.empty()) return bad("attributes are of 'sample' and 'split' only");
  DISCREET_TRY_VOID(check_domain(spec));
  switch (spec.kind) {
    case BinaryHash:
      if (spec.cells == 0) spec.cells = 2;
      if (spec.cells != 2) return bad("binary local hashing has two cells");
      break;
    case OptimizedHash:
      if (spec.cells == 0) spec.cells = best_cells(spec.epsilon);
      if (spec.cells < 2 || spec.cells > (std::uint32_t{1} << 30))
        return bad("local hashing needs 2 to 2^30 cells");
      break;
    case Subset:
      if (spec.subset == 0)
        spec.subset = static_cast<std::uint32_t>(std::max(
            1.0, std::round(static_cast<double>(spec.values) / (std::exp(spec.epsilon) + 1))));
      if (spec.subset >= spec.values) return bad("the subset must be smaller than the set");
      break;
    case ThresholdHistogram:
      if (spec.threshold == 0) spec.threshold = best_threshold(spec.epsilon);
      if (!(spec.threshold > 0.5 && spec.threshold < 1))
        return bad("the threshold of THE lies between 0.5 and 1");
      break;
    case CountMeanSketch:
    case HadamardSketch:
      DISCREET_TRY_VOID(check_sketch(spec));
      break;
    case Rappor:
      DISCREET_TRY_VOID(check_rappor(spec));
      break;
    default:
      break;
  }
  return spec;
}

}  // namespace discreet::local
