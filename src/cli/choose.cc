// `discreet choose`: pick from a list by private scores, and say how good the pick is likely to be.
#include <cmath>
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/score_file.h"
#include "cli/verb.h"
#include "mechanisms/exponential.h"
#include "mechanisms/noisy_max.h"
#include "mechanisms/permute_and_flip.h"
#include "mechanisms/top_k.h"
#include "random/secure_random.h"

namespace discreet::cli {
namespace {

struct Options {
  std::string scores;
  double epsilon = 0;
  std::string sensitivity = "1";
  bool monotone = false;
  std::string mechanism;
  std::uint64_t top = 1;
  double confidence = 0.95;
  bool json = false;
};

struct Pick {
  std::vector<std::size_t> indices;
  double error = 0, error95 = 0;  // in units of the file's last decimal
  std::string mechanism;
  nlohmann::ordered_json loss;
};

// What a choice costs, as numbers a script can use. Selections of bounded range e are e^2/8-zCDP,
// pure ones e^2/2.
nlohmann::ordered_json loss_json(const char* kind, Epsilon total, Epsilon each, std::uint64_t count,
                                 double divisor) {
  const double rho = mul_up(count_up(count), div_up(mul_up(each.value(), each.value()), divisor));
  return {{"kind", kind}, {"epsilon", total.value()}, {"delta", 0}, {"rho", rho}, {"count", count}};
}

Result<Pick> pick_several(const Options& options, const ScoreList& list, QualityScore score,
                          Epsilon epsilon) {
  SecureRandom random;
  DISCREET_TRY(const auto mechanism, TopK::within(epsilon, options.top, score));
  DISCREET_TRY(auto indices, mechanism.release(list.scores, random));
  const std::uint64_t n = list.names.size();
  return Pick{std::move(indices), mechanism.error_bound(options.confidence, n),
              mechanism.error_bound(0.95, n), "top-k by the exponential mechanism",
              loss_json("bounded_range", epsilon, mechanism.epsilon_each(), options.top, 8)};
}

Result<Pick> pick_one(const Options& options, const ScoreList& list, QualityScore score,
                      Epsilon epsilon) {
  SecureRandom random;
  const std::uint64_t n = list.names.size();
  if (options.mechanism == "exponential") {
    DISCREET_TRY(const auto mechanism, ExponentialMechanism::make(epsilon, score));
    DISCREET_TRY(const std::size_t index, mechanism.release(list.scores, random));
    return Pick{{index},
                mechanism.error_bound(options.confidence, n),
                mechanism.error_bound(0.95, n),
                "exponential",
                loss_json("bounded_range", epsilon, epsilon, 1, 8)};
  }
  // Noisy max with geometric noise is permute-and-flip in distribution, so one bound serves both.
  DISCREET_TRY(const auto flip, PermuteAndFlip::make(epsilon, score));
  std::size_t index = 0;
  if (options.mechanism == "noisy-max") {
    DISCREET_TRY(const auto mechanism, NoisyMax::make(epsilon, score));
    DISCREET_TRY(index, mechanism.release(list.scores, random));
  } else {
    DISCREET_TRY(index, flip.release(list.scores, random));
  }
  return Pick{{index},
              flip.error_bound(options.confidence, n),
              flip.error_bound(0.95, n),
              options.mechanism.empty() ? "permute-and-flip" : options.mechanism,
              loss_json("pure", epsilon, epsilon, 1, 2)};
}

// Six digits, rounded up: the bound holds whatever the scores are, and more digits would tell how
// finely the file was written.
double shown_bound(double units, int decimals) {
  double value = div_up(units, std::pow(10.0, decimals));
  if (value == 0 || !std::isfinite(value)) return value;
  const double rounded = std::stod(fmt::format("{:.5e}", value));
  if (rounded >= value) return rounded;
  return std::stod(
      fmt::format("{:.5e}", rounded + std::pow(10.0, std::floor(std::log10(value)) - 5)));
}

Result<void> check(const Options& options) {
  if (!(options.confidence > 0 && options.confidence < 1))
    return invalid_parameter(
        fmt::format("--confidence must lie strictly between 0 and 1, not {}", options.confidence));
  if (options.top == 0) return invalid_parameter("--top must be at least 1");
  if (options.top > 1 && !options.mechanism.empty() && options.mechanism != "exponential")
    return invalid_parameter(
        "--top above 1 is answered by the exponential mechanism; leave out --mechanism");
  return {};
}

Result<void> choose(const Options& options) {
  DISCREET_TRY_VOID(check(options));
  DISCREET_TRY(const Epsilon epsilon, Epsilon::make(options.epsilon));
  const auto sensitivity = parse_decimal(options.sensitivity);
  if (!sensitivity || sensitivity->digits <= 0)
    return invalid_parameter(
        "--sensitivity must be a positive decimal number of at most 18 digits");
  DISCREET_TRY(const ScoreList list, read_scores(options.scores, *sensitivity));
  if (list.sensitivity > (std::int64_t{1} << 53))
    return invalid_parameter("--sensitivity has too many digits for these scores; round it up");
  DISCREET_TRY(const auto units, LInfSensitivity::make(static_cast<double>(list.sensitivity)));
  const QualityScore score{units, options.monotone};
  DISCREET_TRY(const Pick pick, options.top > 1 ? pick_several(options, list, score, epsilon)
                                                : pick_one(options, list, score, epsilon));

  const double error = shown_bound(pick.error, list.decimals);
  if (options.json) {
    nlohmann::ordered_json answer;
    if (options.top == 1) {
      answer["choice"] = list.names[pick.indices[0]];
      answer["index"] = pick.indices[0];
    } else {
      for (const std::size_t index : pick.indices) answer["choice"].push_back(list.names[index]);
      answer["index"] = pick.indices;
    }
    answer["mechanism"] = pick.mechanism;
    answer["candidates"] = list.names.size();
    answer["error95"] = shown_bound(pick.error95, list.decimals);
    if (options.confidence != 0.95) {
      answer["confidence"] = options.confidence;
      answer["error"] = error;
    }
    answer["loss"] = pick.loss;
    std::printf("%s\n",
                answer.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  } else {
    for (const std::size_t index : pick.indices) std::printf("%s\n", list.names[index].c_str());
  }
  fmt::print(stderr, "With {:.6g} % confidence {} within {:.6g} of the {} ({} candidates, {}).\n",
             options.confidence * 100, options.top == 1 ? "its score is" : "each score is", error,
             options.top == 1 ? "best score" : "score that belongs in its place", list.names.size(),
             pick.mechanism);
  fmt::print(stderr, "Costs epsilon {:.6g} (rho {:.6g}) for whoever moves a score by at most {}.\n",
             epsilon.value(), pick.loss["rho"].get<double>(), options.sensitivity);
  return {};
}

}  // namespace

void add_choose(CLI::App& app, Action& chosen) {
  CLI::App* verb = add_verb(app, "choose", "Pick from a list by private scores",
                            "  printf 'pizza,41\\nsushi,38\\nsoup,12\\n' |\n"
                            "    discreet choose --scores - --epsilon 0.5 --monotone");
  auto options = std::make_shared<Options>();
  verb->add_option("--scores", options->scores, "CSV name,score or JSON; - for standard input")
      ->required();
  verb->add_option("--epsilon", options->epsilon, "privacy loss of the whole choice")->required();
  verb->add_option("--sensitivity", options->sensitivity,
                   "most that one person moves any one score (1)");
  verb->add_flag("--monotone", options->monotone,
                 "one person moves all scores the same way, as in counting");
  verb->add_option("--mechanism", options->mechanism, "permute-and-flip unless --top is above 1")
      ->check(CLI::IsMember({"exponential", "permute-and-flip", "noisy-max"}));
  verb->add_option("--top", options->top,
                   "choose this many, best first, for the same epsilon in all");
  verb->add_option("--confidence", options->confidence, "of the error told (0.95)");
  verb->add_flag("--json", options->json, "one JSON object instead of names");
  verb->callback([options, &chosen] {
    chosen = [options] {
      const auto done = choose(*options);
      return done ? static_cast<int>(kOk) : fail(done.error());
    };
  });
}

}  // namespace discreet::cli
