// `discreet prio task`: the public file of a task and its parties' secrets.
#include <cstdio>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/prio.h"
#include "prio/noise.h"
#include "prio/task.h"
#include "random/secure_random.h"

namespace discreet::cli {
namespace {

struct TaskArguments {
  std::string circuit = "count", noise = "laplace", split = "full", out;
  std::string leader = "http://127.0.0.1:9001", helper = "http://127.0.0.1:9002";
  std::uint64_t length = 1, max = 1, chunk = 0, precision = 3600, min_batch = 100;
  std::uint32_t reports_per_client = 1;
  double epsilon = 0, delta = 0, budget_epsilon = 0, budget_delta = 0;
  bool json = false;
};

Result<prio::NewTask> make(const TaskArguments& arguments) {
  prio::Task task;
  DISCREET_TRY(task.circuit.kind, prio::circuit_kind(arguments.circuit));
  task.circuit.length = arguments.length;
  task.circuit.max = arguments.max;
  task.circuit.chunk_length = arguments.chunk;
  task.time_precision = arguments.precision;
  task.min_batch_size = arguments.min_batch;
  task.leader_url = arguments.leader;
  task.helper_url = arguments.helper;
  DISCREET_TRY(task.noise.kind, prio::noise_kind(arguments.noise));
  DISCREET_TRY(task.noise.split, prio::noise_split(arguments.split));
  task.noise.epsilon = arguments.epsilon;
  task.noise.delta = arguments.delta;
  task.noise.reports_per_client = arguments.reports_per_client;
  const bool given = arguments.budget_epsilon > 0;
  SecureRandom random;
  return prio::make_task(std::move(task), given ? arguments.budget_epsilon : arguments.epsilon,
                         given ? arguments.budget_delta : arguments.delta, random);
}

int write_task(const TaskArguments& arguments) {
  const auto made = make(arguments);
  if (!made) return fail(made.error());
  const std::filesystem::path folder = arguments.out;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (std::filesystem::exists(folder / "task.json"))
    return fail({ErrorCode::Refused,
                 "there is a task in " + folder.string() + " already; choose another folder"});
  for (const auto& [file, text] : {std::pair{"task.json", made->task.to_json()},
                                   std::pair{"leader.json", made->leader.to_json()},
                                   std::pair{"helper.json", made->helper.to_json()},
                                   std::pair{"collector.json", made->collector.to_json()}}) {
    const auto written =
        prio::write_text(folder / file, text, std::string_view(file) != "task.json");
    if (!written) return fail(written.error());
  }
  const prio::Task& task = made->task;
  nlohmann::ordered_json summary = {{"task", (folder / "task.json").string()},
                                    {"circuit", name(task.circuit.kind)},
                                    {"chunk_length", task.circuit.chunk_length},
                                    {"noise", name(task.noise.kind)}};
  if (task.noise.kind != prio::NoiseKind::None) {
    const auto shape = prio::shape_of(task.circuit).value();
    const auto noise = prio::ShareNoise::make(shape, 2, task.noise).value();
    const auto bound = prio::sensitivity(shape, task.noise.neighbours);
    summary["epsilon"] = task.noise.epsilon;
    summary["delta"] = task.noise.delta;
    summary["sensitivity"] = {{"l1", bound.l1}, {"l2", bound.l2}};
    summary["error95"] = noise.error95();
  }
  if (arguments.json) {
    std::puts(summary.dump().c_str());
    return kOk;
  }
  std::printf("%s\n", (folder / "task.json").c_str());
  if (task.noise.kind == prio::NoiseKind::None)
    std::fprintf(stderr,
                 "Warning: this task adds no noise. Whoever sees its totals can learn single "
                 "answers from them.\n");
  else
    std::fprintf(stderr,
                 "%s noise, epsilon %g, added %s by each server: 95 %% of totals within %g.\n",
                 name(task.noise.kind), task.noise.epsilon,
                 task.noise.split == prio::NoiseSplit::Full ? "in full" : "in part",
                 summary["error95"].get<double>());
  std::fprintf(stderr,
               "Give task.json to everyone, leader.json, helper.json and collector.json to one "
               "party each.\n");
  return kOk;
}

}  // namespace

void add_prio_task(CLI::App& prio, Action& chosen) {
  CLI::App* verb =
      add_verb(prio, "task", "Make a task: one public file, and a secret one for each party",
               "  discreet prio task --circuit histogram --length 10 --epsilon 1 --out survey");
  auto arguments = std::make_shared<TaskArguments>();
  verb->add_option(
      "--circuit", arguments->circuit,
      "count, sum, sum-vec, histogram, multihot-count-vec, l1-bound-sum, sum-vec-multiproof");
  verb->add_option("--length", arguments->length, "Entries of a vector, or buckets");
  verb->add_option("--max", arguments->max, "Largest number, weight or L1 norm");
  verb->add_option("--chunk", arguments->chunk,
                   "Chunk length; default: the one with the shortest proof");
  verb->add_option("--noise", arguments->noise, "laplace, gaussian or none");
  verb->add_option("--epsilon", arguments->epsilon, "Loss of one batch");
  verb->add_option("--delta", arguments->delta, "For gaussian noise");
  verb->add_option("--split", arguments->split,
                   "full: each server adds all of the noise, one honest one suffices; divided: "
                   "together they add it "
                   "once, all must be trusted to");
  verb->add_option("--reports-per-client", arguments->reports_per_client,
                   "How many one client may send");
  verb->add_option("--budget-epsilon", arguments->budget_epsilon,
                   "What each server's ledger grants in all; default: one batch");
  verb->add_option("--budget-delta", arguments->budget_delta, "The same for delta");
  verb->add_option("--min-batch", arguments->min_batch, "Fewest reports of a batch");
  verb->add_option("--precision", arguments->precision,
                   "Seconds to which report times are rounded");
  verb->add_option("--leader", arguments->leader, "The leader's address");
  verb->add_option("--helper", arguments->helper, "The helper's address");
  verb->add_option("--out", arguments->out, "Folder for the four files")->required();
  verb->add_flag("--json", arguments->json, "A JSON object instead of text");
  verb->callback([&chosen, arguments] { chosen = [arguments] { return write_task(*arguments); }; });
}

}  // namespace discreet::cli
