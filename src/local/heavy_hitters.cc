#include "local/heavy_hitters.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "local/confidence.h"
#include "local/hash.h"
#include "local/report_bytes_internal.h"
#include "random/uniform.h"

namespace discreet::local {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::size_t kKeptMin = 64;  // prefixes carried to the next group, whatever is asked for

struct Support {
  std::uint64_t a, b, cell;
};

std::string without_padding(const std::string& padded) {
  return padded.substr(0, padded.find_last_not_of('\0') + 1);
}

}  // namespace

Result<HeavyHitters> HeavyHitters::make(HitterSpec spec) {
  Spec hash;  // the hash's size and the limits of epsilon are those of OLH
  hash.kind = OracleKind::OptimizedHash;
  hash.epsilon = spec.epsilon;
  hash.values = 2;
  hash.cells = spec.cells;
  DISCREET_TRY(const Spec complete_hash, complete(hash));
  spec.cells = complete_hash.cells;
  if (spec.bytes_max < 1 || spec.bytes_max > 64)
    return invalid_parameter("strings of heavy hitters are cut at 1 to 64 bytes");
  if (spec.piece_bits < 1 || spec.piece_bits > 8 || (8 * spec.bytes_max) % spec.piece_bits != 0)
    return invalid_parameter("a piece has 1 to 8 bits, and whole pieces make up a string");
  if (8 * spec.bytes_max / spec.piece_bits > 255)
    return invalid_parameter("more than 255 groups; use longer pieces or shorter strings");
  const Coin lie = Coin::at_least(
      Probability::logistic(exact_rational(spec.epsilon).value(), Rational(spec.cells - 1)));
  std::shared_ptr<const Oracle> sketch;
  if (spec.kind == HitterKind::Sketch) {
    Spec open;
    open.kind = OracleKind::HadamardSketch;
    open.epsilon = spec.epsilon;
    open.hashes = spec.hashes;
    open.width = spec.width;
    open.hash_seed = spec.hash_seed;
    DISCREET_TRY(const Spec complete_sketch, complete(open));
    spec.hashes = complete_sketch.hashes;
    spec.width = complete_sketch.width;
    DISCREET_TRY(auto oracle, Oracle::make(complete_sketch));
    sketch = std::move(oracle);
  }
  return HeavyHitters(std::move(spec), lie, std::move(sketch));
}

HeavyHitters::HeavyHitters(HitterSpec spec, Coin lie, std::shared_ptr<const Oracle> sketch)
    : spec_(std::move(spec)),
      groups_(8 * spec_.bytes_max / spec_.piece_bits),
      lie_(lie),
      sketch_(std::move(sketch)) {}

std::size_t HeavyHitters::report_bytes() const {
  return sketch_ ? 1 + sketch_->report_bytes() : kReportBytes;
}

std::string HeavyHitters::padded(std::string_view text) const {
  std::string out(text.substr(0, spec_.bytes_max));
  out.resize(spec_.bytes_max, '\0');
  return out;
}

/// The key of the prefix that a group reports: its bits, and which group it is.
std::uint64_t HeavyHitters::key(std::uint32_t group, const std::string& text) const {
  const std::uint32_t bits = bits_of(group);
  std::string prefix = text.substr(0, (bits + 7) / 8);
  if (bits % 8 != 0)
    prefix.back() =
        static_cast<char>(static_cast<unsigned char>(prefix.back()) & (0xff00U >> (bits % 8)));
  prefix += static_cast<char>(group);
  return text_key(prefix);
}

void HeavyHitters::randomize(std::string_view text, RandomSource& random,
                             std::span<std::uint8_t> report) const {
  const auto group = static_cast<std::uint32_t>(uniform_below(groups_, random));
  const std::uint64_t own = key(group, padded(text));
  if (sketch_) {
    report[0] = static_cast<std::uint8_t>(group);
    sketch_->randomize(own, random, report.subspan(1));
    return;
  }
  const LargeHash hash{uniform_below(LargeHash::kPrime, random),
                       uniform_below(LargeHash::kPrime, random)};
  const std::uint64_t cell = hash.bucket(own, spec_.cells);
  const bool lies = lie_.toss(random);
  const std::uint64_t drawn = uniform_below(spec_.cells - 1, random);
  const std::uint64_t other = drawn + (drawn >= cell ? 1 : 0);
  report[0] = static_cast<std::uint8_t>(group);
  put(report.data() + 1, hash.a, 8);
  put(report.data() + 9, hash.b, 8);
  put(report.data() + 17, lies ? other : cell, 4);
}

