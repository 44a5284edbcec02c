#include "postgres/address.h"

#include <libpq-fe.h>

#include <memory>
#include <vector>

#include <fmt/format.h>

namespace discreet::postgres {
namespace {

std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto digit = [&](std::size_t at) -> int {
      if (at >= text.size()) return -1;
      const char c = text[at];
      if (c >= '0' && c <= '9') return c - '0';
      if (c >= 'a' && c <= 'f') return c - 'a' + 10;
      if (c >= 'A' && c <= 'F') return c - 'A' + 10;
      return -1;
    };
    if (text[i] == '%' && digit(i + 1) >= 0 && digit(i + 2) >= 0) {
      out += static_cast<char>(digit(i + 1) * 16 + digit(i + 2));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace

Result<Address> Address::parse(std::string_view text) {
  Address address;
  const auto question = text.find('?');
  address.server = std::string(text.substr(0, question));
  std::string kept;
  if (question != std::string_view::npos) {
    std::string_view rest = text.substr(question + 1);
    while (!rest.empty()) {
      const auto end = rest.find('&');
      const auto part = rest.substr(0, end);
      if (part.starts_with("table=")) {
        address.table = unescaped(part.substr(6));
      } else if (part == "rows=sent" || part == "rows=summed") {
        address.sends_rows = part == "rows=sent";
      } else if (part.starts_with("rows=")) {
        return invalid_input(
            "rows= takes sent (rows come here to be added up per person) or summed (the server "
            "adds up)");
      } else if (!part.empty()) {
        kept += (kept.empty() ? "?" : "&") + std::string(part);
      }
      rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    }
  }
  address.server += kept;
  char* message = nullptr;
  PQconninfoOption* options = PQconninfoParse(address.server.c_str(), &message);
  if (options == nullptr) {
    PQfreemem(message);
    return invalid_input(
        "this is not a PostgreSQL address; write postgres://user@host:5432/database?table=name");
  }
  const std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> held(options, PQconninfoFree);
  std::string host, database;
  bool has_password = false;
  for (const PQconninfoOption* option = options; option->keyword != nullptr; ++option) {
    if (option->val == nullptr) continue;
    const std::string_view keyword = option->keyword;
    if (keyword == "host") host = option->val;
    if (keyword == "dbname") database = option->val;
    if (keyword == "password") has_password = true;
  }
  if (has_password)
    return invalid_input(
        "the address holds a password; leave it out and put it where libpq looks: PGPASSFILE, "
        "~/.pgpass, or passfile=FILE in the address");
  address.shown = fmt::format("{} at {}", database.empty() ? "the default database" : database,
                              host.empty() ? "the local server" : host);
  return address;
}

Result<std::string> quoted_relation(std::string_view table) {
  std::vector<std::string> parts(1);
  bool quoted = false;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const char c = table[i];
    if (c == '"') {
      if (quoted && i + 1 < table.size() && table[i + 1] == '"') {
        parts.back() += c;
        ++i;
      } else {
        quoted = !quoted;
      }
    } else if (c == '.' && !quoted) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  std::string out;
  for (const std::string& part : parts) {
    if (part.empty() || quoted || parts.size() > 3)
      return invalid_input(fmt::format("'{}' is not the name of a table", table));
    out += out.empty() ? "\"" : ".\"";
    for (const char c : part) {
      if (c == '"') out += c;
      out += c;
    }
    out += '"';
  }
  return out;
}

}  // namespace discreet::postgres
