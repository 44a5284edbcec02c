// People who may log in, kept in the ledger's own file: verifiers and hashed tokens, never secrets.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ledger/ledger.h"

namespace discreet::ledger {

struct User {
  std::string name;
  std::string verifier;  ///< empty: no password
  bool has_token = false;
  std::string parent;           ///< the budget their charges are held by
  std::optional<Amount> share;  ///< their own limit; absent: only the parent's
  Instant created;
};

/// As safe to share between threads as its Ledger, which must outlive it.
class UserStore {
 public:
  explicit UserStore(Ledger& ledger) : ledger_(ledger) {}

  /// InvalidParameter: the name is taken, or not made of letters, digits and _ - . @.
  Result<void> add(const User& user);
  Result<void> set_password(const std::string& name, const std::string& verifier);
  /// Their own limit in all. The ledger's account must be told too (Ledger::set_amount).
  Result<void> set_share(const std::string& name, const Amount& share);
  /// A new token in place of an older one. The text is not kept: show it now or never.
  Result<std::string> renew_token(const std::string& name);
  /// Ends their access. What they spent stays spent.
  Result<void> remove(const std::string& name);

  Result<std::optional<User>> find(const std::string& name);
  Result<std::optional<User>> find_by_token(std::string_view token);
  Result<std::vector<User>> all();

 private:
  Ledger& ledger_;
};

}  // namespace discreet::ledger
