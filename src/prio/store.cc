#include "prio/store.h"

#include <cstring>
#include <set>

#include "ledger/sha256.h"
#include "ledger/sqlite_internal.h"

namespace discreet::prio {
namespace {

using ledger::Database;
using ledger::Statement;
using ledger::Transaction;

// A report's state: 0 waits, 1 is in a job, 2 was counted, 3 was refused. A helper's reports are in
// state 2 or 3 from the start.
constexpr const char* kSchema = R"(
PRAGMA journal_mode=WAL;
PRAGMA synchronous=FULL;
CREATE TABLE IF NOT EXISTS owner (task BLOB NOT NULL, role INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS reports (
  id BLOB PRIMARY KEY, time INTEGER NOT NULL, state INTEGER NOT NULL, job BLOB, body BLOB) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS reports_waiting ON reports (state) WHERE state < 2;
CREATE INDEX IF NOT EXISTS reports_of_job ON reports (job) WHERE state = 1;
CREATE TABLE IF NOT EXISTS jobs (id BLOB PRIMARY KEY, request BLOB, answer BLOB) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS buckets (
  start INTEGER PRIMARY KEY, count INTEGER NOT NULL, checksum BLOB NOT NULL, sum BLOB NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS collected (start INTEGER PRIMARY KEY, end INTEGER NOT NULL) STRICT;
)";

ByteSpan column(const std::string& text) {
  return as_bytes(text);
}

}  // namespace

Checksum checksum_of(ByteSpan bytes) {
  const ledger::Digest digest = ledger::sha256(as_text(bytes));
  Checksum out{};
  static_assert(sizeof digest == sizeof out);
  std::memcpy(out.data(), digest.data(), out.size());
  return out;
}

struct Store::Impl {
  Database database;
  const Prio3& prio;

  Result<void> mark(const ReportMetadata& metadata, int state) {
    DISCREET_TRY(
        Statement put,
        database.prepare("INSERT INTO reports VALUES (?, ?, ?, NULL, NULL) ON CONFLICT (id) "
                         "DO UPDATE SET state = excluded.state, body = NULL"));
    put.bind_blob(metadata.id)
        .bind(static_cast<std::int64_t>(metadata.time))
        .bind(std::int64_t{state});
    return put.run();
  }

  /// Buckets in memory for the length of one transaction.
  Result<Bucket> load(std::uint64_t start) {
    DISCREET_TRY(Statement get,
                 database.prepare("SELECT count, checksum, sum FROM buckets WHERE start = ?"));
    get.bind(static_cast<std::int64_t>(start));
    DISCREET_TRY(const bool found, get.step());
    Bucket bucket;
    bucket.sum = prio.aggregate_init();
    if (!found) return bucket;
    bucket.count = static_cast<std::uint64_t>(get.integer(0));
    const std::string checksum = get.text(1), sum = get.text(2);
    if (checksum.size() != bucket.checksum.size())
      return invalid_input("a stored bucket is damaged");
    std::memcpy(bucket.checksum.data(), checksum.data(), checksum.size());
    DISCREET_TRY(bucket.sum, prio.decode_vector(column(sum)));
    return bucket;
  }
  Result<void> save(std::uint64_t start, const Bucket& bucket) {
    DISCREET_TRY(Statement put,
                 database.prepare("INSERT OR REPLACE INTO buckets VALUES (?, ?, ?, ?)"));
    put.bind(static_cast<std::int64_t>(start)).bind(static_cast<std::int64_t>(bucket.count));
    put.bind_blob(bucket.checksum).bind_blob(prio.encode_vector(bucket.sum));
    return put.run();
  }

