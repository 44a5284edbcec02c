#include <cstdint>

#include "catalog/toml_text_internal.h"

namespace discreet::catalog {
namespace {

/// The code point at the front and its length in bytes; length 0: not UTF-8.
struct Decoded {
  std::uint32_t point;
  std::size_t length;
};

Decoded decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::size_t length = byte(0) < 0x80            ? 1
                             : byte(0) >> 5 == 0b110   ? 2
                             : byte(0) >> 4 == 0b1110  ? 3
                             : byte(0) >> 3 == 0b11110 ? 4
                                                       : 0;
  if (length == 0 || length > text.size()) return {0, 0};
  if (length == 1) return {byte(0), 1};
  std::uint32_t point = byte(0) & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if (byte(i) >> 6 != 0b10) return {0, 0};
    point = point << 6 | (byte(i) & 0x3fu);
  }
  static constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = point >= 0xd800 && point <= 0xdfff;
  if (point < kLeast[length] || point > 0x10ffff || surrogate) return {0, 0};
  return {point, length};
}

enum class Inside { Nothing, Comment, Basic, BasicLines, Literal, LiteralLines };

/// How many bytes at the front belong together, and where we are after them.
std::size_t step(std::string_view rest, Inside& inside) {
  const auto lines = [&](const char* quotes) { return rest.starts_with(quotes); };
  switch (inside) {
    case Inside::Nothing:
      if (rest[0] == '#') inside = Inside::Comment;
      if (rest[0] == '"') inside = lines("\"\"\"") ? Inside::BasicLines : Inside::Basic;
      if (rest[0] == '\'') inside = lines("'''") ? Inside::LiteralLines : Inside::Literal;
      return inside == Inside::BasicLines || inside == Inside::LiteralLines ? 3 : 1;
    case Inside::Comment:
      if (rest[0] == '\n') inside = Inside::Nothing;
      return 1;
    case Inside::Basic:
    case Inside::Literal:
      if (rest[0] == '\\' && inside == Inside::Basic && rest.size() > 1 && rest[1] > 0x20) return 2;
      if (rest[0] == (inside == Inside::Basic ? '"' : '\'') || rest[0] == '\n')
        inside = Inside::Nothing;
      return 1;
    case Inside::BasicLines:
    case Inside::LiteralLines: {
      const bool basic = inside == Inside::BasicLines;
      if (rest[0] == '\\' && basic && rest.size() > 1 && rest[1] > 0x20) return 2;
      if (!lines(basic ? "\"\"\"" : "'''")) return 1;
      inside = Inside::Nothing;
      return 3;
    }
  }
  return 1;
}

}  // namespace

std::string ascii_toml(std::string_view text, Problems& problems) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // a byte order mark
  std::string ascii;
  Inside inside = Inside::Nothing;
  int line = 1;
  while (!text.empty()) {
    const Decoded next = decode(text);
    if (next.length == 1) {
      const std::size_t taken = step(text, inside);
      if (text[0] == '\n') ++line;
      ascii += text.substr(0, taken);
      text.remove_prefix(taken);
      continue;
    }
    if (next.length == 0) {
      problems.add(line, "this line is not UTF-8; save the file as UTF-8");
      return {};
    }
    if (inside == Inside::Comment) {
      ascii += '?';
    } else if (inside == Inside::Basic || inside == Inside::BasicLines) {
      ascii += fmt::format("\\U{:08X}", next.point);
    } else {
      problems.add(
          line,
          "a character that is not ASCII; names and texts that hold one go into \"double quotes\"");
      return {};
    }
    text.remove_prefix(next.length);
  }
  return ascii;
}

}  // namespace discreet::catalog
