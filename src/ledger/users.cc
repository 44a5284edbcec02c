#include "ledger/users.h"

#include <cctype>

#include <fmt/format.h>

#include "ledger/ledger_impl_internal.h"
#include "ledger/scram.h"

namespace discreet::ledger {
namespace {

constexpr char kColumns[] =
    "name, verifier, token_sha256 IS NOT NULL, parent, has_share, epsilon, delta, created_us";

bool good_name(std::string_view name) {
  if (name.empty() || name.size() > 63) return false;
  for (const char c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) &&
        std::string_view("_-.@").find(c) == std::string_view::npos)
      return false;
  return true;
}

Result<User> read_user(const Statement& row) {
  User user;
  user.name = row.text(0);
  user.verifier = row.text(1);
  user.has_token = row.integer(2) != 0;
  user.parent = row.text(3);
  if (row.integer(4) != 0) {
    Amount share;
    if (!row.is_null(5)) {
      DISCREET_TRY(share.epsilon, Epsilon::make(row.real(5)));
    }
    if (!row.is_null(6)) {
      DISCREET_TRY(share.delta, Delta::make(row.real(6)));
    }
    user.share = share;
  }
  user.created = Instant(std::chrono::microseconds(row.integer(7)));
  return user;
}

Result<std::optional<User>> first(Statement select) {
  DISCREET_TRY(const bool found, select.step());
  if (!found) return std::optional<User>();
  DISCREET_TRY(User user, read_user(select));
  return std::optional(std::move(user));
}

Error nobody(const std::string& name) {
  return Error{ErrorCode::NotFound, fmt::format("there is no user '{}'; add them with `discreet "
                                                "user add {} --policy FILE --password-stdin`",
                                                name, name)};
}

}  // namespace

Result<void> UserStore::add(const User& user) {
  if (!good_name(user.name))
    return invalid_parameter(
        "a user name is made of letters, digits and _ - . @, at most 63 of them");
  auto& impl = *ledger_.impl_;
  const std::scoped_lock lock(impl.mutex);
  Database& database = impl.store.database();
  DISCREET_TRY(Transaction transaction, Transaction::begin(database));
  DISCREET_TRY(Statement taken, database.prepare("SELECT 1 FROM users WHERE name = ?"));
  taken.bind(user.name);
  DISCREET_TRY(const bool exists, taken.step());
  if (exists)
    return invalid_parameter(
        fmt::format("user '{}' is already there; `discreet user password {}` changes the password",
                    user.name, user.name));
  DISCREET_TRY(Statement insert,
               database.prepare("INSERT INTO users VALUES (?, ?, NULL, ?, ?, ?, ?, ?)"));
  insert.bind(user.name).bind(user.verifier).bind(user.parent);
  if (user.share && user.share->epsilon)
    insert.bind(user.share->epsilon->value());
  else
    insert.bind_null();
  if (user.share && user.share->delta)
    insert.bind(user.share->delta->value());
  else
    insert.bind_null();
  insert.bind(std::int64_t{user.share.has_value()})
      .bind(static_cast<std::int64_t>(impl.clock.now().time_since_epoch().count()));
  DISCREET_TRY_VOID(insert.run());
  return transaction.commit();
}

Result<void> UserStore::set_password(const std::string& name, const std::string& verifier) {
  auto& impl = *ledger_.impl_;
  const std::scoped_lock lock(impl.mutex);
  DISCREET_TRY(
      Statement update,
      impl.store.database().prepare("UPDATE users SET verifier = ? WHERE name = ? RETURNING name"));
  update.bind(verifier).bind(name);
  DISCREET_TRY(const bool found, update.step());
  if (!found) return nobody(name);
  return update.run();  // a RETURNING statement takes effect when it has been read to its end
}

Result<void> UserStore::set_share(const std::string& name, const Amount& share) {
  auto& impl = *ledger_.impl_;
  const std::scoped_lock lock(impl.mutex);
  DISCREET_TRY(Statement update,
               impl.store.database().prepare("UPDATE users SET epsilon = ?, delta = ?, has_share = "
                                             "1 WHERE name = ? RETURNING name"));
  if (share.epsilon)
    update.bind(share.epsilon->value());
  else
    update.bind_null();
  if (share.delta)
    update.bind(share.delta->value());
  else
    update.bind_null();
  update.bind(name);
  DISCREET_TRY(const bool found, update.step());
  if (!found) return nobody(name);
  return update.run();
}

Result<std::string> UserStore::renew_token(const std::string& name) {
  auto& impl = *ledger_.impl_;
  const std::scoped_lock lock(impl.mutex);
  std::string token = make_token();
  DISCREET_TRY(Statement update,
               impl.store.database().prepare(
                   "UPDATE users SET token_sha256 = ? WHERE name = ? RETURNING name"));
  update.bind_blob(sha256(token)).bind(name);
  DISCREET_TRY(const bool found, update.step());
  if (!found) return nobody(name);
  DISCREET_TRY_VOID(update.run());
  return token;
}

Result<void> UserStore::remove(const std::string& name) {
  auto& impl = *ledger_.impl_;
  const std::scoped_lock lock(impl.mutex);
  DISCREET_TRY(Statement erase,
               impl.store.database().prepare("DELETE FROM users WHERE name = ? RETURNING name"));
  erase.bind(name);
  DISCREET_TRY(const bool found, erase.step());
  if (!found) return nobody(name);
  return erase.run();
}

Result<std::optional<User>> UserStore::find(const std::string& name) {
  return ledger_.impl_->reading([&](Store& store) -> Result<std::optional<User>> {
    DISCREET_TRY(Statement select, store.database().prepare(fmt::format(
                                       "SELECT {} FROM users WHERE name = ?", kColumns)));
    select.bind(name);
    return first(std::move(select));
  });
}

Result<std::optional<User>> UserStore::find_by_token(std::string_view token) {
  // Looked up by hash: what a timing difference could teach is a prefix of a hash, not of a token.
  return ledger_.impl_->reading([&](Store& store) -> Result<std::optional<User>> {
    DISCREET_TRY(Statement select, store.database().prepare(fmt::format(
                                       "SELECT {} FROM users WHERE token_sha256 = ?", kColumns)));
    select.bind_blob(sha256(token));
    return first(std::move(select));
  });
}

Result<std::vector<User>> UserStore::all() {
  auto& impl = *ledger_.impl_;
  const std::scoped_lock lock(impl.mutex);
  DISCREET_TRY(Statement select, impl.store.database().prepare(
                                     fmt::format("SELECT {} FROM users ORDER BY name", kColumns)));
  std::vector<User> users;
  while (true) {
    DISCREET_TRY(const bool row, select.step());
    if (!row) return users;
    DISCREET_TRY(User user, read_user(select));
    users.push_back(std::move(user));
  }
}

}  // namespace discreet::ledger
