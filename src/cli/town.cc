// `discreet town`: makes the fictional town that the demo, the documents, the attacks and the tests
// use.
#include "town/town.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/verb.h"

namespace discreet::cli {
namespace {

struct TownArguments {
  std::uint64_t people = 100'000;
  std::uint64_t seed = 1;
  std::string out;
  std::string format = "parquet";
  bool json = false;
};

void show_progress(std::string_view table, int done, int total) {
  std::fprintf(stderr, "\r\033[K[%d/%d] %.*s", done, total, static_cast<int>(table.size()),
               table.data());
  std::fflush(stderr);
}

void print_json(const TownArguments& arguments, const town::Summary& summary, double seconds) {
  nlohmann::ordered_json out = {{"people", arguments.people},
                                {"seed", arguments.seed},
                                {"out", arguments.out},
                                {"format", arguments.format},
                                {"unique_by_zip_birth_sex", summary.unique_people},
                                {"policy", "discreet.toml"},
                                {"policy_kept", summary.policy_kept},
                                {"seconds", seconds},
                                {"tables", nlohmann::ordered_json::array()}};
  for (const town::WrittenTable& table : summary.tables)
    out["tables"].push_back({{"name", table.name},
                             {"file", table.file},
                             {"rows", table.rows},
                             {"fingerprint", fmt::format("{:016x}", table.fingerprint)}});
  std::puts(out.dump().c_str());
}

void print_table(const TownArguments& arguments, const town::Summary& summary) {
  for (const town::WrittenTable& table : summary.tables)
    fmt::print("{:<10}{:>12} rows  {}\n", table.name, table.rows, table.file);
  fmt::print(
      "{:.1f} % of the people are alone in their zip, birth date and sex.\n",
      100.0 * static_cast<double>(summary.unique_people) / static_cast<double>(arguments.people));
}

int make_town(const TownArguments& arguments) {
  const auto start = std::chrono::steady_clock::now();
  const bool terminal = ::isatty(STDERR_FILENO) == 1;
  const town::Options options{
      .people = arguments.people,
      .seed = arguments.seed,
      .out = arguments.out,
      .format = arguments.format == "csv" ? town::Format::Csv : town::Format::Parquet};
  const auto summary = town::write_town(
      options, terminal ? town::Progress(show_progress) : nullptr, [](std::string_view message) {
        std::fprintf(stderr, "%.*s\n", static_cast<int>(message.size()), message.data());
      });
  if (terminal) std::fputs("\r\033[K", stderr);
  if (!summary) return fail(summary.error());
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  if (arguments.json)
    print_json(arguments, *summary, taken.count());
  else
    print_table(arguments, *summary);
  if (summary->policy_kept)
    std::fputs("discreet.toml was edited since the last town and is kept as it is.\n", stderr);
  fmt::print(stderr, "wrote {} in {:.1f} s\n", arguments.out, taken.count());
  return kOk;
}

}  // namespace

void add_town(CLI::App& app, Action& chosen) {
  CLI::App* verb = add_verb(app, "town", "Make a fictional town to try everything on",
                            "  discreet town --people 100000 --seed 1 --out town/");
  auto arguments = std::make_shared<TownArguments>();
  verb->add_option("--people", arguments->people, "How many people live there")
      ->check(CLI::Range(std::uint64_t{1}, town::kPeopleMax))
      ->capture_default_str();
  verb->add_option("--seed", arguments->seed, "Another seed is another town")
      ->capture_default_str();
  verb->add_option("--out", arguments->out, "The folder to write: new, empty, or an earlier town")
      ->required();
  verb->add_option("--format", arguments->format, "parquet or csv")
      ->check(CLI::IsMember({"parquet", "csv"}))
      ->capture_default_str();
  verb->add_flag("--json", arguments->json, "One JSON object instead of a table");
  verb->callback([&chosen, arguments] { chosen = [arguments] { return make_town(*arguments); }; });
}

}  // namespace discreet::cli
