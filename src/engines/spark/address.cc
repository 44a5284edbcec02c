#include "engines/spark/address.h"

#include <algorithm>

namespace discreet::spark {
namespace {

constexpr char kForm[] =
    "this is not a Spark Connect address; write spark://host:15002/database.table";

bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '.' || c == '_' || c == ':' || c == '[' || c == ']';
  });
}

}  // namespace

Result<Address> Address::parse(std::string_view text) {
  constexpr std::string_view kScheme = "spark://";
  if (!text.starts_with(kScheme)) return invalid_input(kForm);
  text.remove_prefix(kScheme.size());
  Address address;
  const auto question = text.find('?');
  std::string_view options;
  if (question != std::string_view::npos) {
    options = text.substr(question + 1);
    text = text.substr(0, question);
  }
  const auto slash = text.find('/');
  const auto host = text.substr(0, slash);
  if (slash != std::string_view::npos) address.table = std::string(text.substr(slash + 1));
  if (host.find('@') != std::string_view::npos)
    return invalid_input(
        "a Spark address holds no user or password before its host; write user_id=NAME after a "
        "question mark, and put the token into SPARK_CONNECT_AUTHENTICATE_TOKEN");
  if (!is_name(host)) return invalid_input(kForm);
  address.target = std::string(host);
  // An IPv6 address has colons of its own, in brackets.
  if (host.find(':', host.rfind(']') == std::string_view::npos ? 0 : host.rfind(']')) ==
      std::string_view::npos)
    address.target += ":15002";
  while (!options.empty()) {
    const auto end = options.find('&');
    const auto part = options.substr(0, end);
    options = end == std::string_view::npos ? std::string_view() : options.substr(end + 1);
    if (part == "use_ssl=true")
      address.tls = true;
    else if (part.starts_with("user_id=") && is_name(part.substr(8)))
      address.user = std::string(part.substr(8));
    else if (part == "rows=sent" || part == "rows=summed")
      address.sends_rows = part == "rows=sent";
    else if (part == "files=here")
      address.files_option = Files::Here;
    else if (part == "files=sent")
      address.files_option = Files::Sent;
    else if (part == "files=there")
      address.files_option = Files::There;
    else if (part.starts_with("token="))
      return invalid_input(
          "a Spark address in a policy holds no token; put it into the environment as "
          "SPARK_CONNECT_AUTHENTICATE_TOKEN");
    else if (!part.empty() && part != "use_ssl=false")
      return invalid_input(
          "a Spark address takes the options use_ssl=true, user_id=NAME, rows=sent or "
          "rows=summed, and files=here, files=sent or files=there");
  }
  return address;
}

bool Address::is_near() const {
  return target.starts_with("localhost:") || target.starts_with("127.") ||
         target.starts_with("[::1]:");
}

std::string quoted_name(std::string_view name) {
  std::string quoted = "`";
  for (const char c : name) {
    quoted += c;
    if (c == '`') quoted += c;
  }
  return quoted + "`";
}

Result<std::string> quoted_relation(std::string_view table) {
  std::string quoted;
  int names = 0;
  while (true) {
    const auto dot = table.find('.');
    const auto name = table.substr(0, dot);
    if (name.empty() || ++names > 3)
      return invalid_input(
          "a Spark table is named table, database.table or catalog.database.table");
    quoted += (quoted.empty() ? "" : ".") + quoted_name(name);
    if (dot == std::string_view::npos) return quoted;
    table = table.substr(dot + 1);
  }
}

}  // namespace discreet::spark
