// The tables of a ledger file, one function per kind of access. Callers hold the transaction.
//
// `events` is the truth. `accounts`, `charges` and `answers` are indexes over it, kept in the same
// transaction and compared with it by verify.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ledger/account.h"
#include "ledger/sqlite_internal.h"

namespace discreet::ledger {

class Store {
 public:
  struct Options {
    const char* vfs;
    bool read_only;
    int busy_timeout_ms;
  };
  /// A file, or a postgres:// address.
  static Result<Store> open(const std::filesystem::path& path, Options options);

  Database& database() { return database_; }

  /// Appends one event, sealed to the last. Inside a Transaction only.
  Result<StoredEvent> append(Instant at, const std::string& account, const EventBody& body);
  struct RepeatNote {
    Instant at;
    std::string account;
    std::uint64_t charge;
  };
  /// The same for many at once. Each is sealed to the one before without reading that again.
  Result<void> append_repeats(const std::vector<RepeatNote>& notes);
  Result<std::optional<StoredEvent>> event(std::uint64_t sequence);
  Result<std::optional<StoredEvent>> last_event();

  Result<std::optional<Account>> account(const std::string& name);
  Result<std::vector<Account>> accounts();
  Result<void> put_account(const Account& account);

  struct ChargeRow {
    std::uint64_t sequence;
    std::string account;
    std::string root;
    std::string question;
  };
  Result<void> put_charge(const ChargeRow& row, const std::string& request);
  Result<std::optional<ChargeRow>> charge_of_question(const std::string& root,
                                                      const std::string& question);
  Result<std::optional<ChargeRow>> charge_of_request(const std::string& account,
                                                     const std::string& request);
  Result<std::vector<ChargeRow>> charges();

  struct AnswerRow {
    std::uint64_t release;  ///< the event that carries the digest
    std::string answer;
  };
  Result<void> put_answer(std::uint64_t charge, std::uint64_t release, std::string_view answer);
  Result<std::optional<AnswerRow>> answer(std::uint64_t charge);
  Result<bool> has_answer(std::uint64_t charge);

  /// Rows of an event query, in the order of its columns.
  static StoredEvent read_event(const Statement& row);

 private:
  Result<StoredEvent> append_after(const std::optional<StoredEvent>& last, Instant at,
                                   const std::string& account, const EventBody& body);
  static Result<Store> open_postgres(const std::string& address, Options options);
  explicit Store(Database database) : database_(std::move(database)) {}
  Database database_;
};

/// The columns read_event expects.
inline constexpr char kEventColumns[] = "seq, at_us, kind, account, body, previous, hash";

}  // namespace discreet::ledger
