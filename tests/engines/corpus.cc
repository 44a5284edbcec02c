#include "engines/corpus.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include <gtest/gtest.h>

#include "engines/random_statements.h"
#include "support/seeded_random.h"

namespace discreet::testing {

std::string corpus_file(const std::string& name) {
  std::ifstream file(std::string(DISCREET_SQL_CORPUS) + "/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> corpus_files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(DISCREET_SQL_CORPUS))
    if (entry.path().extension() == ".test") files.push_back(entry.path().filename().string());
  std::sort(files.begin(), files.end());
  return files;
}

std::string corpus_world(const std::string& file) {
  return file.starts_with("tpch") ? "tpch" : "hospital";
}

TwoWorlds& CorpusWorlds::world(const std::string& name) {
  auto& place = all_[name];
  if (!place)
    place = std::make_unique<TwoWorlds>(elsewhere_, name, corpus_file(name + ".toml"),
                                        corpus_file(name + ".sql"));
  return *place;
}

std::vector<std::string> corpus_statements(const std::string& file) {
  std::vector<std::string> all;
  std::istringstream input(corpus_file(file));
  std::string current, line;
  bool in_case = false, plain = false;
  const auto finish = [&] {
    if (in_case && !current.empty()) all.push_back(current);
    current.clear();
    in_case = plain = false;
  };
  while (std::getline(input, line)) {
    if (line.starts_with("#")) continue;
    if (line.empty()) {
      finish();
    } else if (line == "> plain") {
      plain = true;
    } else if (line.starts_with("> ")) {
      finish();
      in_case = true;
    } else if (!plain) {
      current += (current.empty() ? "" : "\n") + line;
    }
  }
  finish();
  return all;
}

void compare_corpus(const std::string& file, TwoWorlds& both) {
  const auto all = corpus_statements(file);
  EXPECT_GT(all.size(), 10U);
  std::size_t same = 0;
  const std::size_t before = both.statements_run(), rows = both.rows_compared(),
                    files = both.read_over_files(), files_totals = both.totals_over_files(),
                    places = both.read_by_places(), totals = both.read_by_totals();
  for (const auto& statement : all)
    same += both.compare(statement) == TwoWorlds::Verdict::Same ? 1 : 0;
  std::cout << file << ": " << all.size() << " statements, " << same << " planned alike, "
            << both.statements_run() - before << " engine statements, "
            << both.rows_compared() - rows << " rows equal, " << both.read_over_files() - files
            << " releases and " << both.totals_over_files() - files_totals << " totals from files, "
            << both.read_by_places() - places << " by places, " << both.read_by_totals() - totals
            << " by totals\n";
  if (same > 0) {
    EXPECT_GT(both.read_by_places(), places) << "no release was read by places";
  }
  if (file == "answers.test") {
    EXPECT_GT(both.read_by_totals(), totals) << "no release was made from totals";
  }
}

void compare_corpus_over_files(const std::string& file, TwoWorlds& both) {
  const std::size_t files = both.read_over_files(), totals = both.totals_over_files();
  for (const auto& statement : corpus_statements(file)) both.compare(statement, true);
  std::cout << file << ": " << both.read_over_files() - files << " releases and "
            << both.totals_over_files() - totals << " totals from files, equal\n";
}

void compare_random_statements(Elsewhere& elsewhere, int cases) {
  if (const char* asked = std::getenv("DISCREET_ENGINE_CASES")) cases = std::atoi(asked);
  const char* seed = std::getenv("DISCREET_ENGINE_SEED");
  SeededRandom random(seed == nullptr ? 20261115 : static_cast<std::uint64_t>(std::atoll(seed)));
  RandomStatements generate(random);
  TwoWorlds both(elsewhere, "fuzz", RandomStatements::policy(), generate.tables());
  int planned = 0;
  for (int i = 0; i < cases && !::testing::Test::HasFailure(); ++i)
    planned += both.compare(generate.next()) == TwoWorlds::Verdict::Same ? 1 : 0;
  std::cout << cases << " statements, " << planned << " planned, " << both.statements_run()
            << " engine statements, " << both.rows_compared() << " rows equal, "
            << both.read_by_places() << " releases by places, " << both.read_by_totals()
            << " by totals\n";
  EXPECT_GT(both.read_by_places(), 0U) << "no release was read by places";
  EXPECT_GT(planned * 3, cases) << "the generator writes too much that is refused";
}

}  // namespace discreet::testing
