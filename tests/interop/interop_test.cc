// Our messages read by libprio-rs and theirs by us, at sizes the official vectors do not have.
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "prio/ping_pong.h"
#include "prio/test_servers.h"
#include "support/seeded_random.h"

namespace discreet::prio {
namespace {

const Bytes kContext = {'i', 'n', 't', 'e', 'r', 'o', 'p'};
const Bytes kKey(kVerifyKeyBytes, 42);

std::string text(const Bytes& bytes) {
  return bytes.empty() ? "-" : to_hex(bytes);
}
Bytes bytes(const std::string& word) {
  return word == "-" ? Bytes{} : from_hex(word).value();
}

/// The Rust program, one line in and one out.
class Peer {
 public:
  Peer(const std::string& program, const Shape& shape) {
    int in[2], out[2];
    if (::pipe(in) != 0 || ::pipe(out) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(in[0], 0);
      ::dup2(out[1], 1);
      for (const int file : {in[0], in[1], out[0], out[1]}) ::close(file);
      const Circuit& c = shape.circuit;
      ::execl(program.c_str(), program.c_str(), name(c.kind), std::to_string(c.length).c_str(),
              std::to_string(c.max).c_str(), std::to_string(c.chunk_length).c_str(), nullptr);
      std::_Exit(127);
    }
    ::close(in[0]);
    ::close(out[1]);
    to_ = ::fdopen(in[1], "w");
    from_ = ::fdopen(out[0], "r");
  }
  ~Peer() {
    std::fclose(to_);
    std::fclose(from_);
    ::waitpid(pid_, nullptr, 0);
  }

  std::vector<std::string> ask(const std::vector<std::string>& words) {
    std::string line;
    for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
    std::fprintf(to_, "%s\n", line.c_str());
    std::fflush(to_);
    std::string answer;
    for (int c = std::fgetc(from_); c != EOF && c != '\n'; c = std::fgetc(from_))
      answer += static_cast<char>(c);
    std::vector<std::string> out;
    std::istringstream tokens(answer);
    for (std::string token; tokens >> token;) out.push_back(token);
    if (out.empty()) out.emplace_back("no answer");
    return out;
  }

