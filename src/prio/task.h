// A task: what is measured, by whom, how it is checked, and how much noise the result carries. One
// public file for everyone, and one secret file for each of leader, helper and collector.
//
// Guarantee: all parties that talk to each other have the same public file: it is part of what
// every
//            share is sealed with.
// Format:    docs/formats/prio.md
#pragma once

#include <filesystem>
#include <string>

#include "prio/circuit.h"
#include "prio/messages.h"
#include "prio/noise_policy.h"

namespace discreet::prio {

struct Task {
  TaskId id{};
  Circuit circuit;
  std::uint64_t time_precision = 3600;  ///< seconds; report times are multiples of it
  std::uint64_t min_batch_size = 100;
  NoisePolicy noise;
  std::string leader_url, helper_url;
  HpkeConfig leader_key, helper_key, collector_key;

  /// The public file, also the bytes that every share is bound to.
  std::string to_json() const;
  /// InvalidInput or InvalidParameter: names the field and what it should be.
  static Result<Task> from_json(const std::string& text);

  std::uint64_t rounded(std::uint64_t time) const { return time - time % time_precision; }
  /// A batch that can be collected: aligned, not empty.
  Result<void> check_batch(const Interval& batch) const;
};

/// What only one party knows. Each leaves out what it does not need.
struct TaskSecrets {
  Role role = Role::Collector;
  HpkeKeyPair key;
  Bytes verify_key;             ///< leader and helper
  std::string helper_token;     ///< leader and helper: proves to the helper that the leader asks
  std::string collector_token;  ///< leader and collector
  double budget_epsilon = 0, budget_delta = 0;  ///< leader and helper: what their ledger grants

  std::string to_json() const;
  static Result<TaskSecrets> from_json(const std::string& text);
};

struct NewTask {
  Task task;
  TaskSecrets leader, helper, collector;
};

/// Fresh keys for a task whose other fields are given. InvalidParameter: fields that do not fit.
Result<NewTask> make_task(Task task, double budget_epsilon, double budget_delta,
                          RandomSource& random);

Result<std::string> read_text(const std::filesystem::path& path);
/// `secret`: readable by its owner only.
Result<void> write_text(const std::filesystem::path& path, const std::string& text, bool secret);

}  // namespace discreet::prio
