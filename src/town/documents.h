// The two texts that go with the data: a sample policy and a README.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace discreet::town {

struct WrittenTable {
  std::string name;
  std::string file;  // relative to the folder
  std::uint64_t rows;
  std::uint64_t fingerprint;  // of the contents, not of the file's bytes
};

/// `discreet.toml` for the tables in files with this ending ("parquet" or "csv").
std::string policy_text(std::string_view format);

/// `README.md`: what is in the folder and how it was made.
std::string readme_text(std::uint64_t people, std::uint64_t seed,
                        const std::vector<WrittenTable>& written);

}  // namespace discreet::town
