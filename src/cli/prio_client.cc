// `discreet prio client`: measurements on stdin, one a line, become sealed reports at the leader.
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/parse_number.h"
#include "cli/prio.h"
#include "prio/client.h"
#include "prio/service.h"
#include "random/secure_random.h"

namespace discreet::cli {
namespace {

struct ClientArguments {
  std::string task, values = "-", ca;
  std::uint64_t time = 0;
  std::size_t at_once = 200;
  unsigned tries = 1;
  bool json = false;
};

std::uint64_t seconds_now() {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::seconds>(SystemClock().now().time_since_epoch())
          .count());
}

Result<prio::Measurement> parse_line(const std::string& line, std::size_t number) {
  prio::Measurement out;
  std::string token;
  std::istringstream tokens(line);
  while (std::getline(tokens, token, ',')) {
    DISCREET_TRY(const std::int64_t value, parse_integer(token, fmt::format("line {}", number)));
    if (value < 0)
      return invalid_parameter(fmt::format("line {}: a measurement is not negative", number));
    out.push_back(static_cast<std::uint64_t>(value));
  }
  return out;
}

/// The same bytes again while the leader does not answer: it knows what it has seen.
Result<std::vector<prio::RefusedReport>> send(const prio::Task& task,
                                              const std::vector<prio::UploadedReport>& reports,
                                              const ClientArguments& arguments) {
  for (unsigned attempt = 1;; ++attempt) {
    auto refused = prio::upload(task, reports, arguments.ca);
    if (refused || refused.error().code != ErrorCode::Unavailable || attempt >= arguments.tries)
      return refused;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

struct Sent {
  std::size_t reports = 0;
  std::map<std::string, std::size_t> refused;
};

Result<Sent> send_all(const ClientArguments& arguments, std::istream& lines) {
  DISCREET_TRY(const std::string text, prio::read_text(arguments.task));
  DISCREET_TRY(prio::Task task, prio::Task::from_json(text));
  SecureRandom random;
  DISCREET_TRY(prio::ReportMaker maker, prio::ReportMaker::make(std::move(task), random));
  const std::uint64_t time = arguments.time == 0 ? seconds_now() : arguments.time;
  Sent sent;
  std::vector<prio::UploadedReport> waiting;
  const auto flush = [&]() -> Result<void> {
    if (waiting.empty()) return {};
    DISCREET_TRY(const auto refused, send(maker.task(), waiting, arguments));
    sent.reports += waiting.size();
    for (const prio::RefusedReport& report : refused) ++sent.refused[prio::name(report.error)];
    waiting.clear();
    return {};
  };
  std::string line;
  for (std::size_t number = 1; std::getline(lines, line); ++number) {
    if (line.empty()) continue;
    DISCREET_TRY(const prio::Measurement measurement, parse_line(line, number));
    DISCREET_TRY(prio::UploadedReport report, maker.report(measurement, time));
    waiting.push_back(std::move(report));
    if (waiting.size() >= arguments.at_once) DISCREET_TRY_VOID(flush());
  }
  DISCREET_TRY_VOID(flush());
  return sent;
}

int run_client(const ClientArguments& arguments) {
  std::ifstream file;
  if (arguments.values != "-") {
    file.open(arguments.values);
    if (!file) return fail({ErrorCode::NotFound, arguments.values + " cannot be read"});
  }
  const auto sent = send_all(arguments, arguments.values == "-" ? std::cin : file);
  if (!sent) return fail(sent.error());
  std::size_t refused = 0;
  for (const auto& [reason, count] : sent->refused) refused += count;
  if (arguments.json) {
    std::puts(
        nlohmann::ordered_json{{"sent", sent->reports}, {"refused", sent->refused}}.dump().c_str());
  } else {
    std::printf("%zu reports sent, %zu taken\n", sent->reports, sent->reports - refused);
    for (const auto& [reason, count] : sent->refused)
      std::printf("%zu refused: %s\n", count, reason.c_str());
  }
  return refused == 0 ? kOk : kFailed;
}

}  // namespace

void add_prio_client(CLI::App& prio, Action& chosen) {
  CLI::App* verb = add_verb(
      prio, "client", "Split measurements, prove them valid and send them to the leader",
      "  printf '3\\n0\\n7\\n' | discreet prio client --task survey/task.json\n\n"
      "A line is a measurement: a number, a bucket, or the numbers of a vector with commas.");
  auto arguments = std::make_shared<ClientArguments>();
  verb->add_option("--task", arguments->task, "The task's public file")->required();
  verb->add_option("--values", arguments->values, "A file of measurements; - is stdin");
  verb->add_option("--time", arguments->time, "Seconds since 1970; default: now");
  verb->add_option("--at-once", arguments->at_once, "Reports a request")
      ->check(CLI::PositiveNumber);
  verb->add_option("--tries", arguments->tries,
                   "How often to send again when the leader does not answer");
  verb->add_option("--ca", arguments->ca, "Certificate (PEM) that signed the leader's");
  verb->add_flag("--json", arguments->json, "A JSON object instead of text");
  verb->callback([&chosen, arguments] { chosen = [arguments] { return run_client(*arguments); }; });
}

}  // namespace discreet::cli
