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
  /// Where tables' own files are to be read, rather than asked for row by row.
  enum class Files {
    Here,  ///< this machine has them under the same names
    Sent,  ///< the server sends what is read of them
    There  ///< nowhere but there, by it alone
  };
  /// Absent: here if the server is on this machine, else sent; there if it sends no rows.
  std::optional<Files> files_option;

  /// Options: use_ssl=true, user_id=NAME, rows=sent or summed, files=here, sent or there.
  /// InvalidInput: not such an address, or it holds a token: that goes to the environment
  /// (SPARK_CONNECT_AUTHENTICATE_TOKEN), never into a policy.
  static Result<Address> parse(std::string_view text);

  /// A loopback address: the server is on this machine.
  bool is_near() const;
  Files files() const {
    return files_option.value_or(!sends_rows ? Files::There
                                 : is_near() ? Files::Here
                                             : Files::Sent);
  }

  /// The same server, as the same user.
  bool same_server(const Address& other) const {
    return target == other.target && user == other.user && tls == other.tls &&
           sends_rows == other.sends_rows && files_option == other.files_option;
  }
};

/// `database`.`table`, ready to be put into a statement. InvalidInput: not one to three names.
Result<std::string> quoted_relation(std::string_view table);
std::string quoted_name(std::string_view name);

}  // namespace discreet::spark
