// What people and streets of the town are called. Invented; any likeness is chance.
#pragma once

#include <span>
#include <string_view>

namespace discreet::town {

inline constexpr std::string_view kCity = "Merrow";

std::span<const std::string_view> women_names();
std::span<const std::string_view> men_names();
std::span<const std::string_view> surnames();
std::span<const std::string_view> streets();

}  // namespace discreet::town
