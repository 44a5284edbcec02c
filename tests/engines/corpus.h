// The corpus of tests/sql, as comparisons of engines use it.
#pragma once

#include <string>
#include <vector>

#include "engines/two_worlds.h"

namespace discreet::testing {

std::string corpus_file(const std::string& name);
/// The statements of a corpus file, whatever it says becomes of them.
std::vector<std::string> corpus_statements(const std::string& file);
/// Compares all of them, and prints how many there were.
void compare_corpus(const std::string& file, TwoWorlds& both);

}  // namespace discreet::testing
