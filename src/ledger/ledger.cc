#include "ledger/ledger.h"

#include <utility>

#include <fmt/format.h>

#include "base/suggest.h"
#include "ledger/ledger_impl_internal.h"

namespace discreet::ledger {
namespace {

constexpr std::size_t kDepthMax = 16;

/// `base` and `count` times `each`, rounded down; delta stops at 1.
Amount grown(const Amount& base, const Amount& each, std::uint64_t count) {
  Amount total = base;
  const double times = count_down(count);
  if (total.epsilon && each.epsilon)
    total.epsilon =
        Epsilon::make(add_down(total.epsilon->value(), mul_down(times, each.epsilon->value())))
            .value();
  if (total.delta && each.delta)
    total.delta = Delta::make(std::min(1.0, add_down(total.delta->value(),
                                                     mul_down(times, each.delta->value()))))
                      .value();
  return total;
}

bool same_grant(const GrantEvent& a, const GrantEvent& b) {
  return a.parent == b.parent && a.filter == b.filter && a.total == b.total &&
         a.windows == b.windows;
}

Balance balance_of(const Account& account) {
  return {account.name(),
          account.grant().parent,
          account.grant().filter,
          account.grant().total,
          account.spent(),
          account.left(),
          account.grant().filter == FilterKind::Best ? concentrated_limit(account.grant().total)
                                                     : Rho::zero(),
          account.rho_left(),
          account.question_left()};
}

Result<ChargeEvent> charge_of(const std::optional<StoredEvent>& event, std::uint64_t sequence) {
  if (!event || event->kind != "charge" || seal(*event) != event->hash)
    return invalid_input(
        fmt::format("charge {} is broken; run `discreet ledger verify`", sequence));
  DISCREET_TRY(EventBody body, decode_body(event->kind, event->body));
  return std::get<ChargeEvent>(std::move(body));
}

Result<ChargeEvent> charge_event(Store& store, std::uint64_t sequence) {
  DISCREET_TRY(const auto event, store.event(sequence));
  return charge_of(event, sequence);
}

/// A recorded answer, after comparing it with the digest that was sealed.
Result<std::optional<std::string>> sealed_answer(Store& store, std::uint64_t charge) {
  DISCREET_TRY(auto row, store.answer(charge));
  if (!row) return std::optional<std::string>();
  DISCREET_TRY(const auto event, store.event(row->release));
  if (event && event->kind == "release" && seal(*event) == event->hash) {
    DISCREET_TRY(const EventBody body, decode_body(event->kind, event->body));
    const auto& release = std::get<ReleaseEvent>(body);
    if (release.charge == charge && release.answer == sha256(row->answer))
      return std::optional(std::move(row->answer));
  }
  return invalid_input(fmt::format(
      "the recorded answer to charge {} does not match its seal; run `discreet ledger verify`",
      charge));
}

}  // namespace

// -- accounts
// ---------------------------------------------------------------------------------------

Result<std::vector<AccountSpec>> Ledger::Impl::chain(const std::string& account) const {
  const std::scoped_lock lock(specs_mutex);
  std::vector<AccountSpec> found;
  for (std::string at = account; found.empty() || !at.empty(); at = found.back().parent) {
    const auto spec = specs.find(at);
    if (spec == specs.end())
      return Error{ErrorCode::NotFound,
                   fmt::format("there is no account '{}'{}", at, did_you_mean(at, order))};
    found.push_back(spec->second);
    if (found.size() > kDepthMax)
      return invalid_parameter(fmt::format("the accounts above '{}' run in a circle", account));
    if (found.back().parent.empty()) break;
  }
  return found;
}

std::vector<AccountSpec> Ledger::Impl::listed() const {
  const std::scoped_lock lock(specs_mutex);
  std::vector<AccountSpec> all;
  for (const std::string& account : order) all.push_back(specs.at(account));
  return all;
}

Result<void> Ledger::Impl::list(const AccountSpec& spec) {
  const std::scoped_lock lock(specs_mutex);
  if (spec.name.empty()) return invalid_parameter("an account needs a name");
  if (specs.contains(spec.name))
    return invalid_parameter(fmt::format("account '{}' is listed twice", spec.name));
  specs.emplace(spec.name, spec);
  order.push_back(spec.name);
  return {};
}

GrantEvent Ledger::Impl::wanted(const AccountSpec& spec,
                                const std::optional<Account>& recorded) const {
  GrantEvent grant;
  grant.parent = spec.parent;
  grant.windows = spec.grant ? spec.grant->count_at(clock.now()) : 0;
  grant.total = spec.grant ? grown(spec.amount, spec.grant->amount, grant.windows) : spec.amount;
  const bool fixed = recorded && recorded->spent().charges > 0;
  grant.filter = fixed ? recorded->grant().filter : spec.filter;
  return grant;
}

Result<Account> Ledger::Impl::preview(const AccountSpec& spec, Store& from) {
  DISCREET_TRY(auto recorded, from.account(spec.name));
  const GrantEvent grant = wanted(spec, recorded);
  if (!recorded) return Account(spec.name, grant);
  DISCREET_TRY_VOID(recorded->regrant(grant));
  return *std::move(recorded);
}

Result<Account> Ledger::Impl::current(const AccountSpec& spec) {
  DISCREET_TRY(const auto recorded, store.account(spec.name));
  DISCREET_TRY(Account account, preview(spec));
  if (recorded && same_grant(recorded->grant(), account.grant())) return account;
  DISCREET_TRY(const auto event, store.append(clock.now(), spec.name, account.grant()));
  DISCREET_TRY_VOID(store.put_account(account));
  return account;
}

Result<void> Ledger::Impl::record_grants() {
  if (read_only) return {};
  DISCREET_TRY(Transaction transaction, Transaction::begin(store.database()));
  for (const AccountSpec& spec : listed()) {
    DISCREET_TRY(const Account recorded, current(spec));
  }
  return transaction.commit();
}

// -- opening
// ----------------------------------------------------------------------------------------

Ledger::Ledger(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Ledger::Ledger(Ledger&&) noexcept = default;
Ledger::~Ledger() {
  if (impl_ && !impl_->read_only) static_cast<void>(impl_->flush());
}

Result<Ledger> Ledger::open(const std::filesystem::path& path, std::vector<AccountSpec> accounts,
                            const Clock& clock, LedgerOptions options) {
  DISCREET_TRY(Store store,
               Store::open(path, {options.vfs, options.read_only, options.busy_timeout_ms}));
  auto impl = std::make_unique<Impl>(std::move(store), clock, options.read_only);
  impl->path = path;
  impl->vfs = options.vfs;
  impl->busy_timeout_ms = options.busy_timeout_ms;
  for (const AccountSpec& account : accounts) DISCREET_TRY_VOID(impl->list(account));
  for (const AccountSpec& account : accounts) {
    DISCREET_TRY(const auto chain, impl->chain(account.name));
  }
  DISCREET_TRY_VOID(impl->record_grants());
  return Ledger(std::move(impl));
}

Result<void> Ledger::add_account(const AccountSpec& account) {
  const std::scoped_lock lock(impl_->mutex);
  if (!account.parent.empty()) {
    DISCREET_TRY(const auto above, impl_->chain(account.parent));
  }
  DISCREET_TRY_VOID(impl_->list(account));
  return impl_->record_grants();
}

Result<void> Ledger::set_amount(const std::string& account, const Amount& amount) {
  const std::scoped_lock lock(impl_->mutex);
  DISCREET_TRY(const auto chain, impl_->chain(account));
  const auto put = [&](const Amount& value) {
    const std::scoped_lock listing(impl_->specs_mutex);
    impl_->specs.at(account).amount = value;
  };
  put(amount);
  const auto recorded = impl_->record_grants();
  if (!recorded) put(chain.front().amount);
  return recorded;
}

Result<void> Ledger::open_reader() {
  DISCREET_TRY(Store reader, Store::open(impl_->path, {impl_->vfs, true, impl_->busy_timeout_ms}));
  impl_->reader.emplace(std::move(reader));
  return {};
}

bool Ledger::has_account(const std::string& account) const {
  const std::scoped_lock lock(impl_->specs_mutex);
  return impl_->specs.contains(account);
}

// -- the path of a question
// -------------------------------------------------------------------------

Result<std::optional<RecordedAnswer>> Ledger::find_answer(const std::string& account,
                                                          const std::string& question) {
  DISCREET_TRY(const auto chain, impl_->chain(account));
  return impl_->reading([&](Store& store) -> Result<std::optional<RecordedAnswer>> {
    DISCREET_TRY(const auto row, store.charge_of_question(chain.back().name, question));
    if (!row) return std::optional<RecordedAnswer>();
    DISCREET_TRY(auto answer, sealed_answer(store, row->sequence));
    if (!answer) return std::optional<RecordedAnswer>();
    DISCREET_TRY(const auto event, store.event(row->sequence));
    DISCREET_TRY(const ChargeEvent charge, charge_of(event, row->sequence));
    return std::optional(
        RecordedAnswer{row->sequence, row->account, event->at, charge.price, *std::move(answer)});
  });
}

Result<void> Ledger::record_repeat(const std::string& account, std::uint64_t charge) {
  DISCREET_TRY(const auto chain, impl_->chain(account));
  DISCREET_TRY(const bool answered, impl_->reading([&](Store& store) -> Result<bool> {
    return store.has_answer(charge);
  }));
  if (!answered)
    return Error{ErrorCode::NotFound, fmt::format("charge {} has no recorded answer", charge)};
  return impl_->note_repeat(account, charge) ? impl_->flush() : Result<void>();
}

Result<void> Ledger::flush() {
  return impl_->flush();
}

Result<Receipt> Ledger::charge(const Charge& charge) {
  std::optional<Receipt> receipt;
  DISCREET_TRY_VOID(impl_->commit_together([&]() -> Result<void> {
    DISCREET_TRY(Receipt made, charge_inside(charge));
    receipt.emplace(std::move(made));
    return {};
  }));
  return *std::move(receipt);  // durable from here on; only now a receipt exists
}

Result<Receipt> Ledger::charge_inside(const Charge& charge) {
  Store& store = impl_->store;
  DISCREET_TRY(const auto chain, impl_->chain(charge.account));
  const std::string& root = chain.back().name;

  if (!charge.request.empty()) {
    DISCREET_TRY(const auto earlier, store.charge_of_request(charge.account, charge.request));
    if (earlier && (earlier->root != root || earlier->question != charge.question))
      return invalid_parameter(
          "this idempotency key was used for another question; send a new one");
  }
  DISCREET_TRY(const auto paid, store.charge_of_question(root, charge.question));
  if (paid) {
    DISCREET_TRY(const ChargeEvent event, charge_event(store, paid->sequence));
    return Receipt(paid->sequence, paid->account, paid->question, event.price);
  }

  std::vector<Account> accounts;
  for (const AccountSpec& spec : chain) {
    DISCREET_TRY(Account account, impl_->current(spec));
    if (const FilterKind filter = account.filter_for(charge.price);
        filter != account.grant().filter) {
      GrantEvent grant = account.grant();
      grant.filter = filter;
      DISCREET_TRY_VOID(account.regrant(grant));
      DISCREET_TRY(const auto event, store.append(impl_->clock.now(), account.name(), grant));
    }
    DISCREET_TRY_VOID(account.admit(charge.price));
    accounts.push_back(std::move(account));
  }
  DISCREET_TRY(const StoredEvent event,
               store.append(impl_->clock.now(), charge.account,
                            ChargeEvent{charge.question, charge.request, charge.purpose,
                                        charge.price, charge.loss}));
  for (Account& account : accounts) {
    account.spend(charge.price);
    DISCREET_TRY_VOID(store.put_account(account));
  }
  DISCREET_TRY_VOID(
      store.put_charge({event.sequence, charge.account, root, charge.question}, charge.request));
  return Receipt(event.sequence, charge.account, charge.question, charge.price);
}

Result<std::string> Ledger::record_release(Receipt receipt, std::string_view answer) {
  DISCREET_CHECK(receipt.charge() != 0, "a receipt was used twice");
  std::string given;
  const std::function<Result<void>()> work = [&]() -> Result<void> {
    Store& store = impl_->store;
    DISCREET_TRY(auto earlier, sealed_answer(store, receipt.charge()));
    if (earlier) {
      given = *std::move(earlier);
      return {};
    }
    DISCREET_TRY(const StoredEvent event,
                 store.append(impl_->clock.now(), receipt.account(),
                              ReleaseEvent{receipt.charge(), sha256(answer), answer.size()}));
    DISCREET_TRY_VOID(store.put_answer(receipt.charge(), event.sequence, answer));
    given = answer;
    return {};
  };
  DISCREET_TRY_VOID(impl_->commit_together(work));
  return given;
}

// -- looking
// ----------------------------------------------------------------------------------------

Result<Amount> Ledger::granted(const std::string& account) {
  DISCREET_TRY(const auto chain, impl_->chain(account));
  return impl_->reading([&](Store& store) -> Result<Amount> {
    DISCREET_TRY(const Account now, impl_->preview(chain.front(), store));
    return now.grant().total;
  });
}

Result<Balance> Ledger::balance(const std::string& account) {
  DISCREET_TRY(const auto chain, impl_->chain(account));
  return impl_->reading([&](Store& store) -> Result<Balance> {
    DISCREET_TRY(const Account now, impl_->preview(chain.front(), store));
    return balance_of(now);
  });
}

Result<std::vector<Balance>> Ledger::balances() {
  return impl_->reading([&](Store& store) -> Result<std::vector<Balance>> {
    std::vector<Balance> all;
    for (const AccountSpec& spec : impl_->listed()) {
      DISCREET_TRY(const Account now, impl_->preview(spec, store));
      all.push_back(balance_of(now));
    }
    return all;
  });
}

Result<std::vector<StoredEvent>> Ledger::recent_events(const EventPage& page) {
  // What was noted will stand behind every event there is: a page that ends before need not wait.
  DISCREET_TRY(const auto last, impl_->reading([](Store& store) { return store.last_event(); }));
  if (!last || page.before > last->sequence + 1) DISCREET_TRY_VOID(impl_->flush());
  return impl_->reading([&](Store& store) -> Result<std::vector<StoredEvent>> {
    DISCREET_TRY(Statement select,
                 store.database().prepare(fmt::format(
                     "SELECT {} FROM events WHERE seq < ? AND (? = '' OR account = ?) AND (? = '' "
                     "OR kind = ?) ORDER BY seq DESC LIMIT ?",
                     kEventColumns)));
    select.bind(static_cast<std::int64_t>(page.before))
        .bind(page.account)
        .bind(page.account)
        .bind(page.kind)
        .bind(page.kind)
        .bind(static_cast<std::int64_t>(page.limit));
    std::vector<StoredEvent> events;
    while (true) {
      DISCREET_TRY(const bool row, select.step());
      if (!row) return events;
      events.push_back(Store::read_event(select));
    }
  });
}

Result<ChargeRecord> Ledger::record(std::uint64_t charge) {
  const std::scoped_lock lock(impl_->mutex);
  DISCREET_TRY(auto event, impl_->store.event(charge));
  if (!event || event->kind != "charge")
    return Error{ErrorCode::NotFound, fmt::format("there is no charge {} in this ledger", charge)};
  ChargeRecord found{*std::move(event), std::nullopt, {}};
  DISCREET_TRY(auto answer, impl_->store.answer(charge));
  if (!answer) return found;
  DISCREET_TRY(found.release, impl_->store.event(answer->release));
  found.answer = std::move(answer->answer);
  return found;
}

Result<void> Ledger::each_event(const std::function<Result<void>(const StoredEvent&)>& visit) {
  DISCREET_TRY_VOID(impl_->flush());
  const std::scoped_lock lock(impl_->mutex);
  DISCREET_TRY(Statement select, impl_->store.database().prepare(fmt::format(
                                     "SELECT {} FROM events ORDER BY seq", kEventColumns)));
  while (true) {
    DISCREET_TRY(const bool row, select.step());
    if (!row) return {};
    DISCREET_TRY_VOID(visit(Store::read_event(select)));
  }
}

}  // namespace discreet::ledger