  Result<void> count_and_mark(const std::vector<CountedReport>& counted,
                              const std::vector<RefusedReport>& refused) {
    std::map<std::uint64_t, Bucket> buckets;
    for (const CountedReport& report : counted) {
      auto at = buckets.find(report.metadata.time);
      if (at == buckets.end()) {
        DISCREET_TRY(Bucket bucket, load(report.metadata.time));
        at = buckets.emplace(report.metadata.time, std::move(bucket)).first;
      }
      Bucket& bucket = at->second;
      ++bucket.count;
      const Checksum digest = checksum_of(report.metadata.id);
      for (std::size_t i = 0; i < digest.size(); ++i) bucket.checksum[i] ^= digest[i];
      prio.aggregate(bucket.sum, report.out_share);
      DISCREET_TRY_VOID(mark(report.metadata, 2));
    }
    for (const RefusedReport& report : refused) DISCREET_TRY_VOID(mark({report.id, 0}, 3));
    for (const auto& [start, bucket] : buckets) DISCREET_TRY_VOID(save(start, bucket));
    return {};
  }
};

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::Store(Store&&) noexcept = default;
Store::~Store() = default;

Result<Store> Store::open(const std::filesystem::path& file, const Prio3& prio, const TaskId& task,
                          Role role) {
  DISCREET_TRY(Database database, Database::open(file.string(), {.create = true}));
  DISCREET_TRY_VOID(database.execute(kSchema));
  {
    DISCREET_TRY(Transaction transaction, Transaction::begin(database));
    DISCREET_TRY(Statement owner, database.prepare("SELECT task, role FROM owner"));
    DISCREET_TRY(const bool owned, owner.step());
    if (owned && (owner.text(0) != as_text(task) || owner.integer(1) != static_cast<int>(role)))
      return invalid_input("this state belongs to another task or to the other server");
    if (!owned) {
      DISCREET_TRY(Statement claim, database.prepare("INSERT INTO owner VALUES (?, ?)"));
      claim.bind_blob(task).bind(static_cast<std::int64_t>(role));
      DISCREET_TRY_VOID(claim.run());
    }
    DISCREET_TRY_VOID(transaction.commit());
  }
  return Store(std::unique_ptr<Impl>(new Impl{std::move(database), prio}));
}

Result<std::vector<RefusedReport>> Store::put_reports(const std::vector<UploadedReport>& reports) {
  DISCREET_TRY(Transaction transaction, Transaction::begin(impl_->database));
  std::vector<RefusedReport> refused;
  std::map<std::uint64_t, bool> late;
  for (const UploadedReport& report : reports) {
    const std::uint64_t time = report.metadata.time;
    if (!late.contains(time)) {
      DISCREET_TRY(late[time], is_collected(time));
    }
    DISCREET_TRY(const bool seen, was_seen(report.metadata.id));
    if (seen || late[time]) {
      refused.push_back(
          {report.metadata.id, seen ? ReportError::ReportReplayed : ReportError::BatchCollected});
      continue;
    }
    DISCREET_TRY(Statement put,
                 impl_->database.prepare("INSERT INTO reports VALUES (?, ?, 0, NULL, ?)"));
    put.bind_blob(report.metadata.id).bind(static_cast<std::int64_t>(time));
    put.bind_blob(encode(std::vector<UploadedReport>{report}));
    DISCREET_TRY_VOID(put.run());
  }
  DISCREET_TRY_VOID(transaction.commit());
  return refused;
}

Result<std::optional<WaitingJob>> Store::next_job(std::size_t reports_max, RandomSource& random) {
  WaitingJob job;
  DISCREET_TRY(Transaction transaction, Transaction::begin(impl_->database));
  {
    DISCREET_TRY(Statement open,
                 impl_->database.prepare("SELECT job FROM reports WHERE state = 1 LIMIT 1"));
    DISCREET_TRY(const bool found, open.step());
    if (found) {
      const std::string id = open.text(0);
      if (id.size() != job.id.size()) return invalid_input("a stored job is damaged");
      std::memcpy(job.id.data(), id.data(), id.size());
    } else {
      std::uint64_t words[2];
      random.fill(words);
      std::memcpy(job.id.data(), words, job.id.size());
      DISCREET_TRY(
          Statement take,
          impl_->database.prepare("UPDATE reports SET state = 1, job = ? WHERE id IN (SELECT id "
                                  "FROM reports WHERE state = 0 LIMIT ?)"));
      take.bind_blob(job.id).bind(static_cast<std::int64_t>(reports_max));
      DISCREET_TRY_VOID(take.run());
    }
  }
  DISCREET_TRY_VOID(transaction.commit());
  DISCREET_TRY(
      Statement get,
      impl_->database.prepare("SELECT body FROM reports WHERE state = 1 AND job = ? ORDER BY id"));
  get.bind_blob(job.id);
  for (;;) {
    DISCREET_TRY(const bool more, get.step());
    if (!more) break;
    const std::string body = get.text(0);
    DISCREET_TRY(const std::vector<UploadedReport> one, decode_reports(column(body)));
    job.reports.insert(job.reports.end(), one.begin(), one.end());
  }
  if (job.reports.empty()) return std::optional<WaitingJob>{};
  return std::optional<WaitingJob>{std::move(job)};
}

Result<void> Store::forget_job(const JobId& job) {
  DISCREET_TRY(Statement back,
               impl_->database.prepare(
                   "UPDATE reports SET state = 0, job = NULL WHERE state = 1 AND job = ?"));
  back.bind_blob(job);
  return back.run();
}

Result<void> Store::finish_job(const JobId& job, const std::vector<CountedReport>& counted,
                               const std::vector<RefusedReport>& refused) {
  DISCREET_TRY(Transaction transaction, Transaction::begin(impl_->database));
  // A report of a job that was finished before is not counted again.
  DISCREET_TRY(Statement left,
               impl_->database.prepare("SELECT count(*) FROM reports WHERE state = 1 AND job = ?"));
  left.bind_blob(job);
  DISCREET_TRY(const bool row, left.step());
  if (!row || left.integer(0) != static_cast<std::int64_t>(counted.size() + refused.size()))
    return Error{ErrorCode::Refused, "this job was finished before"};
  DISCREET_TRY_VOID(impl_->count_and_mark(counted, refused));
  return transaction.commit();
}

Result<std::optional<Bytes>> Store::job_answer(const JobId& job, const Checksum& request) {
  DISCREET_TRY(Statement get,
               impl_->database.prepare("SELECT request, answer FROM jobs WHERE id = ?"));
  get.bind_blob(job);
  DISCREET_TRY(const bool found, get.step());
  if (!found) return std::optional<Bytes>{};
  if (get.text(0) != as_text(request))
    return invalid_input("a job of this number was answered before, and it was another one");
  const std::string answer = get.text(1);
  return std::optional<Bytes>{Bytes(answer.begin(), answer.end())};
}

Result<bool> Store::was_seen(const ReportId& id) {
  DISCREET_TRY(Statement get, impl_->database.prepare("SELECT 1 FROM reports WHERE id = ?"));
  get.bind_blob(id);
  return get.step();
}

Result<void> Store::answer_job(const JobId& job, const Checksum& request,
                               const std::vector<CountedReport>& counted,
                               const std::vector<RefusedReport>& refused, ByteSpan answer) {
  DISCREET_TRY(Transaction transaction, Transaction::begin(impl_->database));
  DISCREET_TRY_VOID(impl_->count_and_mark(counted, refused));
  DISCREET_TRY(Statement put, impl_->database.prepare("INSERT INTO jobs VALUES (?, ?, ?)"));
  put.bind_blob(job).bind_blob(request).bind_blob(answer);
  DISCREET_TRY_VOID(put.run());
  return transaction.commit();
}

Result<bool> Store::is_collected(std::uint64_t time) {
  DISCREET_TRY(Statement get,
               impl_->database.prepare("SELECT 1 FROM collected WHERE start <= ?1 AND ?1 < end"));
  get.bind(static_cast<std::int64_t>(time));
  return get.step();
}

Result<Bucket> Store::batch(const Interval& interval) {
  Bucket total;
  total.sum = impl_->prio.aggregate_init();
  DISCREET_TRY(Statement starts,
               impl_->database.prepare("SELECT start FROM buckets WHERE start >= ? AND start < ?"));
  starts.bind(static_cast<std::int64_t>(interval.start))
      .bind(static_cast<std::int64_t>(interval.end()));
  for (;;) {
    DISCREET_TRY(const bool more, starts.step());
    if (!more) return total;
    DISCREET_TRY(const Bucket bucket, impl_->load(static_cast<std::uint64_t>(starts.integer(0))));
    total.count += bucket.count;
    for (std::size_t i = 0; i < total.checksum.size(); ++i) total.checksum[i] ^= bucket.checksum[i];
    impl_->prio.aggregate(total.sum, bucket.sum);
  }
}

Result<void> Store::close_batch(const Interval& interval) {
  DISCREET_TRY(Transaction transaction, Transaction::begin(impl_->database));
  DISCREET_TRY(
      Statement overlap,
      impl_->database.prepare("SELECT start, end FROM collected WHERE start < ? AND end > ?"));
  overlap.bind(static_cast<std::int64_t>(interval.end()))
      .bind(static_cast<std::int64_t>(interval.start));
  DISCREET_TRY(const bool found, overlap.step());
  if (found) {
    const Interval other{static_cast<std::uint64_t>(overlap.integer(0)),
                         static_cast<std::uint64_t>(overlap.integer(1) - overlap.integer(0))};
    if (other == interval) return {};
    return Error{ErrorCode::Refused,
                 "this batch overlaps one that was collected; each report is released once"};
  }
  DISCREET_TRY(Statement put, impl_->database.prepare("INSERT INTO collected VALUES (?, ?)"));
  put.bind(static_cast<std::int64_t>(interval.start))
      .bind(static_cast<std::int64_t>(interval.end()));
  DISCREET_TRY_VOID(put.run());
  return transaction.commit();
}

Result<Store::Totals> Store::totals() {
  Totals totals;
  DISCREET_TRY(Statement get,
               impl_->database.prepare("SELECT state, count(*) FROM reports GROUP BY state"));
  for (;;) {
    DISCREET_TRY(const bool more, get.step());
    if (!more) return totals;
    const std::int64_t state = get.integer(0);
    (state < 2    ? totals.waiting
     : state == 2 ? totals.counted
                  : totals.refused) += static_cast<std::uint64_t>(get.integer(1));
  }
}

}  // namespace discreet::prio
