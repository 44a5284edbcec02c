// The corpus of tests/sql, as comparisons of engines use it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engines/two_worlds.h"

namespace discreet::testing {

std::string corpus_file(const std::string& name);
/// All files of statements: a new one is compared without being named anywhere.
std::vector<std::string> corpus_files();
/// The tables that a file's statements are about: hospital or tpch.
std::string corpus_world(const std::string& file);
/// The statements of a corpus file, whatever it says becomes of them.
std::vector<std::string> corpus_statements(const std::string& file);
/// Compares all of them, and prints how many there were.
void compare_corpus(const std::string& file, TwoWorlds& both);
/// The same of what the other engine's own files are read by.
void compare_corpus_over_files(const std::string& file, TwoWorlds& both);
/// Random statements over random rows, by default so many (DISCREET_ENGINE_CASES,
/// DISCREET_ENGINE_SEED).
void compare_random_statements(Elsewhere& elsewhere, int cases);

/// One pair of worlds for all tests about the same tables.
class CorpusWorlds {
 public:
  explicit CorpusWorlds(Elsewhere& elsewhere) : elsewhere_(elsewhere) {}
  TwoWorlds& world(const std::string& name);

 private:
  Elsewhere& elsewhere_;
  std::map<std::string, std::unique_ptr<TwoWorlds>> all_;
};

}  // namespace discreet::testing
