// postgres:// addresses as policies write them.
//
//   postgres://user@host:5432/database?table=schema.table&sslmode=verify-full
//
// Everything libpq understands, and `table` and `rows`. A password is not among it: the policy is
// read by people, and printed. libpq takes it from PGPASSFILE, ~/.pgpass, PGPASSWORD or
// passfile=FILE.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace discreet::postgres {

struct Address {
  std::string server;  ///< the address without what is ours: what libpq gets
  std::string table;   ///< as written, "schema.table" or "table"; may be empty
  std::string shown;   ///< for messages: "database at host"
  /// Whether rows may leave the server to be added up per person where they arrive. Not:
  /// rows=summed.
  bool sends_rows = true;

  /// InvalidInput: not an address, or one with a password.
  static Result<Address> parse(std::string_view text);
};

/// "schema"."table" of "schema.table"; names may be quoted.
Result<std::string> quoted_relation(std::string_view table);

}  // namespace discreet::postgres
