// Makes a policy's text plain ASCII before toml++ sees it: its 3.3 has undefined behaviour on some
// other characters outside of strings.
#pragma once

#include <string>
#include <string_view>

#include "catalog/problems_internal.h"

namespace discreet::catalog {

/// The same document: other characters become escapes inside "double quotes" and question marks in
/// comments; lines stay where they are. Problems: such a character anywhere else, or bytes that are
/// not UTF-8.
std::string ascii_toml(std::string_view text, Problems& problems);

}  // namespace discreet::catalog