 private:
  pid_t pid_;
  std::FILE *to_, *from_;
};

struct Example {
  Circuit circuit;
  std::vector<Measurement> measurements;
};

std::vector<Example> examples() {
  Measurement hot(200), numbers(40), bounded(30);
  hot[3] = hot[150] = 1;
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = 37 * i % 1001;
  for (std::size_t i = 0; i < 5; ++i) bounded[6 * i] = 100 * i;
  return {{{CircuitKind::Count}, {{1}, {0}, {1}}},
          {{CircuitKind::Sum, 1, 1}, {{1}, {0}}},
          {{CircuitKind::Sum, 1, 1'000'003}, {{999'983}, {1'000'003}, {0}}},
          {{CircuitKind::SumVec, 40, 1000}, {numbers, Measurement(40, 1000)}},
          {{CircuitKind::SumVec, 1000, 1}, {Measurement(1000, 1), Measurement(1000, 0)}},
          {{CircuitKind::SumVecMultiproof, 9, 300}, {{1, 2, 3, 4, 5, 6, 7, 8, 300}}},
          {{CircuitKind::Histogram, 1}, {{0}}},
          {{CircuitKind::Histogram, 1000}, {{0}, {999}, {500}}},
          {{CircuitKind::Histogram, 77, 1, 13}, {{5}}},
          {{CircuitKind::MultihotCountVec, 200, 2}, {hot, Measurement(200, 0)}},
          {{CircuitKind::L1BoundSum, 30, 1000}, {bounded}}};
}

class InteropTest : public testing::Test {
 protected:
  void SetUp() override {
    const char* program = std::getenv("DISCREET_LIBPRIO_PEER");
    if (program == nullptr)
      GTEST_SKIP() << "DISCREET_LIBPRIO_PEER does not name the peer (tests/interop/run.sh does)";
    program_ = program;
  }
  static VerifyInput input(unsigned server, const TestReport& report) {
    return {.verify_key = kKey,
            .context = kContext,
            .server = server,
            .nonce = report.nonce,
            .public_share = report.shares.public_share,
            .input_share = report.shares.input_shares[server]};
  }
  TestReport ours(const Prio3& prio, const Measurement& measurement) {
    TestReport report{random_bytes(kNonceBytes, random_), {}};
    report.shares = prio.shard(kContext, measurement, report.nonce,
                               random_bytes(prio.randomness_bytes(), random_))
                        .value();
    return report;
  }
  static TestReport theirs(Peer& peer, const Measurement& measurement) {
    std::string numbers;
    for (const std::uint64_t value : measurement)
      numbers += (numbers.empty() ? "" : ",") + std::to_string(value);
    const auto words = peer.ask({"shard", numbers});
    EXPECT_EQ(words.size(), 4U);
    TestReport report{bytes(words.at(0)),
                      {bytes(words.at(1)), {bytes(words.at(2)), bytes(words.at(3))}}};
    return report;
  }
  static std::string expected_total(const Example& example, const Shape& shape) {
    std::vector<std::uint64_t> sum(shape.output);
    for (const Measurement& measurement : example.measurements)
      for (std::size_t i = 0; i < sum.size(); ++i)
        sum[i] += shape.circuit.kind == CircuitKind::Histogram ? std::uint64_t{measurement[0] == i}
                                                               : measurement[i];
    std::string out;
    for (const std::uint64_t value : sum) out += (out.empty() ? "" : ",") + std::to_string(value);
    return out;
  }

  std::string program_;
  SeededRandom random_{20261230};
};

TEST_F(InteropTest, TheirServersAcceptAndAddUpOurReports) {
  for (const Example& example : examples()) {
    const auto prio = Prio3::make(example.circuit, 2).value();
    Peer peer(program_, prio->shape());
    for (const Measurement& measurement : example.measurements) {
      const TestReport report = ours(*prio, measurement);
      EXPECT_EQ(
          peer.ask({"take", text(report.nonce), text(report.shares.public_share),
                    text(report.shares.input_shares[0]), text(report.shares.input_shares[1])})[0],
          "ok")
          << name(example.circuit.kind);
    }
    EXPECT_EQ(peer.ask({"total"})[0], expected_total(example, prio->shape()))
        << name(example.circuit.kind);
  }
}

TEST_F(InteropTest, OurServersAcceptAndAddUpTheirReports) {
  for (const Example& example : examples()) {
    const auto prio = Prio3::make(example.circuit, 2).value();
    Peer peer(program_, prio->shape());
    std::vector<FieldVector> sums(2, prio->aggregate_init());
    for (const Measurement& measurement : example.measurements) {
      const TestReport report = theirs(peer, measurement);
      auto leader = ping_pong_leader_init(*prio, input(0, report)).value();
      const auto helper = ping_pong_helper_init(*prio, input(1, report), leader.message).value();
      prio->aggregate(
          sums[0], ping_pong_leader_finish(*prio, std::move(leader.state), helper.message).value());
      prio->aggregate(sums[1], helper.out_share);
    }
    const std::vector<Bytes> shares = {prio->encode_vector(sums[0]), prio->encode_vector(sums[1])};
    const auto totals = prio->unshard(shares).value();
    std::string total;
    for (const Wide value : totals)
      total += (total.empty() ? "" : ",") + std::to_string(static_cast<std::uint64_t>(value));
    EXPECT_EQ(total, expected_total(example, prio->shape())) << name(example.circuit.kind);
  }
}

TEST_F(InteropTest, OurLeaderWorksWithTheirHelperAndTheOtherWayRound) {
  for (const Example& example : examples()) {
    const auto prio = Prio3::make(example.circuit, 2).value();
    Peer peer(program_, prio->shape());
    for (const bool their_client : {false, true}) {
      const Measurement& measurement = example.measurements[0];
      const TestReport report = their_client ? theirs(peer, measurement) : ours(*prio, measurement);
      const std::string nonce = text(report.nonce), shared = text(report.shares.public_share);
      auto leader = ping_pong_leader_init(*prio, input(0, report)).value();
      const auto answer = peer.ask(
          {"helper", nonce, shared, text(report.shares.input_shares[1]), text(leader.message)});
      ASSERT_EQ(answer.size(), 2U) << name(example.circuit.kind);
      const auto first =
          ping_pong_leader_finish(*prio, std::move(leader.state), bytes(answer[0])).value();

      const auto message = peer.ask({"leader", nonce, shared, text(report.shares.input_shares[0])});
      const auto helper = ping_pong_helper_init(*prio, input(1, report), bytes(message[0])).value();
      EXPECT_EQ(text(prio->encode_vector(helper.out_share)), answer[1]);
      EXPECT_EQ(peer.ask({"finish", text(helper.message)})[0], text(prio->encode_vector(first)));
    }
  }
}

TEST_F(InteropTest, BothRefuseAReportThatLies) {
  const auto prio = Prio3::make({CircuitKind::Histogram, 10}, 2).value();
  Peer peer(program_, prio->shape());
  TestReport report{random_bytes(kNonceBytes, random_), {}};
  std::vector<std::uint64_t> two_buckets(10);
  two_buckets[1] = two_buckets[2] = 1;
  report.shares = prio->shard_encoded(kContext, two_buckets, report.nonce,
                                      random_bytes(prio->randomness_bytes(), random_))
                      .value();
  EXPECT_EQ(peer.ask({"take", text(report.nonce), text(report.shares.public_share),
                      text(report.shares.input_shares[0]), text(report.shares.input_shares[1])})[0],
            "refused");
  const auto leader = ping_pong_leader_init(*prio, input(0, report)).value();
  EXPECT_FALSE(ping_pong_helper_init(*prio, input(1, report), leader.message));
}

}  // namespace
}  // namespace discreet::prio
