// `discreet local audit A B`: bounds the epsilon of anyone's client from below, from what it sent
// for two values.
#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "audit/epsilon_lower_bound.h"
#include "base/parse_number.h"
#include "cli/local_options.h"
#include "local/hash.h"
#include "random/secure_random.h"

namespace discreet::cli {
namespace {

struct Options {
  std::string first, second, epsilon;
  bool json = false;
};

Result<int> audit(const Options& o) {
  DISCREET_TRY(const double claimed, parse_number(o.epsilon, "epsilon"));
  DISCREET_TRY(const auto first_text, read_all(o.first));
  DISCREET_TRY(const auto second_text, read_all(o.second));
  const auto first = lines_of(first_text), second = lines_of(second_text);
  const std::size_t trials = std::min(first.size(), second.size());
  if (trials < 1000)
    return invalid_input("an audit needs at least 1,000 reports of each value, one a line");
  // A report's key depends on the report alone, so that the choice of an event cannot peek.
  const auto replay = [](const std::vector<std::string>& lines) {
    return [&lines, next = std::size_t{0}](RandomSource&) mutable {
      return static_cast<std::int64_t>(local::text_key(lines[next++]));
    };
  };
  SecureRandom random;
  const auto found = audit_epsilon(replay(first), replay(second),
                                   {.trials = trials, .confidence = 1 - 1e-9}, random);
  const bool refuted = found.lower_bound > claimed;
  if (o.json) {
    nlohmann::ordered_json out;
    out["claimed"] = claimed;
    out["lower_bound"] = found.lower_bound;
    out["verdict"] = refuted ? "refuted" : "pass";
    out["event"] = found.event;
    out["reports"] = trials;
    std::printf("%s\n", out.dump().c_str());
  } else {
    fmt::print("claimed epsilon {}, at least {:.4g} from {} reports of each value: {}\n", claimed,
               found.lower_bound, trials, refuted ? "refuted" : "not refuted");
  }
  return refuted ? kFailed : kOk;
}

}  // namespace

void add_local_audit(CLI::App& app, Action& chosen) {
  CLI::App* verb = add_verb(
      app, "audit", "Bound a client's epsilon from below, from its reports of two values",
      "  yes 0 | head -50000 | discreet local randomize --oracle oue --epsilon 1 --values 2 "
      "| tail -n +2 > a\n"
      "  yes 1 | head -50000 | discreet local randomize --oracle oue --epsilon 1 --values 2 "
      "| tail -n +2 > b\n"
      "  discreet local audit a b --epsilon 1");
  auto o = std::make_shared<Options>();
  verb->add_option("first", o->first, "Reports of one value, one a line")->required();
  verb->add_option("second", o->second, "Reports of another value")->required();
  verb->add_option("--epsilon", o->epsilon, "What the client claims")->required();
  verb->add_flag("--json", o->json, "claimed, lower_bound, verdict; exit 1 when refuted");
  verb->callback([&chosen, o] {
    chosen = [o] {
      const auto done = audit(*o);
      return done ? *done : fail(done.error());
    };
  });
}

}  // namespace discreet::cli
