// The voter list: public, and the other half of Sweeney's linkage attack. It names people with
// {zip, birth date, sex} and carries no id of ours.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "town/people.h"

namespace discreet::town {

inline constexpr std::array<std::string_view, 4> kParties = {"independent", "democrat",
                                                             "republican", "green"};

struct Voter {
  std::size_t person;  // index into the people; not written
  Day registered;
  std::uint8_t party;
};

/// Grown-ups who registered, about seven in ten, in random order. The mayor always is one.
std::vector<Voter> make_voters(const std::vector<Person>& people, std::uint64_t seed);

}  // namespace discreet::town
