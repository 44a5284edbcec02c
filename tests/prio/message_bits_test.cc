// Every bit of every request and answer between client, leader, helper and collector, changed on
// its way through the services: what is released is exact, or nothing is.
//
// Every report here says 1, so a released total must be the number of reports. Every changed bit
// has an hour of its own, so that what it spoils is seen.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>

#include "prio/client.h"
#include "prio/service.h"
#include "support/seeded_random.h"

namespace discreet::prio {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kHour = 3600, kNow = 1'800'000 * kHour;

using Change = std::function<void(std::string&)>;

void flip(std::string& text, std::size_t bit) {
  text[bit / 8] = static_cast<char>(static_cast<unsigned char>(text[bit / 8]) ^ (1U << bit % 8));
}

/// The helper behind its service, as RemoteHelper reaches it, with a hand on the wire.
class Wire final : public HelperLink {
 public:
  enum class Part { Target, Token, Request, Answer };

  Wire(const Task& task, const TaskSecrets& leader) : task_(task), leader_(leader) {}
  void connect(Helper* helper) { helper_ = helper; }
  /// Changes the next message that has this part, once.
  void change(Part part, Change how) {
    part_ = part;
    how_ = std::move(how);
  }
  std::size_t last_request() const { return last_request_; }
  std::size_t last_answer() const { return last_answer_; }
  std::size_t last_target() const { return last_target_; }

  Result<Bytes> aggregation_job(const JobId& job, ByteSpan request) override {
    return send("aggregation_jobs/" + to_base64url(job), request);
  }
  Result<Bytes> aggregate_share(ByteSpan request) override {
    return send("aggregate_shares", request);
  }

 private:
  void touch(Part part, std::string& text) {
    if (!how_ || part != part_) return;
    const Change how = std::move(how_);
    how_ = nullptr;
    how(text);
  }
  Result<Bytes> send(const std::string& what, ByteSpan request) {
    HttpRequest sent{.method = "POST",
                     .target = "/tasks/" + to_base64url(task_.id) + "/" + what,
                     .content_type = "",
                     .bearer = leader_.helper_token,
                     .body = as_text(request)};
    last_request_ = sent.body.size();
    last_target_ = sent.target.size();
    touch(Part::Target, sent.target);
    touch(Part::Token, sent.bearer);
    touch(Part::Request, sent.body);
    HttpResponse answer = serve_helper(*helper_, sent);
    if (answer.status == 200) {
      last_answer_ = answer.body.size();
      touch(Part::Answer, answer.body);
      return Bytes(answer.body.begin(), answer.body.end());
    }
    const bool misread = answer.body.find("error:invalidMessage") != std::string::npos;
    return Error{misread ? ErrorCode::InvalidInput : ErrorCode::Refused, answer.body};
  }

  const Task& task_;
  const TaskSecrets& leader_;
  Helper* helper_ = nullptr;
  Part part_ = Part::Request;
  Change how_;
  std::size_t last_request_ = 0, last_answer_ = 0, last_target_ = 0;
};

/// Memory where there is such a folder: this is about messages, not about disks.
fs::path scratch() {
  const fs::path memory = "/dev/shm";
  return fs::is_directory(memory) ? memory : fs::temp_directory_path();
}

class MessageBitsTest : public testing::Test {
 protected:
  MessageBitsTest() : folder_((scratch() / "discreet-bits-XXXXXX").string()) {
    if (!::mkdtemp(folder_.data())) std::abort();
    Task task;
    task.circuit = {CircuitKind::Count};
    task.min_batch_size = 1;
    made_ = make_task(task, 1, 0, random_).value();
    maker_.emplace(ReportMaker::make(made_.task, random_).value());
    wire_.emplace(made_.task, made_.leader);
    helper_ = Helper::open(made_.task, made_.helper, folder_, clock_, random_).value();
    wire_->connect(helper_.get());
    leader_ = Leader::open(made_.task, made_.leader, folder_, clock_, random_, *wire_).value();
  }
  ~MessageBitsTest() override {
    leader_.reset();
    helper_.reset();
    fs::remove_all(folder_);
  }

  std::string reports(std::uint64_t hour) {
    const std::uint64_t one = 1;
    return as_text(encode(std::vector<UploadedReport>{maker_->report({&one, 1}, hour).value()}));
  }
  HttpResponse ask_leader(const std::string& what, const std::string& body) {
    return serve_leader(*leader_, {.method = "POST",
                                   .target = "/tasks/" + to_base64url(made_.task.id) + "/" + what,
                                   .content_type = "",
                                   .bearer = made_.leader.collector_token,
                                   .body = body});
  }
  void upload(std::uint64_t hour) { ASSERT_EQ(ask_leader("reports", reports(hour)).status, 200U); }
  void work() {
    for (int attempt = 0; attempt < 5; ++attempt) {
      const auto more = leader_->step();
      if (more && !*more) return;
    }
  }
  static std::string question(std::uint64_t hour) {
    return as_text(encode(CollectionRequest{{hour, kHour}}));
  }
  /// Whether something was released for this hour; a wrong total fails the test.
  bool exact_or_nothing(std::uint64_t hour, const HttpResponse& answer, const std::string& what) {
    if (answer.status != 200) return false;
    const auto read = open_collection(made_.task, made_.collector, {hour, kHour},
                                      as_bytes(std::string_view(answer.body)));
    if (!read) return false;
    EXPECT_TRUE(read->report_count == 1 && read->totals[0] == 1) << what;
    return true;
  }
  bool collect(std::uint64_t hour, const std::string& what) {
    return exact_or_nothing(hour, ask_leader("collection_jobs", question(hour)), what);
  }
  std::uint64_t next_hour() { return hour_ -= kHour; }

