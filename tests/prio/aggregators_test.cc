// Leader, helper, clients and collector in one process: right totals, replays, lies, lost answers.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "prio/client.h"
#include "prio/leader.h"
#include "support/seeded_random.h"

namespace discreet::prio {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kHour = 3600, kNow = 1'800'000 * kHour;

class Folder {
 public:
  Folder() : path_((fs::temp_directory_path() / "discreet-prio-XXXXXX").string()) {
    if (!::mkdtemp(path_.data())) std::abort();
  }
  ~Folder() { fs::remove_all(path_); }
  fs::path path() const { return path_; }

 private:
  std::string path_;
};

/// Loses requests on the way and answers on the way back.
class BadNetwork final : public HelperLink {
 public:
  explicit BadNetwork(RandomSource& random) : random_(random) {}
  void connect(HelperLink* helper) { helper_ = helper; }
  void set_loss(unsigned in_eight) { loss_ = in_eight; }
  bool lost() const { return lost_; }

  Result<Bytes> aggregation_job(const JobId& job, ByteSpan request) override {
    return through([&] { return helper_->aggregation_job(job, request); });
  }
  Result<Bytes> aggregate_share(ByteSpan request) override {
    return through([&] { return helper_->aggregate_share(request); });
  }

 private:
  template <class Call>
  Result<Bytes> through(Call&& call) {
    const Error gone{ErrorCode::Unavailable, "no answer"};
    lost_ = random_.bits64() % 8 < loss_;
    if (lost_ && random_.bits64() % 2 == 0) return gone;  // it never arrived
    auto answer = call();
    if (lost_) return gone;  // it arrived, the answer did not
    return answer;
  }
  RandomSource& random_;
  HelperLink* helper_ = nullptr;
  unsigned loss_ = 0;
  bool lost_ = false;
};

class AggregatorsTest : public testing::Test {
 protected:
  explicit AggregatorsTest() : network_(random_) {}

  void start(const Circuit& circuit, const NoisePolicy& noise = {}, std::uint64_t min_batch = 1,
             double budget = 10) {
    Task task;
    task.circuit = circuit;
    task.noise = noise;
    task.min_batch_size = min_batch;
    made_ = make_task(task, budget, 1e-5, random_).value();
    maker_.emplace(ReportMaker::make(made_.task, random_).value());
    restart_helper();
    restart_leader();
  }
  void restart_helper() {
    helper_.reset();
    helper_ = Helper::open(made_.task, made_.helper, folder_.path(), clock_, random_).value();
    network_.connect(helper_.get());
  }
  void restart_leader() {
    leader_.reset();
    leader_ =
        Leader::open(made_.task, made_.leader, folder_.path(), clock_, random_, network_).value();
    leader_->set_job_size(7);
  }

  UploadedReport report(const Measurement& measurement, std::uint64_t time = kNow) {
    return maker_->report(measurement, time).value();
  }
  std::vector<RefusedReport> upload(const std::vector<UploadedReport>& reports) {
    return decode_refused(leader_->upload(encode(reports)).value()).value();
  }
  Result<Collected> collect(Interval batch = {kNow, kHour}) {
    DISCREET_TRY(const Bytes response, leader_->collect(encode(CollectionRequest{batch})));
    return open_collection(made_.task, made_.collector, batch, response);
  }

  SeededRandom random_{20261220};
  ManualClock clock_{Instant(std::chrono::seconds(kNow + 60))};
  Folder folder_;
  BadNetwork network_;
  NewTask made_;
  std::optional<ReportMaker> maker_;
  std::unique_ptr<Helper> helper_;
  std::unique_ptr<Leader> leader_;
};

TEST_F(AggregatorsTest, TotalsAreThoseOfTheReports) {
  start({CircuitKind::SumVec, 3, 100});
  for (std::uint64_t i = 0; i < 20; ++i) EXPECT_TRUE(upload({report({i, 2 * i, 5})}).empty());
  const Collected result = collect().value();
  EXPECT_EQ(result.report_count, 20U);
  EXPECT_TRUE(result.totals == (std::vector<Int128>{190, 380, 100}));
}

TEST_F(AggregatorsTest, AReplayedReportCountsOnce) {
  start({CircuitKind::Count});
  const UploadedReport once = report({1});
  EXPECT_TRUE(upload({once}).empty());
  const auto again = upload({once});
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].error, ReportError::ReportReplayed);
  // Twice in one upload, and after it was counted.
  const UploadedReport other = report({1});
  EXPECT_EQ(upload({other, other}).size(), 1U);
  while (leader_->step().value()) {
  }
  EXPECT_EQ(upload({once, other}).size(), 2U);
  EXPECT_TRUE(collect().value().totals[0] == 2);
}

