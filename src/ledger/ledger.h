// The ledger: who may spend how much, what was charged, what was released.
//
// Guarantee: charge() returns a Receipt only after the charge is on disk, and only if it fits every
//            account from the asker's to the budget at the top; processes and threads that race
//            are served one after another. A crash at any instruction can lose an answer, never a
//            charge. Every charge has at most one answer. Events are appended, never changed, and
//            sealed in one SHA-256 chain.
// Assumes:   the disk keeps what it has acknowledged to fsync; prices are true bounds.
// Proof:     docs/proofs/ledger_filter.md (admission), docs/formats/ledger.md (recovery)
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "ledger/account.h"
#include "ledger/event.h"
#include "ledger/receipt.h"

namespace discreet::ledger {

/// An account as the policy wants it.
struct AccountSpec {
  std::string name;
  std::string parent;  ///< empty: a budget of its own; else every charge must fit there too
  Amount amount;
  std::optional<RecurringGrant> grant;
  FilterKind filter = FilterKind::Best;
};

struct Charge {
  std::string account;
  std::string question;  ///< same normalised question, same snapshot of the data: same text
  std::string request;   ///< the client's idempotency key; may be empty
  std::string purpose;   ///< for reports: the statement as it was asked
  LossEvent loss;
  Price price;
};

/// An answer on record.
struct RecordedAnswer {
  std::uint64_t charge;
  std::string account;  ///< who paid
  Instant at;
  Price price;
  std::string answer;
};

/// A charge as sealed, with what became of it.
struct ChargeRecord {
  StoredEvent charge;
  std::optional<StoredEvent> release;  ///< absent: no answer left yet
  std::string answer;
};

struct Balance {
  std::string account;
  std::string parent;
  FilterKind filter;
  Amount granted;
  Spent spent;
  Amount left;
  Rho rho_granted;
  Rho rho_left;
  std::optional<Epsilon> question_left;  ///< the largest pure question that still fits; absent: any
};

/// What verify() found in order.
struct Verification {
  std::uint64_t events = 0;
  std::uint64_t charges = 0;
  std::uint64_t releases = 0;
  Digest head{};  ///< the last event's hash: keep it elsewhere to notice a cut end
};

struct EventPage {
  std::uint64_t before = INT64_MAX;
  std::size_t limit = 100;
  std::string account{};  ///< empty: everybody's
  std::string kind{};     ///< empty: every kind
};

struct LedgerOptions {
  const char* vfs = nullptr;  ///< an SQLite VFS by name; null is the system's
  bool read_only = false;
  int busy_timeout_ms = 10'000;
};

/// Movable, not copyable. Thread-safe: calls are served one after another, and writers that wait at
/// the same time share one sync of the disk. Several processes may
/// have the same file open.
class Ledger {
 public:
  /// Opens or makes the file, and records a grant wherever `accounts` differ from what it holds.
  /// Accounts that are no longer listed keep their history and cannot pay. InvalidParameter: a
  /// parent that is not listed, or a circle. InvalidInput: not a ledger, or damaged.
  static Result<Ledger> open(const std::filesystem::path& path, std::vector<AccountSpec> accounts,
                             const Clock& clock, LedgerOptions options = {});
  Ledger(Ledger&&) noexcept;
  ~Ledger();

  /// The recorded answer to the same question under the same budget, whoever paid. Giving it again
  /// is free: it is post-processing of what has been paid for.
  Result<std::optional<RecordedAnswer>> find_answer(const std::string& account,
                                                    const std::string& question);
  /// Writes down that the recorded answer was given to `account` too. It is free, so the note goes
  /// to disk with the next commit, flush() or reading of events; a crash may lose it.
  Result<void> record_repeat(const std::string& account, std::uint64_t charge);

  /// Pays, durably. A question that was paid under the same budget but never answered (its asker
  /// crashed) is not paid twice. BudgetExhausted: some account cannot pay. NotFound: no such
  /// account. InvalidParameter: the idempotency key belongs to another question.
  Result<Receipt> charge(const Charge& charge);

  /// Puts the answer on record, durably, and returns the bytes to hand out: these, or those of
  /// another asker who was faster with the same charge. Nothing else may be handed out.
  Result<std::string> record_release(Receipt receipt, std::string_view answer);

  /// The account's total as of now.
  Result<Amount> granted(const std::string& account);
  /// Puts on disk what record_repeat() noted.
  Result<void> flush();

  Result<Balance> balance(const std::string& account);
  Result<std::vector<Balance>> balances();

  /// Each event in order; stops at the first error the callback returns.
  Result<void> each_event(const std::function<Result<void>(const StoredEvent&)>& visit);

  /// The charge of this number. NotFound: there is no such charge.
  Result<ChargeRecord> record(std::uint64_t charge);

  /// The newest events below page.before, newest first.
  Result<std::vector<StoredEvent>> recent_events(const EventPage& page);

  /// Replays everything: chain, admission of every charge, digests of answers, running sums.
  /// InvalidInput: names the first event that is broken. With `head`, that hash must be in the
  /// chain.
  Result<Verification> verify(const std::string& head = {});

  /// Lets balances, answers and events be read while a commit waits for the disk, through a second
  /// connection. Call it before threads share the ledger.
  Result<void> open_reader();

  /// Adds an account while open (a new user). The same rules as open().
  Result<void> add_account(const AccountSpec& account);
  /// Changes what an account may spend in all, while open. NotFound: no such account.
  Result<void> set_amount(const std::string& account, const Amount& amount);
  bool has_account(const std::string& account) const;

 private:
  friend class UserStore;
  class Impl;
  explicit Ledger(std::unique_ptr<Impl> impl);
  Result<Receipt> charge_inside(const Charge& charge);
  std::unique_ptr<Impl> impl_;
};

}  // namespace discreet::ledger
