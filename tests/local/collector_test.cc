// The collector: bad reports refused alone, every acknowledged batch kept through kill -9 and torn
// files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>

#include "local/collector/collector.h"
#include "support/seeded_random.h"

namespace discreet::local {
namespace {

using ::testing::HasSubstr;

struct Folder {
  std::string path = ::testing::TempDir() + "collector_test_" + std::to_string(::getpid());
  Folder() { std::filesystem::remove_all(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string log() const { return path + "/drinks.reports"; }
};

Spec drinks() {
  Spec spec;
  spec.kind = OracleKind::OptimizedHash;
  spec.epsilon = 1;
  spec.values = 64;
  spec.name = "drinks";
  return complete(spec).value();
}

std::string lines(const Oracle& oracle, int count, RandomSource& random) {
  std::string text;
  std::vector<std::uint8_t> report(oracle.report_bytes());
  for (int i = 0; i < count; ++i) {
    oracle.randomize(static_cast<std::uint64_t>(i) % 64, random, report);
    text += report_line(report) + "\n";
  }
  return text;
}

BatchId id_of(std::uint64_t number) {
  BatchId id{};
  for (std::size_t i = 0; i < 8; ++i) id[i] = static_cast<std::uint8_t>(number >> (8 * i));
  id[15] = 1;
  return id;
}

TEST(Collector, KeepsWhatItAcknowledgedAndRefusesBadReportsAlone) {
  const Folder folder;
  const auto oracle = Oracle::make(drinks()).value();
  SeededRandom random(1);
  EstimateQuestion all;
  std::vector<EstimateRow> before;
  {
    const auto collector = Collector::open(folder.path).value();
    ASSERT_TRUE(collector->add_collection(drinks()));
    auto batch = lines(*oracle, 100, random);
    batch.insert(0, "\"00\"\n{}\n");
    // A first line that looks like a header must be one.
    EXPECT_TRUE(collector->add_lines("drinks", batch)->refused == 2);
    const auto again =
        collector->add_lines("drinks", header_line(drinks()) + "\n" + lines(*oracle, 50, random));
    EXPECT_EQ(again->accepted, 50U);
    const auto binary = binary_batch(drinks(), std::vector<std::uint8_t>(36, 0));
    EXPECT_EQ(collector
                  ->add_binary("drinks", Bytes(reinterpret_cast<const std::uint8_t*>(binary.data()),
                                               binary.size()))
                  ->accepted,
              3U);
    EXPECT_EQ(collector->add_lines("tea", "").error().code, ErrorCode::NotFound);
    before = collector->estimates("drinks", all)->rows;
    EXPECT_FALSE(Collector::open(folder.path)) << "one collector per folder";
  }
  const auto collector = Collector::open(folder.path).value();
  EXPECT_EQ(collector->reports("drinks").value(), 153U);
  const auto after = collector->estimates("drinks", all)->rows;
  ASSERT_EQ(after.size(), before.size());
  for (std::size_t i = 0; i < after.size(); ++i) EXPECT_EQ(after[i].estimate, before[i].estimate);
}

TEST(Collector, ReportsOfAnotherCollectionAreRefusedAsAWhole) {
  const Folder folder;
  const auto collector = Collector::open(folder.path).value();
  ASSERT_TRUE(collector->add_collection(drinks()));
  auto other = drinks();
  other.epsilon = 2;
  other.cells = 0;
  other = complete(other).value();
  EXPECT_THAT(collector->add_lines("drinks", header_line(other) + "\n").error().message,
              HasSubstr("another collection"));
  EXPECT_FALSE(collector->add_collection(other)) << "the same name, another header";
  other.name = "../x";
  EXPECT_FALSE(collector->add_collection(other));
}

TEST(Collector, ABatchSentTwiceIsCountedOnce) {
  const Folder folder;
  const auto oracle = Oracle::make(drinks()).value();
  SeededRandom random(2);
  const auto batch = lines(*oracle, 10, random);
  {
    const auto collector = Collector::open(folder.path).value();
    ASSERT_TRUE(collector->add_collection(drinks()));
    EXPECT_FALSE(collector->add_lines("drinks", batch, id_of(1))->repeated);
    EXPECT_TRUE(collector->add_lines("drinks", batch, id_of(1))->repeated);
  }
  const auto collector = Collector::open(folder.path).value();
  EXPECT_TRUE(collector->add_lines("drinks", batch, id_of(1))->repeated) << "also after a restart";
  EXPECT_EQ(collector->reports("drinks").value(), 10U);
}

// The file cut at any byte: every batch that lies wholly before the cut is there, none is invented.
TEST(Collector, AFileTornAnywhereKeepsEveryWholeBatch) {
  const Folder folder;
  const auto oracle = Oracle::make(drinks()).value();
  SeededRandom random(3);
  std::vector<std::uintmax_t> ends;
  {
    const auto collector = Collector::open(folder.path).value();
    ASSERT_TRUE(collector->add_collection(drinks()));
    for (int i = 0; i < 4; ++i) {
      ASSERT_TRUE(collector->add_lines("drinks", lines(*oracle, 3, random)));
      ends.push_back(std::filesystem::file_size(folder.log()));
    }
  }
  std::ifstream file(folder.log(), std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(file)), {});
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    std::ofstream(folder.log(), std::ios::binary) << whole.substr(0, cut);
    std::uint64_t expected = 0;
    for (const auto end : ends) expected += end <= cut ? 3 : 0;
    std::uint64_t counted = 0;
    const auto log =
        ReportLog::open(folder.log(), header_line(drinks()),
                        [&](const BatchId&, Bytes records) { counted += records.size() / 12; });
    ASSERT_TRUE(log) << cut;
    ASSERT_EQ(counted, expected) << "cut at " << cut;
  }
}

TEST(Collector, ADamagedByteEndsTheLogThereAndNeverInventsReports) {
  const Folder folder;
  const auto oracle = Oracle::make(drinks()).value();
  SeededRandom random(4);
  {
    const auto collector = Collector::open(folder.path).value();
    ASSERT_TRUE(collector->add_collection(drinks()));
    for (int i = 0; i < 3; ++i)
      ASSERT_TRUE(collector->add_lines("drinks", lines(*oracle, 2, random)));
  }
  std::fstream file(folder.log(), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-1, std::ios::end);
  file.put('\x55');
  file.close();
  EXPECT_EQ(Collector::open(folder.path).value()->reports("drinks").value(), 4U);
}

// A child collects and says so after every batch; it is killed at a moment it does not choose.
TEST(Collector, KillMinusNineLosesNoAcknowledgedBatch) {
  const Folder folder;
  const auto oracle = Oracle::make(drinks()).value();
  SeededRandom moments(5);
  std::uint64_t acknowledged = 0, kills = 0;
  for (int round = 0; round < 12; ++round) {
    int said[2];
    ASSERT_EQ(::pipe(said), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::close(said[0]);
      const auto collector = Collector::open(folder.path).value();
      (void)collector->add_collection(drinks());
      SeededRandom random(100 + static_cast<std::uint64_t>(round));
      const auto batch = lines(*oracle, 500, random);
      for (;;) {
        if (!collector->add_lines("drinks", batch)) ::_exit(1);
        if (::write(said[1], "+", 1) != 1) ::_exit(1);
      }
    }
    ::close(said[1]);
    char plus = 0;
    const int wanted = 1 + static_cast<int>(moments.bits64() % 8);
    for (int i = 0; i < wanted; ++i) ASSERT_EQ(::read(said[0], &plus, 1), 1);
    ::usleep(static_cast<useconds_t>(moments.bits64() % 3000));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    kills += WIFSIGNALED(status) ? 1 : 0;
    std::uint64_t heard = static_cast<std::uint64_t>(wanted);
    while (::read(said[0], &plus, 1) == 1) ++heard;
    ::close(said[0]);
    acknowledged += heard;
    const auto collector = Collector::open(folder.path).value();
    const std::uint64_t stored = collector->reports("drinks").value();
    ASSERT_GE(stored, 500 * acknowledged) << "round " << round;
    ASSERT_LE(stored, 500 * (acknowledged + 1 + static_cast<std::uint64_t>(round)));
    ASSERT_EQ(stored % 500, 0U);
    acknowledged = stored / 500;  // one more may have been stored than was heard of
  }
  std::cout << kills << " kills, " << acknowledged << " batches kept\n";
  EXPECT_EQ(kills, 12U);
}

}  // namespace
}  // namespace discreet::local
