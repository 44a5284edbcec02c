// Whole questions beside the plain query on the same engine: what the benchmarks of engines share.
#pragma once

#include <string>

namespace discreet::bench {

/// Where the rows are.
class Place {
 public:
  virtual ~Place() = default;
  virtual std::string name() const = 0;
  /// Tables by_row and by_person: `rows` rows of rows / 10 people, 1,000 keys, 3 words, amounts
  /// from 0 to 999. People come in turn, the same order again and again, or `mixed`: in no order.
  /// Table many: `groups` rows, each with a key of its own.
  virtual void make(long long rows, long long groups, bool mixed) = 0;
  /// The policy's source of a table.
  virtual std::string source(const std::string& table) const = 0;
  /// Runs a statement with {} for the table, and reads its rows.
  virtual void plain(const std::string& sql, const std::string& table) = 0;
  /// The engine's process, all of whose children work for it; 0: this one.
  virtual long process() const { return 0; }
};

/// Asks at every size. Both sides are the best of several runs, taken in turn, with fresh epsilons
/// so that nothing is remembered. CPU is that of this process, the engine's and all children: what
/// counts on a machine that is busy; "first" is the first question's, before anything is known of
/// its columns (another question may have asked for some of them). Memory is this process's at
/// most. Where a person is somebody, "by person" is the plain query with GROUP BY person first, and
/// what the private one costs of it.
///   [--rows N,N,...] [--rounds N] [--groups N] [--people turns|mixed] [--only WORDS]
int compare(Place& place, int argc, char** argv);

}  // namespace discreet::bench
