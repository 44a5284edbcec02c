#include "engines/corpus.h"

#include <fstream>
#include <iostream>
#include <sstream>

#include <gtest/gtest.h>

namespace discreet::testing {

std::string corpus_file(const std::string& name) {
  std::ifstream file(std::string(DISCREET_SQL_CORPUS) + "/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
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
  const std::size_t before = both.statements_run(), rows = both.rows_compared();
  for (const auto& statement : all)
    same += both.compare(statement) == TwoWorlds::Verdict::Same ? 1 : 0;
  std::cout << file << ": " << all.size() << " statements, " << same << " planned alike, "
            << both.statements_run() - before << " engine statements, "
            << both.rows_compared() - rows << " rows equal\n";
}

}  // namespace discreet::testing
