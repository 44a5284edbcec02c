// Where a Spark table is: spark://host:15002/database.table, with options after a question mark.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace discreet::spark {

struct Address {
  std::string target;  ///< "host:15002"
  std::string table;   ///< as written: "database.table", "catalog.database.table"; may be empty
  std::string user = "discreet";  ///< Spark's name for us; it proves nothing
  bool tls = false;
  /// Whether rows that fit a number of 64 bits each may leave the server to be added up per person
  /// where they arrive. Not: rows=summed.
  bool sends_rows = true;
  /// files=here, files=there: whether this machine has the server's files under the same names.
  /// Absent: if the server is on it, and sends rows.
  std::optional<bool> files_here;

  /// Options: use_ssl=true, user_id=NAME, rows=sent or summed, files=here or there. InvalidInput:
  /// not such an address, or it holds a token: that goes to the environment
  /// (SPARK_CONNECT_AUTHENTICATE_TOKEN), never into a policy.
  static Result<Address> parse(std::string_view text);

  /// A loopback address: the server is on this machine.
  bool is_near() const;
  bool has_files_here() const { return files_here.value_or(sends_rows && is_near()); }

  /// The same server, as the same user.
  bool same_server(const Address& other) const {
    return target == other.target && user == other.user && tls == other.tls &&
           sends_rows == other.sends_rows && files_here == other.files_here;
  }
};

/// `database`.`table`, ready to be put into a statement. InvalidInput: not one to three names.
Result<std::string> quoted_relation(std::string_view table);
std::string quoted_name(std::string_view name);

}  // namespace discreet::spark
