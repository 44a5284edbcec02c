// What a demonstration shows: a sentence, a table, notes and a picture.
//
// The lectures' statements are computed here on made-up people, so everything may be printed, exact
// chances included. Nothing in this folder is a release; nothing here reads anybody's data.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace discreet::lecture {

/// One cell: a text, or a number with the digits that mean something.
struct Cell {
  Cell(std::string said) : text(std::move(said)) {}  // NOLINT: implicit, tables read better
  Cell(const char* said) : text(said) {}             // NOLINT: implicit
  Cell(double value, int digits = 4);                // NOLINT: implicit

  std::string text;
  double number = 0;
  bool is_number = false;
};

struct Shown {
  std::string statement;  ///< what is being shown, in one sentence
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows;
  std::vector<std::string> notes;
  std::string picture;  ///< a complete SVG document, or empty
  bool holds = true;    ///< false: a theorem's bound was broken, which is an error here or there
};

/// The table's lines with aligned columns, statement first, notes last.
std::string as_text(const Shown& shown);
/// An object: statement, holds, notes, rows (an object a row).
std::string as_json(const Shown& shown);

}  // namespace discreet::lecture
