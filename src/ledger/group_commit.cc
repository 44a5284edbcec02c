// One sync of the disk for everybody who waits for it: the first to arrive commits for all who came
// meanwhile.
#include <algorithm>
#include <exception>

#include "ledger/ledger_impl_internal.h"

namespace discreet::ledger {
namespace {

// More would make the first in line wait for the last.
constexpr std::size_t kBatchMax = 128;

/// Said by the ledger's rules, not by the disk: the transaction goes on without it.
bool is_refusal(const Error& error) {
  return error.code != ErrorCode::Unavailable && error.code != ErrorCode::InvalidInput;
}

/// Others wait for this batch, so a broken invariant must not leave it by an exception.
Result<void> run(const std::function<Result<void>()>& work) {
  try {
    return work();
  } catch (const std::exception&) {
    return Error{ErrorCode::Unavailable,
                 "the ledger met an internal error; nothing was written, please report it"};
  }
}

}  // namespace

Result<void> Ledger::Impl::commit_batch(const std::vector<Waiting*>& batch) {
  const std::scoped_lock lock(mutex);
  Database& database = store.database();
  DISCREET_TRY(Transaction transaction, Transaction::begin(database));
  // Copied, so that repeats need not wait while these are written.
  std::vector<Note> notes;
  {
    const std::scoped_lock noting(notes_mutex_);
    notes = notes_;
  }
  const std::size_t noted = notes.size();
  DISCREET_TRY_VOID(store.append_repeats(notes));
  const auto forget_notes = [&] {
    const std::scoped_lock noting(notes_mutex_);
    notes_.erase(notes_.begin(), notes_.begin() + std::ptrdiff_t(noted));
  };
  for (Waiting* waiting : batch) {
    // Alone there is nobody to protect: the transaction itself is the savepoint.
    const bool alone = batch.size() == 1 && noted == 0;
    if (!alone) DISCREET_TRY_VOID(database.execute("SAVEPOINT one"));
    waiting->outcome = run(*waiting->work);
    if (waiting->outcome) {
      if (!alone) DISCREET_TRY_VOID(database.execute("RELEASE one"));
      continue;
    }
    // After a failure of the disk nothing of this transaction can be trusted, and SQLite may have
    // rolled it back already.
    if (!is_refusal(waiting->outcome.error()) || alone) return waiting->outcome.error();
    DISCREET_TRY_VOID(database.execute("ROLLBACK TO one; RELEASE one"));
  }
  DISCREET_TRY_VOID(transaction.commit());
  forget_notes();
  return {};
}

bool Ledger::Impl::note_repeat(const std::string& account, std::uint64_t charge) {
  constexpr std::size_t kManyNotes = 2048;
  const std::scoped_lock noting(notes_mutex_);
  notes_.push_back({clock.now(), account, charge});
  return notes_.size() % kManyNotes == 0;
}

Result<void> Ledger::Impl::flush() {
  {
    const std::scoped_lock noting(notes_mutex_);
    if (notes_.empty()) return {};
  }
  return commit_together([]() -> Result<void> { return {}; });
}

Result<void> Ledger::Impl::commit_together(const std::function<Result<void>()>& work) {
  Waiting mine{&work, {}, false};
  std::unique_lock lock(queue_mutex_);
  queue_.push_back(&mine);
  while (!mine.done) {
    if (leading_) {
      finished_.wait(lock);
      continue;
    }
    leading_ = true;
    const auto size = std::min(queue_.size(), kBatchMax);
    const std::vector<Waiting*> batch(queue_.begin(), queue_.begin() + std::ptrdiff_t(size));
    queue_.erase(queue_.begin(), queue_.begin() + std::ptrdiff_t(size));
    lock.unlock();
    const Result<void> committed = commit_batch(batch);
    lock.lock();
    for (Waiting* waiting : batch) {
      if (!committed && (waiting->outcome || size == 1)) waiting->outcome = committed.error();
      waiting->done = true;
    }
    leading_ = false;
    finished_.notify_all();
  }
  return mine.outcome;
}

}  // namespace discreet::ledger
