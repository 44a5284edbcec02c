// `discreet prio heavy`: the frequent strings of a crowd by Poplar1, all parties played in one
// process.
#include <cstdio>
#include <iostream>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/parse_number.h"
#include "cli/prio.h"
#include "prio/heavy_strings.h"
#include "random/secure_random.h"

namespace discreet::cli {
namespace {

struct Options {
  std::string epsilon, delta = "0", bytes = "8", bits_per_round = "4", threshold;
  bool json = false;
};

Result<int> heavy(const Options& o) {
  prio::HeavyStringsPolicy policy;
  DISCREET_TRY(policy.epsilon, parse_number(o.epsilon, "epsilon"));
  DISCREET_TRY(policy.delta, parse_number(o.delta, "delta"));
  DISCREET_TRY(const auto bytes, parse_integer(o.bytes, "bytes"));
  DISCREET_TRY(const auto step, parse_integer(o.bits_per_round, "bits-per-round"));
  if (bytes < 1 || bytes > 256) return invalid_parameter("strings have 1 to 256 bytes");
  if (step < 1 || step > 8) return invalid_parameter("a round asks about 1 to 8 more bits");
  policy.bits = 8 * static_cast<std::size_t>(bytes);
  policy.bits_per_round = static_cast<std::size_t>(step);
  if (!o.threshold.empty()) {
    DISCREET_TRY(const double threshold, parse_number(o.threshold, "threshold"));
    policy.threshold = threshold;
  }
  DISCREET_TRY(const auto finder, prio::HeavyStrings::make(policy));

  SecureRandom clients, leader, helper;
  const std::string context = "discreet prio heavy";
  std::vector<prio::StringReport> reports;
  for (std::string line; std::getline(std::cin, line);) {
    if (line.size() > static_cast<std::size_t>(bytes))
      return invalid_input(
          fmt::format("line {} is longer than --bytes {}", reports.size() + 1, bytes));
    line.resize(static_cast<std::size_t>(bytes), '\0');
    reports.push_back(
        finder.shard(prio::as_bytes(context), prio::BitString::of_text(line), clients));
  }
  std::vector<std::uint64_t> key(prio::kVerifyKeyBytes / 8);
  leader.fill(key);
  const prio::ByteSpan verify_key(reinterpret_cast<const std::uint8_t*>(key.data()),
                                  prio::kVerifyKeyBytes);
  DISCREET_TRY(const auto found,
               finder.run(prio::as_bytes(context), verify_key, reports, {&leader, &helper}));

  const auto text = [](const prio::BitString& string) {
    const std::string padded = prio::as_text(string.bytes());
    return padded.substr(0, padded.find_last_not_of('\0') + 1);
  };
  const auto printable = [](const nlohmann::ordered_json& json) {  // noise may list any bytes
    return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  };
  if (o.json) {
    nlohmann::ordered_json out = {
        {"reports", reports.size()},   {"epsilon", policy.epsilon},
        {"delta", policy.delta},       {"rounds", found.rounds.size()},
        {"error95", finder.error95()}, {"strings", nlohmann::ordered_json::array()}};
    for (const auto& [string, count] : found.strings)
      out["strings"].push_back({{"string", text(string)}, {"count", count}});
    std::puts(printable(out).c_str());
    return kOk;
  }
  fmt::print("{} reports; epsilon {}, delta {}; 95 % of counts are within {} of the exact ones\n",
             reports.size(), policy.epsilon, policy.delta, finder.error95());
  fmt::print("{} of {} rounds; {} prefixes asked about in the last, counts below {:.0f} dropped\n",
             found.rounds.size(), finder.rounds(), found.rounds.back().query.size(),
             found.rounds.back().threshold);
  for (const auto& [string, count] : found.strings)
    fmt::print("{:>10}  {}\n", count, printable(text(string)));
  if (found.strings.empty()) fmt::print("no string stands out from the noise\n");
  return kOk;
}

}  // namespace

void add_prio_heavy(CLI::App& prio, Action& chosen) {
  CLI::App* verb = add_verb(
      prio, "heavy", "Frequent strings that two servers find without seeing any (Poplar1)",
      "  discreet prio heavy --epsilon 2 --delta 1e-6 --bytes 6 < words.txt\n"
      "Plays clients and both servers in one process, with the messages they would exchange; it\n"
      "charges no ledger. Each server adds all of the noise to its shares of every round, so\n"
      "counts, the prefixes asked about and the list are (epsilon, delta)-DP for one line\n"
      "replaced, against the other server too. Without noise prefix counts are not private, so\n"
      "there is no such mode.");
  auto o = std::make_shared<Options>();
  verb->add_option("--epsilon", o->epsilon, "Of all rounds together")->required();
  verb->add_option("--delta", o->delta, "0: discrete Laplace noise; above 0: discrete Gaussian")
      ->capture_default_str();
  verb->add_option("--bytes", o->bytes, "Length of strings; shorter lines are padded")
      ->capture_default_str();
  verb->add_option("--bits-per-round", o->bits_per_round, "How far prefixes grow a round, 1 to 8")
      ->capture_default_str();
  verb->add_option("--threshold", o->threshold,
                   "Drop noisy counts below; by default what noise alone passes in 5 % of runs");
  verb->add_flag("--json", o->json, "One JSON object");
  verb->callback([&chosen, o] {
    chosen = [o] {
      const auto done = heavy(*o);
      return done ? *done : fail(done.error());
    };
  });
}

}  // namespace discreet::cli
