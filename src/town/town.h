// Writes the sample town into a folder: the tables, a policy, a README.
//
// Guarantee: same people and seed, same rows, on every machine (see dice.h).
// Guarantee: a folder with other people's files is refused; nothing is deleted but files that an
//            earlier town left there, and a policy that was edited since is kept.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "town/documents.h"

namespace discreet::town {

enum class Format { Parquet, Csv };

inline constexpr std::uint64_t kPeopleMax = 10'000'000;

struct Options {
  std::uint64_t people = 100'000;
  std::uint64_t seed = 1;
  std::filesystem::path out{};
  Format format = Format::Parquet;
};

/// Called before each table is written.
using Progress = std::function<void(std::string_view table, int done, int total)>;
/// Receives the engine's own words when writing fails (they may quote a row; these rows are
/// fictional).
using Log = std::function<void(std::string_view message)>;

struct Summary {
  std::vector<WrittenTable> tables;
  std::uint64_t unique_people = 0;  // alone in their {zip, birth date, sex}
  bool policy_kept = false;         // an edited discreet.toml was left as it is
};

/// InvalidParameter: no people or too many, no folder. Refused: the folder is not empty and not a
/// town. Unavailable: the disk or the engine failed; running it again starts over.
Result<Summary> write_town(const Options& options, const Progress& progress = nullptr,
                           const Log& log = nullptr);

}  // namespace discreet::town
