// The curator as many sessions share it: workers, who is asking, what they may see.
//
// Guarantee: a question runs on one worker at a time with a random source of its own; the ledger is
//            one for all. Credentials are compared in constant time, and a name that does not exist
//            costs the same work as one that does.
// Thread safety: post() and everything marked "worker" may be called from any thread; work given to
//            post() runs on a worker.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "catalog/policy.h"
#include "curator/curator.h"
#include "ledger/sha256.h"
#include "ledger/users.h"
#include "local/collector/collector.h"
#include "random/noise_pool.h"
#include "server/limits.h"
#include "server/log.h"
#include "server/metrics.h"
#include "server/settings.h"
#include "server/time_slots.h"

namespace discreet::server {

class CatalogDatabase;

struct Identity {
  std::string name;
  bool is_owner = false;
};

/// A table as its readers may know it.
struct VisibleColumn {
  std::string name;
  std::string type;  ///< as PostgreSQL calls it
  const catalog::Column* listed = nullptr;
};
struct VisibleTable {
  const catalog::Table* table;
  std::vector<VisibleColumn> columns;  ///< hidden ones are not here
  bool synthetic = false;              ///< a twin that a statement made: public, free to ask
};

class Service {
 public:
  /// Policy and clock must outlive the service.
  static Result<std::unique_ptr<Service>> open(const catalog::Policy& policy, const Clock& clock,
                                               Settings settings, Log& log);
  ~Service();

  using Work = std::function<void(Curator&)>;
  /// Two lines, so that what is quick does not stand behind charges that wait for the disk. Some
  /// workers serve the quick line only; the others serve it when theirs is empty.
  enum class Line {
    Quick,   ///< plans, EXPLAIN, answers on record: reads no private row and waits for no sync
    Charged  ///< everything else
  };
  /// False: the line is full, or the service is stopping.
  bool post(Line line, Work work);
  /// Waits for the work that was posted.
  void stop();
  /// Asks for a stop at this time, on a thread that may wait for an engine far away.
  void stop_at(Steady::time_point when, std::stop_source what);

  /// What this user may see of the policy's tables, in its order.
  std::vector<VisibleTable> visible_tables(const std::string& user) const;
  /// Twins that statements made, which everybody may see, but for those whose name is that of a
  /// table that this user may see. Worker. Those that another process made show within a second.
  Result<std::vector<VisibleTable>> twins(Curator& curator, const std::string& user);
  bool is_owner(const std::string& user) const;

  // Workers only: these read the ledger's file.
  /// SCRAM verifier of a user who may log in. A name that may not gets one that no password fits,
  /// the same each time.
  struct Credential {
    std::string verifier;
    bool real = false;
  };
  Result<Credential> credential(Curator& curator, const std::string& name);
  Result<std::optional<Identity>> identity_of_token(Curator& curator, const std::string& token);
  /// A token for a session of the console.
  std::string open_session(const Identity& identity, Instant expires);
  void close_session(const std::string& token);

  /// pg_catalog, information_schema and discreet.* as this user sees them.
  Result<std::shared_ptr<CatalogDatabase>> catalog_of(Curator& curator, const std::string& user);

  /// Stops the catalog query that runs for this user, if any: its session no longer waits.
  void interrupt_catalog(const std::string& user);

  /// Randomised reports from people's devices, where the settings ask for them; else null.
  local::Collector* collector() const { return collector_.get(); }

  const catalog::Policy& policy() const { return policy_; }
  const Settings& settings() const { return settings_; }
  const Clock& clock() const { return clock_; }
  Metrics& metrics() { return metrics_; }
  Log& log() { return log_; }
  const NoisePool& noise() const { return noise_; }

  // The I/O thread only.
  LoginGuard& logins() { return logins_; }
  RateLimit& rates() { return rates_; }

 private:
  Service(const catalog::Policy& policy, const Clock& clock, Settings settings, Log& log);
  void work(Curator& curator, bool quick_only);

  const catalog::Policy& policy_;
  const Clock& clock_;
  Settings settings_;
  Log& log_;
  Metrics metrics_;
  LoginGuard logins_;
  RateLimit rates_;
  std::string mock_secret_;
  std::unique_ptr<local::Collector> collector_;

  std::map<std::string, std::vector<VisibleColumn>> columns_;  // by table, hidden ones left out

  struct Session {
    Identity identity;
    Instant expires;
  };
  NoisePool noise_;  // one for all workers, which end before it does

  std::mutex sessions_mutex_;
  std::map<ledger::Digest, Session> sessions_;

  std::mutex twins_mutex_;
  std::optional<Steady::time_point> twins_looked_;

  std::mutex catalogs_mutex_;
  std::map<std::string, std::shared_ptr<CatalogDatabase>> catalogs_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::condition_variable quick_changed_;
  std::deque<Work> charged_, quick_;
  std::size_t idle_ = 0;  // workers of both lines that wait
  bool stopping_ = false;

  struct Worker;
  std::vector<std::unique_ptr<Worker>> workers_;

  void ask_for_stops();
  std::mutex stops_mutex_;
  std::condition_variable stops_changed_;
  std::multimap<Steady::time_point, std::stop_source> stops_;
  bool stops_end_ = false;
  std::thread stopper_;
};

}  // namespace discreet::server
