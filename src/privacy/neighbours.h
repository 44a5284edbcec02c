// Which two data sets must look alike, and who is protected.
#pragma once

#include <cstdint>
#include <string>

namespace discreet {

/// The relation between data sets that must not be told apart.
enum class Neighbours {
  AddRemove,   ///< one privacy unit joins or leaves; the number of units is private
  ReplaceOne,  ///< one privacy unit's data is exchanged; the number of units is public
};

inline const char* name(Neighbours relation) {
  return relation == Neighbours::AddRemove ? "add_remove" : "replace_one";
}

/// Replacing one unit is one removal and one addition, so a bound for AddRemove doubles.
inline std::uint32_t add_remove_steps(Neighbours relation) {
  return relation == Neighbours::AddRemove ? 1 : 2;
}

/// Who is protected: the owner of all rows that share a value of `column`, or each row by itself.
struct PrivacyUnit {
  std::string column;  ///< empty: one row is one unit

  bool is_row() const { return column.empty(); }
  friend bool operator==(const PrivacyUnit&, const PrivacyUnit&) = default;
};

}  // namespace discreet
