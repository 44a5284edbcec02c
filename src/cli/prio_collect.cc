// `discreet prio collect`: the noisy total of a batch.
#include <cstdio>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/prio.h"
#include "prio/client.h"
#include "prio/noise.h"
#include "prio/service.h"

namespace discreet::cli {
namespace {

struct CollectArguments {
  std::string task, secrets, ca;
  std::uint64_t start = 0, duration = 0;
  bool json = false;
};

std::string decimal(Int128 value) {
  const bool negative = value < 0;
  UInt128 rest = negative ? UInt128{0} - static_cast<UInt128>(value) : static_cast<UInt128>(value);
  std::string digits;
  do {
    digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(rest % 10)));
    rest /= 10;
  } while (rest != 0);
  return negative ? "-" + digits : digits;
}

struct Outcome {
  prio::Task task;
  prio::Collected collected;
};

Result<Outcome> collect(const CollectArguments& arguments) {
  DISCREET_TRY(const std::string task_text, prio::read_text(arguments.task));
  DISCREET_TRY(prio::Task task, prio::Task::from_json(task_text));
  DISCREET_TRY(const std::string secrets_text, prio::read_text(arguments.secrets));
  DISCREET_TRY(const prio::TaskSecrets secrets, prio::TaskSecrets::from_json(secrets_text));
  if (secrets.role != prio::Role::Collector)
    return invalid_parameter("these are not the collector's secrets");
  const auto now = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::seconds>(SystemClock().now().time_since_epoch())
          .count());
  const prio::Interval batch{arguments.start == 0 ? task.rounded(now) : arguments.start,
                             arguments.duration == 0 ? task.time_precision : arguments.duration};
  DISCREET_TRY_VOID(task.check_batch(batch));
  DISCREET_TRY(const prio::Bytes response,
               prio::request_collection(task, secrets, batch, arguments.ca));
  DISCREET_TRY(prio::Collected collected, prio::open_collection(task, secrets, batch, response));
  return Outcome{std::move(task), std::move(collected)};
}

int run_collect(const CollectArguments& arguments) {
  const auto outcome = collect(arguments);
  if (!outcome) return fail(outcome.error());
  const prio::Collected& collected = outcome->collected;
  double error95 = 0;
  if (outcome->task.noise.kind != prio::NoiseKind::None)
    error95 = prio::ShareNoise::make(prio::shape_of(outcome->task.circuit).value(), 2,
                                     outcome->task.noise)
                  .value()
                  .error95();
  if (arguments.json) {
    // Numbers beyond 64 bits do not fit JSON readers: they are written as they are, digits only.
    std::string totals;
    for (const Int128 total : collected.totals)
      totals += (totals.empty() ? "" : ",") + decimal(total);
    std::printf(
        "{\"report_count\":%llu,\"start\":%llu,\"duration\":%llu,\"error95\":%.17g,\"totals\":[%s]}"
        "\n",
        static_cast<unsigned long long>(collected.report_count),
        static_cast<unsigned long long>(collected.batch.start),
        static_cast<unsigned long long>(collected.batch.duration), error95, totals.c_str());
    return kOk;
  }
  for (const Int128 total : collected.totals) std::puts(decimal(total).c_str());
  std::fprintf(stderr, "%llu reports; 95 %% of totals are within %g of the exact ones\n",
               static_cast<unsigned long long>(collected.report_count), error95);
  return kOk;
}

}  // namespace

void add_prio_collect(CLI::App& prio, Action& chosen) {
  CLI::App* verb = add_verb(
      prio, "collect", "The total of a batch, with its noise",
      "  discreet prio collect --task survey/task.json --secrets survey/collector.json --json");
  auto arguments = std::make_shared<CollectArguments>();
  verb->add_option("--task", arguments->task, "The task's public file")->required();
  verb->add_option("--secrets", arguments->secrets, "The collector's secret file")->required();
  verb->add_option("--start", arguments->start,
                   "Seconds since 1970; default: the current interval");
  verb->add_option("--duration", arguments->duration, "Seconds; default: the task's precision");
  verb->add_option("--ca", arguments->ca, "Certificate (PEM) that signed the leader's");
  verb->add_flag("--json", arguments->json, "A JSON object instead of one total a line");
  verb->callback(
      [&chosen, arguments] { chosen = [arguments] { return run_collect(*arguments); }; });
}

}  // namespace discreet::cli
