// `discreet prio`: private aggregation. Each action is declared in a file of its own.
#include "cli/prio.h"

#include <algorithm>
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

/// Files as given, and the vectors of folders in order.
std::vector<std::string> vector_files(const std::vector<std::string>& given) {
  std::vector<std::string> files;
  for (const std::string& path : given) {
    if (!std::filesystem::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    const std::size_t first = files.size();
    for (const auto& entry : std::filesystem::directory_iterator(path))
      if (entry.path().extension() == ".json") files.push_back(entry.path().string());
    std::sort(files.begin() + static_cast<std::ptrdiff_t>(first), files.end());
  }
  return files;
}

int run_conformance(const ConformanceArguments& arguments) {
  const std::vector<std::string> files = vector_files(arguments.files);
  if (files.empty()) {
    std::fputs("discreet: no .json file in the folder\n", stderr);
    return kFailed;
  }
  std::size_t passed = 0;
  for (const std::string& file : files) {
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
  const std::size_t failed = files.size() - passed;
  if (!arguments.json) std::printf("%zu passed, %zu failed\n", passed, failed);
  return failed == 0 ? kOk : kFailed;
}

void add_prio_conformance(CLI::App& prio, Action& chosen) {
  CLI::App* verb = add_verb(prio, "conformance", "Run official VDAF test vectors",
                            "  discreet prio conformance Prio3Count_0.json Poplar1_0.json\n"
                            "  discreet prio conformance test_vec/vdaf");
  auto arguments = std::make_shared<ConformanceArguments>();
  verb->add_option("files", arguments->files,
                   "Vector files, or folders of them; the name tells the algorithm")
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
  add_prio_heavy(*verb, chosen);
  add_prio_conformance(*verb, chosen);
}

}  // namespace discreet::cli