  SeededRandom random_{20261231};
  ManualClock clock_{Instant(std::chrono::seconds(kNow + 60))};
  std::string folder_;
  NewTask made_;
  std::optional<ReportMaker> maker_;
  std::optional<Wire> wire_;
  std::unique_ptr<Helper> helper_;
  std::unique_ptr<Leader> leader_;
  std::uint64_t hour_ = kNow;
};

TEST_F(MessageBitsTest, AnyBitOfAnUploadIsRefusedOrHarmless) {
  const std::size_t bits = 8 * reports(next_hour()).size();
  for (std::size_t bit = 0; bit < bits; ++bit) {
    std::string body = reports(next_hour());
    flip(body, bit);
    ask_leader("reports", body);
  }
  for (int i = 0; i < 10; ++i) work();
  const auto leader = leader_->totals().value(), helper = helper_->totals().value();
  std::cout << bits << " bits of an upload: " << leader.refused << " reports refused after upload, "
            << leader.counted << " counted\n";
  EXPECT_EQ(leader.counted + helper.counted + leader.waiting, 0U)
      << "a report with a changed bit is no client's report";
}

TEST_F(MessageBitsTest, AnyBitBetweenLeaderAndHelperIsRefusedOrHarmless) {
  // Once as it should be, to learn how long the messages are.
  upload(next_hour());
  work();
  ASSERT_TRUE(collect(hour_, "unchanged"));
  const auto each = [&](Wire::Part part, const char* name, std::size_t bits, bool at_release) {
    std::size_t released = 0;
    for (std::size_t bit = 0; bit < bits; ++bit) {
      const std::uint64_t hour = next_hour();
      upload(hour);
      const Change change = [bit](std::string& text) {
        if (bit / 8 < text.size()) flip(text, bit);
      };
      if (at_release) {
        work();
        wire_->change(part, change);
        exact_or_nothing(hour, ask_leader("collection_jobs", question(hour)), name);
      } else {
        wire_->change(part, change);
        work();
      }
      released += collect(hour, name) ? 1 : 0;
    }
    std::cout << name << ": " << bits << " bits, " << released << " released and exact, "
              << bits - released << " refused\n";
    return released;
  };
  upload(next_hour());
  work();
  const std::size_t job = 8 * wire_->last_request(), job_answer = 8 * wire_->last_answer(),
                    job_target = 8 * wire_->last_target();
  ASSERT_TRUE(collect(hour_, "unchanged"));
  const std::size_t share = 8 * wire_->last_request(), share_answer = 8 * wire_->last_answer();
  // A job that was changed is refused and, unchanged, done again, unless the helper took the
  // change for a refusal of the report.
  each(Wire::Part::Request, "aggregation job", job, false);
  each(Wire::Part::Answer, "answer to a job", job_answer, false);
  EXPECT_EQ(each(Wire::Part::Target, "address of a job", job_target, false), job_target);
  // What concerns the release only can be asked for again.
  EXPECT_EQ(each(Wire::Part::Request, "request for a share", share, true), share);
  EXPECT_EQ(each(Wire::Part::Answer, "aggregate share", share_answer, true), share_answer);
  const std::size_t token = 8 * made_.leader.helper_token.size();
  EXPECT_EQ(each(Wire::Part::Token, "the leader's token", token, true), token);
}

TEST_F(MessageBitsTest, AnyBitBetweenCollectorAndLeaderIsRefusedOrHarmless) {
  std::size_t harmless = 0;
  const std::size_t request = 8 * question(kNow).size();
  for (std::size_t bit = 0; bit < request; ++bit) {
    const std::uint64_t hour = next_hour();
    upload(hour);
    std::string body = question(hour);
    flip(body, bit);
    EXPECT_FALSE(exact_or_nothing(hour, ask_leader("collection_jobs", body), "collection request"));
    collect(hour, "after a changed request");
  }
  const std::uint64_t hour = next_hour();
  upload(hour);
  HttpResponse answer = ask_leader("collection_jobs", question(hour));
  ASSERT_TRUE(exact_or_nothing(hour, answer, "unchanged"));
  for (std::size_t bit = 0; bit < 8 * answer.body.size(); ++bit) {
    flip(answer.body, bit);
    harmless += exact_or_nothing(hour, answer, "collection response") ? 1 : 0;
    flip(answer.body, bit);
  }
  // The two numbers of the collector's key, a byte each: it has one key and does not look.
  EXPECT_LE(harmless, 16U);
  std::cout << request << " bits of a collection request, " << 8 * answer.body.size()
            << " of a response: " << harmless << " harmless, the others refused\n";
}

}  // namespace
}  // namespace discreet::prio
