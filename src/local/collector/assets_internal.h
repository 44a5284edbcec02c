// Pages and scripts built into the program: sdk/typescript, embedded by cmake/DiscreetAssets.cmake.
#pragma once

#include <span>
#include <string_view>

namespace discreet::local {

struct Asset {
  std::string_view path, type, content;
};

std::span<const Asset> assets();

}  // namespace discreet::local
