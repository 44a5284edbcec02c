// Asks a policy's tables questions, many times each, and prints what came: Discreet's side of
// bench/peers/sql.py, in one process as the other libraries are.
//   peers_ask POLICY RUNS EPSILON < questions        one question a line
// prints a JSON line per question: {"seconds": best, "answers": [[row, ...], ...]}
#include <cstdio>
#include <iostream>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "curator/curator.h"
#include "measure.h"
#include "random/secure_random.h"

int main(int argc, char** argv) {
  using namespace discreet;
  if (argc != 4) {
    std::fprintf(stderr, "usage: peers_ask POLICY RUNS EPSILON < questions\n");
    return 2;
  }
  const auto policy = catalog::Policy::load(argv[1], {});
  if (!policy) {
    std::fprintf(stderr, "%s\n", policy.error().message.c_str());
    return 1;
  }
  const SystemClock clock;
  SecureRandom random;
  auto curator = Curator::open(*policy, clock, random, nullptr);
  if (!curator) {
    std::fprintf(stderr, "%s\n", curator.error().message.c_str());
    return 1;
  }
  int asked = 0;
  for (std::string sql; std::getline(std::cin, sql);) {
    bench::Seconds best;
    auto answers = nlohmann::json::array();
    for (int run = 0; run < std::stoi(argv[2]); ++run) {
      // Another epsilon by a billionth: the record answers a repeated question for nothing.
      const double epsilon = std::stod(argv[3]) * (1 + 1e-9 * ++asked);
      const bench::Stopwatch watch;
      const auto answer = curator->answer(
          {sql, kOwnerAccount, Epsilon::make(epsilon).value(), Delta::make(1e-6).value(), {}, ""});
      best.keep_best(watch.read());
      if (!answer) {
        std::fprintf(stderr, "%s\n", answer.error().message.c_str());
        return 1;
      }
      auto rows = nlohmann::json::array();
      for (const auto& row : answer->rows) {
        auto cells = nlohmann::json::array();
        for (const auto& cell : row) cells.push_back(cell.value_or(""));
        rows.push_back(std::move(cells));
      }
      answers.push_back(std::move(rows));
    }
    const nlohmann::json line = {{"seconds", best.wall}, {"answers", std::move(answers)}};
    std::printf("%s\n", line.dump().c_str());
  }
  return 0;
}
