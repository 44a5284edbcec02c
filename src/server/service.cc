#include "server/service.h"

#include <algorithm>
#include <exception>

#include <fmt/format.h>

#include "curator/asker_schema.h"
#include "curator/twins.h"
#include "ledger/scram.h"
#include "random/pooled_random.h"
#include "random/secure_random.h"
#include "server/catalog_database.h"
#include "sql/type.h"

namespace discreet::server {

struct Service::Worker {
  explicit Worker(NoisePool& pool) : random(bits, pool) {}

  SecureRandom bits;
  PooledRandom random;
  std::optional<Curator> curator;
  std::thread thread;
};

Service::Service(const catalog::Policy& policy, const Clock& clock, Settings settings, Log& log)
    : policy_(policy),
      clock_(clock),
      settings_(std::move(settings)),
      log_(log),
      rates_(settings_.requests_per_second),
      mock_secret_(ledger::make_token()) {}

Result<std::unique_ptr<Service>> Service::open(const catalog::Policy& policy, const Clock& clock,
                                               Settings settings, Log& log) {
  std::unique_ptr<Service> service(new Service(policy, clock, std::move(settings), log));
  if (!service->settings_.reports.empty()) {
    DISCREET_TRY(service->collector_, local::Collector::open(service->settings_.reports.string()));
  }
  // The engine's own words may quote rows: they are not written anywhere.
  auto first = std::make_unique<Worker>(service->noise_);
  DISCREET_TRY(Curator curator, Curator::open(policy, clock, first->random, nullptr));
  first->curator.emplace(std::move(curator));
  DISCREET_TRY_VOID(first->curator->ledger().open_reader());
  for (const catalog::Table& table : policy.tables()) {
    DISCREET_TRY(const auto columns, first->curator->data().columns(table.name));
    auto& visible = service->columns_[table.name];
    for (const sql::SchemaColumn& column : columns) {
      const auto type = sql::parse_engine_type(column.engine_type);
      if (!type || table.column(column.name).hidden) continue;
      visible.push_back({column.name, sql::name(*type), table.listed(column.name)});
    }
  }
  service->workers_.push_back(std::move(first));
  const std::size_t workers = std::max<std::size_t>(1, service->settings_.workers);
  const std::size_t quick = std::max<std::size_t>(1, service->settings_.quick_workers);
  while (service->workers_.size() < workers + quick) {
    auto worker = std::make_unique<Worker>(service->noise_);
    DISCREET_TRY(Curator next, service->workers_.front()->curator->connect(worker->random));
    worker->curator.emplace(std::move(next));
    service->workers_.push_back(std::move(worker));
  }
  for (std::size_t i = 0; i < service->workers_.size(); ++i) {
    Worker& worker = *service->workers_[i];
    worker.thread = std::thread([self = service.get(), &worker, quick_only = i >= workers] {
      self->work(*worker.curator, quick_only);
    });
  }
  service->stopper_ = std::thread([self = service.get()] { self->ask_for_stops(); });
  return service;
}

Service::~Service() {
  stop();
}

void Service::stop() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  quick_changed_.notify_all();
  for (const auto& worker : workers_)
    if (worker->thread.joinable()) worker->thread.join();
  {
    const std::scoped_lock lock(stops_mutex_);
    stops_end_ = true;
  }
  stops_changed_.notify_all();
  if (stopper_.joinable()) stopper_.join();
}

void Service::stop_at(Steady::time_point when, std::stop_source what) {
  {
    const std::scoped_lock lock(stops_mutex_);
    stops_.emplace(when, std::move(what));
  }
  stops_changed_.notify_all();
}

void Service::ask_for_stops() {
  std::unique_lock lock(stops_mutex_);
  while (!stops_end_) {
    if (stops_.empty()) {
      stops_changed_.wait(lock);
      continue;
    }
    const auto first = stops_.begin();
    if (first->first > Steady::now()) {
      stops_changed_.wait_until(lock, first->first);
      continue;
    }
    std::stop_source what = std::move(first->second);
    stops_.erase(first);
    lock.unlock();
    what.request_stop();
    lock.lock();
  }
}

bool Service::post(Line line, Work work) {
  const bool quick = line == Line::Quick;
  bool help = false;
  {
    const std::scoped_lock lock(mutex_);
    auto& waiting = quick ? quick_ : charged_;
    if (stopping_ || waiting.size() >= settings_.waiting_max) return false;
    waiting.push_back(std::move(work));
    help = quick && quick_.size() > settings_.quick_workers && idle_ > 0;
  }
  if (quick) quick_changed_.notify_one();
  if (!quick || help) changed_.notify_one();
  return true;
}

void Service::work(Curator& curator, bool quick_only) {
  for (;;) {
    Work next;
    {
      std::unique_lock lock(mutex_);
      const auto ready = [&] {
        return stopping_ || !quick_.empty() || (!quick_only && !charged_.empty());
      };
      // Whoever has nothing to do for a second sees to it that notes of repeated answers are kept.
      idle_ += quick_only ? 0 : 1;
      const bool found =
          (quick_only ? quick_changed_ : changed_).wait_for(lock, std::chrono::seconds(1), ready);
      idle_ -= quick_only ? 0 : 1;
      if (!found) {
        lock.unlock();
        if (!curator.ledger().flush()) log_.warn("ledger_not_written");
        continue;
      }
      auto& line = !quick_only && !charged_.empty() ? charged_ : quick_;
      if (line.empty()) return;  // stopping, and this worker's work is done
      next = std::move(line.front());
      line.pop_front();
      metrics_.waiting(charged_.size() + quick_.size());
    }
    next(curator);
  }
}