TEST_F(AggregatorsTest, AReplayingLeaderIsRefusedByTheHelper) {
  start({CircuitKind::Count});
  const UploadedReport one = report({1});
  upload({one});
  ASSERT_TRUE(leader_->step().value());
  // The leader loses its memory and tries the same report in a new job.
  leader_.reset();
  fs::remove(folder_.path() / "leader.sqlite");
  fs::remove(folder_.path() / "leader.sqlite-wal");
  fs::remove(folder_.path() / "leader.sqlite-shm");
  restart_leader();
  upload({one});
  ASSERT_TRUE(leader_->step().value());
  EXPECT_EQ(leader_->totals().value().refused, 1U);
  EXPECT_EQ(helper_->totals().value().counted, 1U);
}

TEST_F(AggregatorsTest, ChangedReportsAreRefusedAndTheRestIsExact) {
  start({CircuitKind::Histogram, 3});
  std::vector<UploadedReport> reports;
  for (std::uint64_t i = 0; i < 30; ++i) reports.push_back(report({i % 3}));
  reports[3].public_share[5] ^= 1;
  reports[4].leader.sealed.ciphertext[7] ^= 1;
  reports[5].helper.sealed.ciphertext[7] ^= 1;
  reports[6].metadata.id[0] ^= 1;
  reports[7].metadata.time -= kHour;  // into another bucket
  std::swap(reports[8].helper, reports[9].helper);
  EXPECT_TRUE(upload(reports).empty());
  const Collected result = collect().value();
  EXPECT_EQ(result.report_count, 23U);
  Int128 sum = 0;
  for (const Int128 total : result.totals) sum += total;
  EXPECT_TRUE(sum == 23);
  EXPECT_EQ(leader_->totals().value().refused, 7U);
  EXPECT_FALSE(collect({kNow - kHour, kHour}));  // nothing was counted there
}

TEST_F(AggregatorsTest, AReportWhosePublicShareWasChangedIsCountedByNeither) {
  start({CircuitKind::SumVec, 3, 1});
  for (int i = 0; i < 5; ++i) upload({report({1, 1, 1})});
  UploadedReport bad = report({1, 1, 1});
  bad.public_share.back() ^= 1;
  upload({bad});
  const Collected result = collect().value();
  EXPECT_EQ(result.report_count, 5U);
  EXPECT_EQ(helper_->totals().value().counted, 5U);
}

TEST_F(AggregatorsTest, SmallBatchesAreNotReleased) {
  start({CircuitKind::Count}, {}, 10);
  for (int i = 0; i < 9; ++i) upload({report({1})});
  const auto early = collect();
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().code, ErrorCode::Refused);
  upload({report({1})});
  EXPECT_TRUE(collect().value().totals[0] == 10);
}

TEST_F(AggregatorsTest, ACollectedBatchTakesNoMoreAndOverlapsNoOther) {
  start({CircuitKind::Count});
  upload({report({1}), report({1}, kNow - kHour)});
  EXPECT_TRUE(collect().value().totals[0] == 1);
  const auto late = upload({report({1})});
  ASSERT_EQ(late.size(), 1U);
  EXPECT_EQ(late[0].error, ReportError::BatchCollected);
  EXPECT_FALSE(collect({kNow - kHour, 2 * kHour}));
  EXPECT_TRUE(collect({kNow - kHour, kHour}).value().totals[0] == 1);
  EXPECT_FALSE(collect({kNow + 1, kHour}));  // not aligned
}

