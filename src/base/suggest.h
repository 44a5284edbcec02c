// "Did you mean": the known name nearest to a misspelt one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace discreet {

/// The candidate fewest edits away (insert, delete, replace, swap neighbours; case is free), or
/// empty when none is near enough to be a slip: more than a third of the letters differ.
std::string closest_name(std::string_view name, const std::vector<std::string>& candidates);

/// "; did you mean 'unit'?", or nothing.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace discreet
