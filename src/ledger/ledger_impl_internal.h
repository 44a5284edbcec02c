// What a Ledger holds: the file, the accounts the policy lists, and a lock.
#pragma once

#include <condition_variable>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>

#include "ledger/ledger.h"
#include "ledger/store_internal.h"

namespace discreet::ledger {

class Ledger::Impl {
 public:
  Impl(Store store_in, const Clock& clock_in, bool read_only_in)
      : store(std::move(store_in)), clock(clock_in), read_only(read_only_in) {}

  /// From the account to the budget at the top. NotFound: the policy lists no such account.
  Result<std::vector<AccountSpec>> chain(const std::string& account) const;

  /// All of them, in order.
  std::vector<AccountSpec> listed() const;

  /// Checks that the spec's parents exist and run in no circle, then lists it.
  Result<void> list(const AccountSpec& spec);

  /// The account as it is on record, after recording a grant if the policy or the calendar changed
  /// it. Inside a Transaction.
  Result<Account> current(const AccountSpec& spec);
  /// The same without writing: what the grant would be now.
  Result<Account> preview(const AccountSpec& spec, Store& from);
  Result<Account> preview(const AccountSpec& spec) { return preview(spec, store); }

  /// Calls `read` with a store to read from: the reader's, if there is one, so that reading does
  /// not wait while somebody's commit waits for the disk.
  template <class Read>
  auto reading(const Read& read) {
    if (reader) {
      const std::scoped_lock lock(reader_mutex);
      return read(*reader);
    }
    const std::scoped_lock lock(mutex);
    return read(store);
  }

  Result<void> record_grants();

  /// Runs `work` inside a transaction and returns once it is durable. Callers that meet here share
  /// one transaction, so that a sync of the disk pays for all of them; each has a savepoint of its
  /// own, so that one that is refused takes nothing of the others with it.
  Result<void> commit_together(const std::function<Result<void>()>& work);

  /// A repeated answer costs nothing, so its note need not be durable before the answer leaves: it
  /// goes to disk with the next commit. True: there are many, and somebody should flush().
  bool note_repeat(const std::string& account, std::uint64_t charge);
  /// Everything noted is on disk once it returns.
  Result<void> flush();

  std::mutex mutex;  ///< of `store`
  Store store;
  std::mutex reader_mutex;
  std::optional<Store> reader;  ///< a second connection; set before threads share the ledger
  std::filesystem::path path;
  const char* vfs = nullptr;
  int busy_timeout_ms = 10'000;
  const Clock& clock;
  const bool read_only;
  mutable std::mutex specs_mutex;  ///< of the two below; taken last
  std::map<std::string, AccountSpec> specs;
  std::vector<std::string> order;  ///< names, as listed

 private:
  struct Waiting {
    const std::function<Result<void>()>* work;
    Result<void> outcome;
    bool done = false;
  };
  Result<void> commit_batch(const std::vector<Waiting*>& batch);

  using Note = Store::RepeatNote;
  std::mutex notes_mutex_;
  std::vector<Note> notes_;

  std::mutex queue_mutex_;
  std::condition_variable finished_;
  std::deque<Waiting*> queue_;
  bool leading_ = false;  // somebody is committing for everybody

  GrantEvent wanted(const AccountSpec& spec, const std::optional<Account>& recorded) const;
};

}  // namespace discreet::ledger
