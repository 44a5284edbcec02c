// `discreet prio`: private aggregation. Each action is declared in a file of its own.
#include "cli/prio.h"

#include <cstdio>
#include <filesystem>
#include <memory>
#include <vector>

#include <nlohmann/json.hpp>

#include "prio/conformance.h"

namespace discreet::cli {
namespace {

struct ConformanceArguments {
  std::vector<std::string> files;
  bool json = false;
};

int run_conformance(const ConformanceArguments& arguments) {
  std::size_t passed = 0;
  for (const std::string& file : arguments.files) {
    const prio::Conformance result = prio::run_vector(file);
    passed += result.passed;
    if (arguments.json) {
      const nlohmann::ordered_json line = {{"file", file},
                                           {"passed", result.passed},
                                           {"operations", result.operations},
                                           {"reason", result.reason}};
      std::puts(line.dump().c_str());
    } else if (result.passed) {
      std::printf("pass %s (%zu operations)\n", file.c_str(), result.operations);
    } else {
      std::printf("fail %s: %s\n", file.c_str(), result.reason.c_str());
    }
  }
  const std::size_t failed = arguments.files.size() - passed;
  if (!arguments.json) std::printf("%zu passed, %zu failed\n", passed, failed);
  return failed == 0 ? kOk : kFailed;
}

void add_prio_conformance(CLI::App& prio, Action& chosen) {
  CLI::App* verb = add_verb(prio, "conformance", "Run official VDAF test vectors",
                            "  discreet prio conformance Prio3Count_0.json Prio3Sum_0.json");
  auto arguments = std::make_shared<ConformanceArguments>();
  verb->add_option("files", arguments->files, "Vector files; the name tells the algorithm")
      ->required();
  verb->add_flag("--json", arguments->json, "One JSON object a file");
  verb->callback(
      [&chosen, arguments] { chosen = [arguments] { return run_conformance(*arguments); }; });
}

}  // namespace

void add_prio(CLI::App& app, Action& chosen) {
  CLI::App* verb =
      add_verb(app, "prio", "Sums over many clients that no server can look into",
               "  discreet prio task --circuit count --epsilon 1 --out survey\n"
               "  discreet prio helper --task survey/task.json --secrets survey/helper.json "
               "--state survey/helper &\n"
               "  discreet prio leader --task survey/task.json --secrets survey/leader.json "
               "--state survey/leader &\n"
               "  seq 500 | awk '{print $1 % 2}' | discreet prio client --task survey/task.json\n"
               "  discreet prio collect --task survey/task.json --secrets survey/collector.json");
  verb->require_subcommand(1);
  add_prio_task(*verb, chosen);
  add_prio_client(*verb, chosen);
  add_prio_servers(*verb, chosen);
  add_prio_collect(*verb, chosen);
  add_prio_conformance(*verb, chosen);
}

}  // namespace discreet::cli