bool HeavyHitters::valid(Bytes report) const {
  if (sketch_)
    return report.size() == report_bytes() && report[0] < groups_ &&
           sketch_->valid(report.subspan(1));
  return report.size() == kReportBytes && report[0] < groups_ &&
         get(report.data() + 1, 8) < LargeHash::kPrime &&
         get(report.data() + 9, 8) < LargeHash::kPrime && get(report.data() + 17, 4) < spec_.cells;
}

Rational HeavyHitters::likelihood(Bytes report, std::string_view text) const {
  if (!valid(report)) return 0;
  const std::uint64_t own = key(report[0], padded(text));
  if (sketch_) return sketch_->likelihood(report.subspan(1), own) / groups_;
  const LargeHash hash{get(report.data() + 1, 8), get(report.data() + 9, 8)};
  const bool truth = hash.bucket(own, spec_.cells) == get(report.data() + 17, 4);
  return (truth ? Rational(1 - lie_.exact()) : Rational(lie_.exact() / (spec_.cells - 1))) /
         groups_;
}

Result<std::vector<Estimate>> HeavyHitters::support(Bytes reports,
                                                    std::span<const std::uint64_t> keys) const {
  if (sketch_) {
    Tally tally = sketch_->empty_tally();
    sketch_->add(reports, tally);
    if (tally.reports == 0) return std::vector<Estimate>(keys.size());
    return sketch_->estimate(tally, keys);
  }
  std::vector<Support> parsed;
  for (; !reports.empty(); reports = reports.subspan(kReportBytes - 1))
    parsed.push_back(
        {get(reports.data(), 8), get(reports.data() + 8, 8), get(reports.data() + 16, 4)});
  const double p = lie_.opposite().chance(), q = 1.0 / spec_.cells, gain = p - q;
  const auto n = static_cast<double>(parsed.size());
  std::vector<Estimate> out;
  for (const std::uint64_t own : keys) {
    std::uint64_t hits = 0;
    for (const auto& s : parsed)
      hits += LargeHash{s.a, s.b}.bucket(own, spec_.cells) == s.cell ? 1 : 0;
    const double count = (static_cast<double>(hits) - n * q) / gain;
    const double held = std::clamp(count, 0.0, n);
    const double variance = n * q * (1 - q) / (gain * gain) + held * (1 - p - q) / gain;
    out.push_back({count, std::sqrt(std::max(0.0, variance))});
  }
  return out;
}

