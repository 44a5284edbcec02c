// Replays the whole history and believes nothing: every seal, every admission, every sum, every
// answer.
#include <map>
#include <set>

#include <fmt/format.h>

#include "ledger/ledger_impl_internal.h"

namespace discreet::ledger {
namespace {

class Replay {
 public:
  explicit Replay(Store& store) : store_(store) {}

  Result<void> take(const StoredEvent& event) {
    if (event.sequence != found_.events + 1)
      return broken(event, fmt::format("comes where event {} should be", found_.events + 1));
    if (event.previous != found_.head)
      return broken(event, "does not continue the chain: an earlier event was changed or removed");
    if (seal(event) != event.hash) return broken(event, "was changed: its hash does not match");
    auto body = decode_body(event.kind, event.body);
    if (!body) return broken(event, body.error().message);
    found_.head = event.hash;
    ++found_.events;
    current_ = &event;
    return std::visit([this](const auto& what) { return apply(what); }, *body);
  }

  /// After the last event: the tables beside the chain must say what the chain says.
  Result<Verification> finish() {
    DISCREET_TRY(const auto recorded, store_.accounts());
    if (recorded.size() != accounts_.size())
      return invalid_input("the accounts table does not list the accounts of the events");
    for (const Account& account : recorded) {
      const auto replayed = accounts_.find(account.name());
      if (replayed == accounts_.end() || !(replayed->second.spent() == account.spent()) ||
          !(replayed->second.grant().total == account.grant().total) ||
          replayed->second.grant().parent != account.grant().parent ||
          replayed->second.grant().filter != account.grant().filter)
        return invalid_input(fmt::format(
            "the running sums of account '{}' are not those of its events", account.name()));
    }
    DISCREET_TRY(const auto rows, store_.charges());
    if (rows.size() != charges_.size())
      return invalid_input("the charges table does not list the charges of the events");
    for (const auto& row : rows) {
      const auto charge = charges_.find(row.sequence);
      if (charge == charges_.end() || charge->second.root != row.root ||
          charge->second.account != row.account || charge->second.question != row.question)
        return invalid_input(fmt::format("the charges table changes charge {}", row.sequence));
    }
    DISCREET_TRY(Statement count, store_.database().prepare("SELECT count(*) FROM answers"));
    DISCREET_TRY(const bool row, count.step());
    if (!row || static_cast<std::uint64_t>(count.integer(0)) != found_.releases)
      return invalid_input("there are recorded answers without a release event");
    return found_;
  }

 private:
  struct Paid {
    std::string account;
    std::string root;
    std::string question;
    bool released = false;
  };

  Error broken(const StoredEvent& event, const std::string& what) const {
    return invalid_input(fmt::format("event {} ({}) {}", event.sequence, event.kind, what));
  }
  Error broken(const std::string& what) const { return broken(*current_, what); }

  Result<void> apply(const GrantEvent& grant) {
    const auto [account, fresh] =
        accounts_.try_emplace(current_->account, current_->account, grant);
    if (fresh) return {};
    const auto regranted = account->second.regrant(grant);
    if (!regranted) return broken(regranted.error().message);
    return {};
  }

  Result<void> apply(const ChargeEvent& charge) {
    std::set<std::string> seen;
    std::string at = current_->account, root;
    for (; !at.empty(); at = accounts_.at(at).grant().parent) {
      const auto account = accounts_.find(at);
      if (account == accounts_.end())
        return broken(fmt::format("charges '{}', which was never granted anything", at));
      if (!seen.insert(at).second) return broken("charges accounts that run in a circle");
      if (!account->second.admit(charge.price))
        return broken(fmt::format("overspends account '{}'", at));
      root = at;
    }
    for (const std::string& account : seen) accounts_.at(account).spend(charge.price);
    if (!questions_.emplace(root, charge.question).second)
      return broken("charges a question twice");
    charges_.emplace(current_->sequence, Paid{current_->account, root, charge.question});
    ++found_.charges;
    return {};
  }

  Result<void> apply(const ReleaseEvent& release) {
    const auto charge = charges_.find(release.charge);
    if (charge == charges_.end()) return broken("releases what was never paid");
    if (charge->second.released) return broken("releases a second answer to one charge");
    charge->second.released = true;
    DISCREET_TRY(const auto row, store_.answer(release.charge));
    if (!row || row->release != current_->sequence || row->answer.size() != release.bytes ||
        sha256(row->answer) != release.answer)
      return broken("does not match the recorded answer");
    ++found_.releases;
    return {};
  }

  Result<void> apply(const RepeatEvent& repeat) {
    const auto charge = charges_.find(repeat.charge);
    if (charge == charges_.end() || !charge->second.released)
      return broken("repeats an answer that is not there");
    return {};
  }

  Store& store_;
  Verification found_{.head = genesis()};
  const StoredEvent* current_ = nullptr;
  std::map<std::string, Account> accounts_;
  std::map<std::uint64_t, Paid> charges_;
  std::set<std::pair<std::string, std::string>> questions_;
};

}  // namespace

Result<Verification> Ledger::verify(const std::string& head) {
  DISCREET_TRY_VOID(impl_->flush());
  const std::scoped_lock lock(impl_->mutex);
  Database& database = impl_->store.database();
  DISCREET_TRY_VOID(database.begin_reading());  // one snapshot while others go on writing
  const auto replay = [&]() -> Result<Verification> {
    Replay all(impl_->store);
    bool seen = head.empty();
    DISCREET_TRY(Statement select, database.prepare(fmt::format(
                                       "SELECT {} FROM events ORDER BY seq", kEventColumns)));
    while (true) {
      DISCREET_TRY(const bool row, select.step());
      if (!row) break;
      const StoredEvent event = Store::read_event(select);
      DISCREET_TRY_VOID(all.take(event));
      seen = seen || to_hex(event.hash) == head;
    }
    if (!seen)
      return invalid_input(
          fmt::format("no event has the hash {}: the ledger was cut or replaced", head));
    return all.finish();
  };
  auto found = replay();
  static_cast<void>(database.execute("ROLLBACK"));
  return found;
}

}  // namespace discreet::ledger