TEST_F(AggregatorsTest, NoiseIsDrawnOnceAndChargedOnce) {
  start({CircuitKind::Histogram, 50}, {.kind = NoiseKind::Laplace, .epsilon = 1}, 1, 1.5);
  for (std::uint64_t i = 0; i < 10; ++i) upload({report({i}), report({i}, kNow - kHour)});
  const auto first = collect().value().totals;
  EXPECT_TRUE(collect().value().totals == first);  // the same answer, for free
  restart_helper();
  restart_leader();
  EXPECT_TRUE(collect().value().totals == first);
  int wrong = 0;
  for (std::size_t i = 0; i < first.size(); ++i) wrong += first[i] != (i < 10 ? 1 : 0);
  EXPECT_GT(wrong, 10);  // there is noise
  const auto broke = collect({kNow - kHour, kHour});
  ASSERT_FALSE(broke);
  EXPECT_EQ(broke.error().code, ErrorCode::BudgetExhausted);
}

TEST_F(AggregatorsTest, LostMessagesAndRestartsCountEveryReportExactlyOnce) {
  start({CircuitKind::Sum, 1, 1000});
  std::uint64_t expected = 0;
  constexpr std::uint64_t kReports = 400;
  network_.set_loss(4);
  for (std::uint64_t i = 0; i < kReports; ++i) {
    expected += i;
    const UploadedReport one = report({i});
    upload({one});
    if (i % 3 == 0) upload({one});  // a client that did not hear the answer
    if (i % 5 == 0) static_cast<void>(leader_->step());
    if (random_.bits64() % 10 == 0) restart_leader();
    if (random_.bits64() % 10 == 0) restart_helper();
  }
  Result<Collected> result = collect();
  for (int attempt = 0; attempt < 10'000 && !result; ++attempt) {
    ASSERT_EQ(result.error().code, ErrorCode::Unavailable) << result.error().message;
    result = collect();
  }
  ASSERT_TRUE(result);
  EXPECT_EQ(result->report_count, kReports);
  EXPECT_TRUE(result->totals[0] == static_cast<Int128>(expected));
}

TEST_F(AggregatorsTest, StateOfAnotherTaskIsNotTouched) {
  start({CircuitKind::Count});
  const NewTask other = make_task(made_.task, 1, 0, random_).value();
  leader_.reset();
  EXPECT_FALSE(Leader::open(other.task, other.leader, folder_.path(), clock_, random_, network_));
}

TEST_F(AggregatorsTest, TaskFilesReadBackAndDamagedOnesAreRefused) {
  start({CircuitKind::Histogram, 5}, {.kind = NoiseKind::Gaussian, .epsilon = 1, .delta = 1e-6});
  const std::string text = made_.task.to_json();
  EXPECT_EQ(Task::from_json(text).value().to_json(), text);
  for (const char* field : {"task_id", "circuit", "noise", "leader_key", "min_batch_size"}) {
    std::string damaged = text;
    damaged.replace(damaged.find(field), 4, "xxxx");
    EXPECT_FALSE(Task::from_json(damaged)) << field;
  }
  EXPECT_FALSE(Task::from_json("[]"));
  EXPECT_FALSE(Task::from_json("{"));
  const auto secrets = TaskSecrets::from_json(made_.leader.to_json()).value();
  EXPECT_EQ(secrets.verify_key, made_.leader.verify_key);
  EXPECT_EQ(secrets.key.public_key, made_.task.leader_key.public_key);
}

// Any single bit of any request is refused, or what comes of it is the same result.
TEST_F(AggregatorsTest, AnyChangedBitOfAnUploadOrJobIsRefusedOrHarmless) {
  start({CircuitKind::Count});
  Bytes reports = encode(std::vector<UploadedReport>{report({1})});
  std::size_t taken = 0;
  for (std::size_t bit = 0; bit < 8 * reports.size(); bit += 1) {
    reports[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
    const auto answer = leader_->upload(reports);
    taken += answer && answer->empty();
    reports[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
  }
  EXPECT_GT(taken, 0U);  // most bits are inside what is sealed, and noticed later
  upload({report({1})});
  while (leader_->step().value()) {
  }
  EXPECT_EQ(leader_->totals().value().counted, 1U);
  EXPECT_TRUE(collect().value().totals[0] == 1);
}

}  // namespace
}  // namespace discreet::prio
