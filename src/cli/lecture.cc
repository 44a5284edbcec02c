// `discreet lecture`: the statements of the lectures, shown on made-up people (docs/lectures).
#include <cstdio>
#include <fstream>
#include <memory>

#include <fmt/format.h>

#include "cli/score_file.h"
#include "cli/verb.h"
#include "lecture/aggregation.h"
#include "lecture/choice.h"
#include "lecture/loss.h"
#include "lecture/queries.h"
#include "lecture/study.h"
#include "lecture/worlds.h"
#include "random/secure_random.h"

namespace discreet::cli {
namespace {

using lecture::Shown;

struct Common {
  bool json = false;
  std::string picture;
};

int show(const Result<Shown>& shown, const Common& common) {
  if (!shown) return fail(shown.error());
  std::fputs((common.json ? as_json(*shown) + "\n" : as_text(*shown)).c_str(), stdout);
  if (!common.picture.empty()) {
    if (shown->picture.empty())
      return fail(invalid_parameter("this demonstration has no picture; leave out --picture"));
    std::ofstream out(common.picture, std::ios::binary);
    out << shown->picture;
    out.close();
    if (!out)
      return fail(Error{ErrorCode::Unavailable, fmt::format("could not write {}", common.picture)});
  }
  if (!shown->holds) {
    std::fputs("discreet: what was computed breaks what the theorem allows\n", stderr);
    return kFailed;
  }
  return kOk;
}

/// One demonstration: its options are declared by `declare`, its work is `run`.
template <class Options, class Declare, class Run>
void add(CLI::App& verb, Action& chosen, const std::string& name, const std::string& about,
         Declare declare, Run run) {
  CLI::App* sub = verb.add_subcommand(name, about);
  const std::string more = name == "utility"   ? " --scores colours.csv"
                           : name == "auction" ? " --bids bids.csv --highest 9"
                                               : "";
  sub->footer("Example:\n  discreet lecture " + name + more);
  auto options = std::make_shared<Options>();
  auto common = std::make_shared<Common>();
  declare(*sub, *options);
  sub->add_flag("--json", common->json, "One JSON object");
  sub->add_option("--picture", common->picture, "Draw it into this SVG file");
  sub->callback([options, common, run, &chosen] {
    chosen = [options, common, run] { return show(run(*options), *common); };
  });
}

CLI::Option* number(CLI::App& app, const std::string& name, auto& into, const std::string& about) {
  return app.add_option(name, into, about)->capture_default_str();
}

struct BeliefOptions {
  double epsilon = 1;
  std::uint32_t people = 8;
  std::uint64_t seed = 1;
};
struct UtilityOptions : lecture::ChoiceOptions {
  std::string scores;
};
struct AuctionOptions : lecture::ChoiceOptions {
  std::string bids;
  double step = 0.25, highest = 0;
};

Result<std::vector<lecture::Candidate>> read_candidates(const std::string& file) {
  DISCREET_TRY(const auto list, read_scores(file, Decimal{1, 0}));
  std::vector<lecture::Candidate> candidates;
  double unit = 1;
  for (int i = 0; i < list.decimals; ++i) unit *= 10;
  for (std::size_t i = 0; i < list.names.size(); ++i)
    candidates.push_back({list.names[i], static_cast<double>(list.scores[i]) / unit});
  return candidates;
}

void add_worlds(CLI::App& verb, Action& chosen) {
  add<lecture::WorldsOptions>(
      verb, chosen, "worlds", "One output, two worlds: with somebody and without",
      [](CLI::App& app, lecture::WorldsOptions& o) {
        number(app, "--epsilon", o.epsilon, "Of the release");
        number(app, "--count", o.count, "The exact count");
        number(app, "--distance", o.distance, "How many people the other world lacks");
        app.add_option("--mechanism", o.mechanism, "laplace, response or exact")
            ->transform(CLI::CheckedTransformer(std::map<std::string, lecture::WorldsMechanism>{
                {"laplace", lecture::WorldsMechanism::Laplace},
                {"response", lecture::WorldsMechanism::Response},
                {"exact", lecture::WorldsMechanism::Exact}}));
      },
      [](const lecture::WorldsOptions& o) { return two_worlds(o); });
  add<BeliefOptions>(
      verb, chosen, "belief", "What is believed before and after an answer",
      [](CLI::App& app, BeliefOptions& o) { number(app, "--epsilon", o.epsilon, "Of the answer"); },
      [](const BeliefOptions& o) { return lecture::posterior_band(o.epsilon); });
  add<BeliefOptions>(
      verb, chosen, "side-information", "What an answer teaches whoever knows whatever else",
      [](CLI::App& app, BeliefOptions& o) {
        number(app, "--epsilon", o.epsilon, "Of the answer");
        number(app, "--people", o.people, "How many bits are counted, at most 12");
        number(app, "--seed", o.seed, "Of the random beliefs");
      },
      [](const BeliefOptions& o) {
        return lecture::side_information(o.epsilon, o.people, o.seed);
      });
  add<lecture::LossOptions>(
      verb, chosen, "loss", "The privacy loss as a random variable, and its sums",
      [](CLI::App& app, lecture::LossOptions& o) {
        number(app, "--epsilon", o.epsilon, "Of each answer");
        number(app, "--times", o.times, "How many answers");
        number(app, "--delta", o.delta, "For advanced and tight composition");
      },
      [](const lecture::LossOptions& o) { return privacy_loss(o); });
}

void add_queries(CLI::App& verb, Action& chosen) {
  add<lecture::ResponseOptions>(
      verb, chosen, "response", "RR(p): epsilon, estimator, variance",
      [](CLI::App& app, lecture::ResponseOptions& o) {
        number(app, "--truth", o.truth, "Chance to tell the truth");
        number(app, "--people", o.people, "How many are asked");
        number(app, "--share", o.share, "Of people whose answer is yes");
        number(app, "--runs", o.runs, "How many surveys");
      },
      [](const lecture::ResponseOptions& o) {
        SecureRandom random;
        return response(o, random);
      });
  add<lecture::LaplaceOptions>(
      verb, chosen, "laplace", "The error theorem of Laplace noise on k answers",
      [](CLI::App& app, lecture::LaplaceOptions& o) {
        number(app, "--epsilon", o.epsilon, "Of all answers together");
        number(app, "--sensitivity", o.sensitivity, "L1, of all answers together");
        number(app, "--queries", o.queries, "k");
        number(app, "--runs", o.runs, "How many releases");
      },
      [](const lecture::LaplaceOptions& o) {
        SecureRandom random;
        return laplace_theorem(o, random);
      });
  add<lecture::LinearOptions>(
      verb, chosen, "linear", "Many linear queries: budget, noise, error, sample size",
      [](CLI::App& app, lecture::LinearOptions& o) {
        number(app, "--epsilon", o.epsilon, "Of all answers together");
        number(app, "--delta", o.delta, "For Gaussian noise");
        number(app, "--queries", o.queries, "How many queries");
        number(app, "--people", o.people, "How many people");
        number(app, "--error", o.error, "Wanted of every answer, as a share of the people");
        number(app, "--beta", o.beta, "Chance that some answer is further off");
        number(app, "--runs", o.runs, "How often to try it");
        number(app, "--seed", o.seed, "Of the people and queries");
      },
      [](const lecture::LinearOptions& o) {
        SecureRandom random;
        return linear_queries(o, random);
      });
  struct Seed {
    std::uint64_t seed = 1;
  };
  add<Seed>(
      verb, chosen, "table", "Accuracy against number of queries: an attack or a mechanism each",
      [](CLI::App& app, Seed& o) { number(app, "--seed", o.seed, "Of the people"); },
      [](const Seed& o) {
        SecureRandom random;
        return lecture::accuracy_table(o.seed, random);
      });
}

void add_choices(CLI::App& verb, Action& chosen) {
  add<UtilityOptions>(
      verb, chosen, "utility", "The exponential mechanism's chances and its utility theorem",
      [](CLI::App& app, UtilityOptions& o) {
        app.add_option("--scores", o.scores, "CSV name,score; made-up data: chances are printed")
            ->required();
        number(app, "--epsilon", o.epsilon, "Of the choice");
        number(app, "--sensitivity", o.sensitivity, "Most that a person moves one score");
        app.add_flag("--monotone", o.monotone, "A person moves all scores the same way");
      },
      [](const UtilityOptions& o) -> Result<Shown> {
        DISCREET_TRY(const auto candidates, read_candidates(o.scores));
        return lecture::utility_theorem(candidates, o);
      });
  add<AuctionOptions>(
      verb, chosen, "auction", "A posted price chosen by its revenue",
      [](CLI::App& app, AuctionOptions& o) {
        app.add_option("--bids", o.bids, "CSV bidder,bid; made-up data: chances are printed")
            ->required();
        number(app, "--epsilon", o.epsilon, "Of the choice");
        number(app, "--step", o.step, "Between prices");
        number(app, "--highest", o.highest, "Price on the list")->required();
      },
      [](const AuctionOptions& o) -> Result<Shown> {
        DISCREET_TRY(const auto bidders, read_candidates(o.bids));
        std::vector<double> bids;
        for (const auto& bidder : bidders) bids.push_back(bidder.score);
        DISCREET_TRY(const auto prices, lecture::revenues(bids, o.step, o.highest));
        // One bid more adds at most the highest price, and only upwards.
        return lecture::utility_theorem(
            prices, {.epsilon = o.epsilon, .sensitivity = o.highest, .monotone = true});
      });
}

void add_studies(CLI::App& verb, Action& chosen) {
  add<lecture::SmokerOptions>(
      verb, chosen, "smoker", "What is not promised: harm by what is true of everybody",
      [](CLI::App& app, lecture::SmokerOptions& o) {
        number(app, "--epsilon", o.epsilon, "Of the study");
        number(app, "--people", o.people, "In the study");
        number(app, "--runs", o.runs, "How many studies");
      },
      [](const lecture::SmokerOptions& o) {
        SecureRandom random;
        return smoker(o, random);
      });
  add<lecture::GeneraliseOptions>(
      verb, chosen, "generalise", "Private choices do not overfit",
      [](CLI::App& app, lecture::GeneraliseOptions& o) {
        number(app, "--epsilon", o.epsilon, "Of the choice");
        number(app, "--people", o.people, "In a sample");
        number(app, "--features", o.features, "To choose from");
        number(app, "--runs", o.runs, "How many samples");
        number(app, "--seed", o.seed, "Of the people");
      },
      [](const lecture::GeneraliseOptions& o) {
        SecureRandom random;
        return generalise(o, random);
      });
  add<lecture::SparseOptions>(
      verb, chosen, "sparse", "Many questions of which few matter: the sparse vector technique",
      [](CLI::App& app, lecture::SparseOptions& o) {
        number(app, "--epsilon", o.epsilon, "Of all answers together");
        number(app, "--questions", o.questions, "How many");
        number(app, "--above", o.above, "How many are above the threshold");
        number(app, "--threshold", o.threshold, "What is asked about");
        number(app, "--high", o.high, "Exact answer of those above");
        number(app, "--low", o.low, "Exact answer of the others");
      },
      [](const lecture::SparseOptions& o) {
        SecureRandom random;
        return sparse(o, random);
      });
  add<lecture::AggregationOptions>(
      verb, chosen, "aggregation", "A sum over two servers: a client cheats, a server lies",
      [](CLI::App& app, lecture::AggregationOptions& o) {
        number(app, "--people", o.people, "How many clients");
        number(app, "--max", o.max, "Largest number a client may send");
        number(app, "--seed", o.seed, "Of the numbers");
      },
      [](const lecture::AggregationOptions& o) {
        SecureRandom random;
        return aggregation(o, random);
      });
}

}  // namespace

void add_lecture(CLI::App& app, Action& chosen) {
  CLI::App* verb = add_verb(app, "lecture", "Statements of the lectures, shown on made-up people",
                            "  discreet lecture worlds --epsilon 0.5 --picture worlds.svg\n"
                            "  discreet lecture linear --queries 100 --people 10000 --error 0.01\n"
                            "  docs/lectures has a page for each of the five texts");
  verb->require_subcommand(1);
  add_worlds(*verb, chosen);
  add_queries(*verb, chosen);
  add_choices(*verb, chosen);
  add_studies(*verb, chosen);
}

}  // namespace discreet::cli