std::vector<VisibleTable> Service::visible_tables(const std::string& user) const {
  std::vector<VisibleTable> tables;
  for (const catalog::Table& table : policy_.tables())
    if (shows(policy_, user, table)) tables.push_back({&table, columns_.at(table.name)});
  return tables;
}

Result<std::vector<VisibleTable>> Service::twins(Curator& curator, const std::string& user) {
  constexpr std::chrono::seconds kBetweenLooks{1};
  {
    const std::scoped_lock lock(twins_mutex_);
    if (!twins_looked_ || Steady::now() - *twins_looked_ >= kBetweenLooks) {
      DISCREET_TRY_VOID(curator.find_twins());
      twins_looked_ = Steady::now();
    }
  }
  std::vector<VisibleTable> tables;
  const auto made = curator.data().twins().all();
  for (const Twins::Listed& twin : made) {
    const catalog::Table* same = policy_.table(twin.table->name);
    if (same != nullptr && shows(policy_, user, *same)) continue;
    VisibleTable& table = tables.emplace_back(VisibleTable{twin.table, {}, true});
    for (const sql::SchemaColumn& column : twin.columns)
      if (const auto type = sql::parse_engine_type(column.engine_type))
        table.columns.push_back({column.name, sql::name(*type), nullptr});
  }
  return tables;
}

bool Service::is_owner(const std::string& user) const {
  return std::find(settings_.owners.begin(), settings_.owners.end(), user) !=
         settings_.owners.end();
}

Result<Service::Credential> Service::credential(Curator& curator, const std::string& name) {
  DISCREET_TRY(const auto user, ledger::UserStore(curator.ledger()).find(name));
  const catalog::Analyst* analyst = policy_.analyst(name);
  std::string verifier;
  if (analyst && analyst->password_verifier)
    verifier = *analyst->password_verifier;
  else if (user && (analyst || policy_.budget(user->parent)))
    verifier = user->verifier;
  if (!verifier.empty()) return Credential{verifier, true};
  // What a stranger sees must not tell who exists: a made-up name has a salt too, always the same.
  const ledger::Digest salt = ledger::sha256(mock_secret_ + name);
  const ledger::Digest key = ledger::sha256(name + mock_secret_);
  return Credential{fmt::format("SCRAM-SHA-256${}:{}${}:{}", ledger::kScramIterations,
                                ledger::base64(std::span(salt).first(16)), ledger::base64(key),
                                ledger::base64(key)),
                    false};
}

Result<std::optional<Identity>> Service::identity_of_token(Curator& curator,
                                                           const std::string& token) {
  {
    const std::scoped_lock lock(sessions_mutex_);
    const auto session = sessions_.find(ledger::sha256(token));
    if (session != sessions_.end()) {
      if (clock_.now() < session->second.expires) return std::optional(session->second.identity);
      sessions_.erase(session);
      return std::optional<Identity>();
    }
  }
  DISCREET_TRY(const auto user, ledger::UserStore(curator.ledger()).find_by_token(token));
  if (!user || !(policy_.analyst(user->name) || policy_.budget(user->parent)))
    return std::optional<Identity>();
  return std::optional(Identity{user->name, is_owner(user->name)});
}

std::string Service::open_session(const Identity& identity, Instant expires) {
  std::string token = ledger::make_token();
  const std::scoped_lock lock(sessions_mutex_);
  std::erase_if(sessions_, [now = clock_.now()](const auto& s) { return s.second.expires < now; });
  sessions_[ledger::sha256(token)] = {identity, expires};
  return token;
}

void Service::close_session(const std::string& token) {
  const std::scoped_lock lock(sessions_mutex_);
  sessions_.erase(ledger::sha256(token));
}

void Service::interrupt_catalog(const std::string& user) {
  const std::scoped_lock lock(catalogs_mutex_);
  if (const auto known = catalogs_.find(user); known != catalogs_.end()) known->second->interrupt();
}

Result<std::shared_ptr<CatalogDatabase>> Service::catalog_of(Curator& curator,
                                                             const std::string& user) {
  constexpr std::size_t kCatalogsMax = 32;
  DISCREET_TRY(const auto made_tables, twins(curator, user));
  std::shared_ptr<CatalogDatabase> found;
  {
    const std::scoped_lock lock(catalogs_mutex_);
    if (const auto known = catalogs_.find(user); known != catalogs_.end()) found = known->second;
    if (!found) {
      DISCREET_TRY(found, CatalogDatabase::open(visible_tables(user), user, collector()));
      if (catalogs_.size() >= kCatalogsMax) catalogs_.erase(catalogs_.begin());
      catalogs_[user] = found;
    }
  }
  DISCREET_TRY_VOID(found->add_twins(made_tables));
  return found;
}

}  // namespace discreet::server