Result<std::vector<Hitter>> HeavyHitters::find(Bytes reports, std::size_t most,
                                               double confidence) const {
  const std::size_t kept = std::max(most * 2, kKeptMin),
                    growth = std::size_t{1} << spec_.piece_bits;
  DISCREET_TRY(const double z, critical_value(confidence, kept * growth));
  std::vector<std::vector<std::uint8_t>> groups(groups_);
  const std::size_t size = report_bytes();
  for (; !reports.empty(); reports = reports.subspan(size)) {
    auto& group = groups[reports[0]];
    group.insert(group.end(), reports.begin() + 1,
                 reports.begin() + static_cast<std::ptrdiff_t>(size));
  }
  const double scale = groups_;

  std::vector<Hitter> alive = {{std::string(spec_.bytes_max, '\0'), 0, 0}};
  for (std::uint32_t group = 0; group < groups_; ++group) {
    const std::uint32_t first = group * spec_.piece_bits;  // bit where the new piece begins
    std::vector<Hitter> grown;
    std::vector<std::uint64_t> keys;
    for (const auto& prefix : alive)
      for (std::size_t piece = 0; piece < growth; ++piece) {
        Hitter next{prefix.text, 0, 0};
        for (std::uint32_t i = 0; i < spec_.piece_bits; ++i)
          if (((piece >> (spec_.piece_bits - 1 - i)) & 1) != 0) {
            auto& byte = next.text[(first + i) / 8];
            byte =
                static_cast<char>(static_cast<unsigned char>(byte) | (0x80U >> ((first + i) % 8)));
          }
        keys.push_back(key(group, next.text));
        grown.push_back(std::move(next));
      }
    if (grown.empty()) break;
    DISCREET_TRY(const auto counts, support(groups[group], keys));
    const auto n = static_cast<double>(groups[group].size() / (size - 1));
    for (std::size_t i = 0; i < grown.size(); ++i) {
      // The group is a random part of the crowd: its count is scaled up, with the error of that.
      const double held = std::clamp(counts[i].estimate, 0.0, n), own = counts[i].standard_error;
      grown[i].estimate = scale * counts[i].estimate;
      grown[i].standard_error = std::sqrt(scale * scale * own * own + scale * held * (scale - 1));
    }
    std::erase_if(grown, [&](const Hitter& h) {
      return !(h.estimate > (group + 1 == groups_ ? z : 1.0) * h.standard_error);
    });
    std::stable_sort(grown.begin(), grown.end(),
                     [](const Hitter& a, const Hitter& b) { return a.estimate > b.estimate; });
    if (grown.size() > kept) grown.resize(kept);
    alive = std::move(grown);
  }
  if (alive.size() > most) alive.resize(most);
  for (auto& hitter : alive) hitter.text = without_padding(hitter.text);
  return alive;
}

std::string HeavyHitters::header() const {
  Json json = {{"discreet_local", 1}};
  if (!spec_.name.empty()) json["name"] = spec_.name;
  json["oracle"] = sketch_ ? "treehist" : "pem";
  json["epsilon"] = spec_.epsilon;
  json["bytes_max"] = spec_.bytes_max;
  json["piece_bits"] = spec_.piece_bits;
  if (sketch_) {
    json["hashes"] = spec_.hashes;
    json["width"] = spec_.width;
    json["hash_seed"] = spec_.hash_seed;
  } else {
    json["cells"] = spec_.cells;
  }
  json["report_bytes"] = report_bytes();
  return json.dump();
}

bool HeavyHitters::is_header(std::string_view line) {
  const auto json = Json::parse(line, nullptr, false);
  return json.is_object() && json.contains("oracle") &&
         (json["oracle"] == "pem" || json["oracle"] == "treehist");
}

Result<HeavyHitters> HeavyHitters::from_header(std::string_view line) {
  const auto json = Json::parse(line, nullptr, false);
  const auto bad = [](const char* why) {
    return invalid_input(fmt::format("header of the reports: {}", why));
  };
  if (!json.is_object() || !json.contains("discreet_local") || json["discreet_local"] != 1)
    return bad("it lacks \"discreet_local\": 1");
  HitterSpec spec;
  const auto whole = [&](const char* field, std::uint32_t& to) {
    if (!json.contains(field)) return true;
    if (!json[field].is_number_unsigned() || json[field].get<std::uint64_t>() > UINT32_MAX)
      return false;
    to = json[field].get<std::uint32_t>();
    return true;
  };
  if (!json.contains("epsilon") || !json["epsilon"].is_number()) return bad("'epsilon' is missing");
  spec.epsilon = json["epsilon"].get<double>();
  if (json.contains("name") && json["name"].is_string())
    spec.name = json["name"].get<std::string>();
  if (!whole("bytes_max", spec.bytes_max) || !whole("piece_bits", spec.piece_bits) ||
      !whole("cells", spec.cells) || !whole("hashes", spec.hashes) || !whole("width", spec.width))
    return bad("a size is not a whole number");
  if (json.contains("oracle") && json["oracle"] == "treehist") spec.kind = HitterKind::Sketch;
  if (json.contains("hash_seed")) {
    if (!json["hash_seed"].is_number_unsigned()) return bad("'hash_seed' is not a whole number");
    spec.hash_seed = json["hash_seed"].get<std::uint64_t>();
  }
  return make(std::move(spec));
}

}  // namespace discreet::local
