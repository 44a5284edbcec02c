// Runs a fuzz target without libFuzzer: on every seed file of the folder given, and on simple
// mutations of each (every prefix, every byte replaced by a few telling ones), so that the ordinary
// test run covers the neighbourhood of the seeds too. Deterministic.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

std::size_t runs = 0;

void run(const std::string& input) {
  ++runs;
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

void run_neighbourhood(const std::string& seed) {
  run(seed);
  const std::size_t step = std::max<std::size_t>(1, seed.size() / 400);
  for (std::size_t at = 0; at < seed.size(); at += step) {
    run(seed.substr(0, at));
    for (const char byte : {'\0', '\xff', '"', '-', '9', '(', '}'}) {
      std::string changed = seed;
      changed[at] = byte;
      run(changed);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  run("");
  std::vector<std::filesystem::path> seeds;
  for (int i = 1; i < argc; ++i) {
    if (!std::filesystem::exists(argv[i])) continue;
    for (const auto& entry : std::filesystem::directory_iterator(argv[i]))
      seeds.push_back(entry.path());
  }
  std::sort(seeds.begin(), seeds.end());
  for (const auto& seed : seeds) {
    std::ifstream file(seed, std::ios::binary);
    run_neighbourhood({std::istreambuf_iterator<char>(file), {}});
  }
  std::printf("%zu inputs from %zu seeds\n", runs, seeds.size());
  return seeds.empty() ? 1 : 0;
}
