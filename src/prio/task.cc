#include "prio/task.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "prio/noise.h"
#include "prio/prio3.h"

namespace discreet::prio {
namespace {

using nlohmann::ordered_json;

/// A field of a file that may hold anything: nlohmann's exceptions become sentences.
template <class T>
Result<T> field(const ordered_json& object, const char* name) {
  try {
    return object.at(name).get<T>();
  } catch (const ordered_json::exception&) {
    return invalid_input(fmt::format("the task's file lacks {:?}, or it has another type", name));
  }
}

Result<Bytes> bytes_field(const ordered_json& object, const char* name, std::size_t size) {
  DISCREET_TRY(const std::string text, field<std::string>(object, name));
  DISCREET_TRY(Bytes bytes, from_base64url(text));
  if (bytes.size() != size)
    return invalid_input(fmt::format("{:?} must hold {} bytes as base64url", name, size));
  return bytes;
}

ordered_json to_json(const HpkeConfig& config) {
  return {{"id", config.id}, {"public_key", to_base64url(config.public_key)}};
}
Result<HpkeConfig> key_field(const ordered_json& object, const char* name) {
  DISCREET_TRY(const ordered_json key, field<ordered_json>(object, name));
  DISCREET_TRY(const unsigned id, field<unsigned>(key, "id"));
  DISCREET_TRY(Bytes public_key, bytes_field(key, "public_key", kHpkeKeyBytes));
  if (id > 255) return invalid_input("a key's id is a number below 256");
  return HpkeConfig{static_cast<std::uint8_t>(id), std::move(public_key)};
}

Result<Circuit> circuit_field(const ordered_json& object) {
  DISCREET_TRY(const ordered_json circuit, field<ordered_json>(object, "circuit"));
  DISCREET_TRY(const std::string kind_name, field<std::string>(circuit, "kind"));
  Circuit out;
  DISCREET_TRY(out.kind, circuit_kind(kind_name));
  DISCREET_TRY(out.length, field<std::uint64_t>(circuit, "length"));
  DISCREET_TRY(out.max, field<std::uint64_t>(circuit, "max"));
  DISCREET_TRY(out.chunk_length, field<std::uint64_t>(circuit, "chunk_length"));
  return out;
}

Result<NoisePolicy> noise_field(const ordered_json& object) {
  DISCREET_TRY(const ordered_json noise, field<ordered_json>(object, "noise"));
  NoisePolicy out;
  DISCREET_TRY(const std::string kind, field<std::string>(noise, "kind"));
  DISCREET_TRY(out.kind, noise_kind(kind));
  if (out.kind == NoiseKind::None) return out;
  DISCREET_TRY(out.epsilon, field<double>(noise, "epsilon"));
  DISCREET_TRY(out.delta, field<double>(noise, "delta"));
  DISCREET_TRY(const std::string split, field<std::string>(noise, "split"));
  DISCREET_TRY(out.split, noise_split(split));
  DISCREET_TRY(out.reports_per_client, field<std::uint32_t>(noise, "reports_per_client"));
  return out;
}

Result<void> check(const Task& task) {
  DISCREET_TRY(const Shape shape, shape_of(task.circuit));
  if (task.time_precision == 0 || task.time_precision > 366 * 86400)
    return invalid_parameter("the time precision is from a second to a year");
  if (task.min_batch_size == 0)
    return invalid_parameter("the smallest batch has at least one report");
  if (task.noise.kind == NoiseKind::None) return check_sums_fit(shape, task.min_batch_size);
  if (task.noise.neighbours == Neighbours::AddRemove)
    return invalid_parameter(
        "servers and collector learn the number of reports, so a task protects what a client "
        "reports, not "
        "whether it did: neighbours are replace_one");
  DISCREET_TRY(const ShareNoise noise, ShareNoise::make(shape, 2, task.noise));
  return noise.check_fits(task.min_batch_size);
}

std::string token(RandomSource& random) {
  std::array<std::uint64_t, 4> words{};
  random.fill(words);
  return to_base64url({reinterpret_cast<const std::uint8_t*>(words.data()), sizeof words});
}

Result<ordered_json> parse(const std::string& text) {
  ordered_json object = ordered_json::parse(text, nullptr, false);
  if (!object.is_object()) return invalid_input("a task's file is one JSON object");
  return object;
}

}  // namespace

std::string Task::to_json() const {
  ordered_json noise_json = {{"kind", name(noise.kind)}};
  if (noise.kind != NoiseKind::None)
    noise_json = {{"kind", name(noise.kind)},
                  {"epsilon", noise.epsilon},
                  {"delta", noise.delta},
                  {"split", name(noise.split)},
                  {"neighbours", name(noise.neighbours)},
                  {"reports_per_client", noise.reports_per_client}};
  const ordered_json object = {{"task_id", to_base64url(id)},
                               {"circuit",
                                {{"kind", name(circuit.kind)},
                                 {"length", circuit.length},
                                 {"max", circuit.max},
                                 {"chunk_length", circuit.chunk_length}}},
                               {"time_precision", time_precision},
                               {"min_batch_size", min_batch_size},
                               {"noise", noise_json},
                               {"leader_url", leader_url},
                               {"helper_url", helper_url},
                               {"leader_key", prio::to_json(leader_key)},
                               {"helper_key", prio::to_json(helper_key)},
                               {"collector_key", prio::to_json(collector_key)}};
  return object.dump(2) + "\n";
}

Result<Task> Task::from_json(const std::string& text) {
  DISCREET_TRY(const ordered_json object, parse(text));
  Task task;
  DISCREET_TRY(const Bytes id, bytes_field(object, "task_id", task.id.size()));
  std::copy(id.begin(), id.end(), task.id.begin());
  DISCREET_TRY(task.circuit, circuit_field(object));
  DISCREET_TRY(task.time_precision, field<std::uint64_t>(object, "time_precision"));
  DISCREET_TRY(task.min_batch_size, field<std::uint64_t>(object, "min_batch_size"));
  DISCREET_TRY(task.noise, noise_field(object));
  DISCREET_TRY(task.leader_url, field<std::string>(object, "leader_url"));
  DISCREET_TRY(task.helper_url, field<std::string>(object, "helper_url"));
  DISCREET_TRY(task.leader_key, key_field(object, "leader_key"));
  DISCREET_TRY(task.helper_key, key_field(object, "helper_key"));
  DISCREET_TRY(task.collector_key, key_field(object, "collector_key"));
  DISCREET_TRY_VOID(check(task));
  return task;
}

Result<void> Task::check_batch(const Interval& batch) const {
  if (batch.duration == 0 || batch.start % time_precision != 0 ||
      batch.duration % time_precision != 0)
    return invalid_parameter(
        fmt::format("a batch starts and ends at a multiple of {} seconds", time_precision));
  return {};
}

std::string TaskSecrets::to_json() const {
  ordered_json object = {{"role", static_cast<int>(role)},
                         {"secret_key", to_base64url(key.secret_key)}};
  if (role != Role::Collector)
    object.update({{"verify_key", to_base64url(verify_key)},
                   {"helper_token", helper_token},
                   {"budget", {{"epsilon", budget_epsilon}, {"delta", budget_delta}}}});
  if (role != Role::Helper) object["collector_token"] = collector_token;
  return object.dump(2) + "\n";
}

Result<TaskSecrets> TaskSecrets::from_json(const std::string& text) {
  DISCREET_TRY(const ordered_json object, parse(text));
  TaskSecrets secrets;
  DISCREET_TRY(const int role, field<int>(object, "role"));
  if (role != 0 && role != 2 && role != 3) return invalid_input("a role is 0, 2 or 3");
  secrets.role = static_cast<Role>(role);
  DISCREET_TRY(const Bytes secret_key, bytes_field(object, "secret_key", kHpkeKeyBytes));
  DISCREET_TRY(secrets.key, hpke_key_pair(secret_key));
  if (secrets.role != Role::Collector) {
    DISCREET_TRY(secrets.verify_key, bytes_field(object, "verify_key", kVerifyKeyBytes));
    DISCREET_TRY(secrets.helper_token, field<std::string>(object, "helper_token"));
    DISCREET_TRY(const ordered_json budget, field<ordered_json>(object, "budget"));
    DISCREET_TRY(secrets.budget_epsilon, field<double>(budget, "epsilon"));
    DISCREET_TRY(secrets.budget_delta, field<double>(budget, "delta"));
  }
  if (secrets.role != Role::Helper) {
    DISCREET_TRY(secrets.collector_token, field<std::string>(object, "collector_token"));
  }
  return secrets;
}

Result<NewTask> make_task(Task task, double budget_epsilon, double budget_delta,
                          RandomSource& random) {
  DISCREET_TRY(const Shape shape, shape_of(task.circuit));
  task.circuit = shape.circuit;  // with the chunk length that was chosen
  DISCREET_TRY_VOID(check(task));
  NewTask out;
  std::array<std::uint64_t, 8> words{};
  random.fill(words);
  std::memcpy(task.id.data(), words.data(), task.id.size());
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(words.data());
  out.leader.role = Role::Leader;
  out.helper.role = Role::Helper;
  out.leader.verify_key = out.helper.verify_key = Bytes(bytes + 32, bytes + 64);
  out.leader.helper_token = out.helper.helper_token = token(random);
  out.leader.collector_token = out.collector.collector_token = token(random);
  std::uint8_t id = 1;
  for (auto [secrets, config] :
       {std::pair{&out.leader, &task.leader_key}, std::pair{&out.helper, &task.helper_key},
        std::pair{&out.collector, &task.collector_key}}) {
    secrets->key = hpke_generate(random);
    secrets->budget_epsilon = budget_epsilon;
    secrets->budget_delta = budget_delta;
    *config = {id++, secrets->key.public_key};
  }
  out.task = std::move(task);
  return out;
}

Result<std::string> read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf()))
    return Error{ErrorCode::NotFound, fmt::format("{} cannot be read", path.string())};
  return text.str();
}

Result<void> write_text(const std::filesystem::path& path, const std::string& text, bool secret) {
  const int file =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, secret ? 0600 : 0644);
  bool ok = file >= 0;
  ok = ok && ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ok = ok && ::fsync(file) == 0;
  if (file >= 0) ::close(file);
  if (!ok) return Error{ErrorCode::Unavailable, fmt::format("{} cannot be written", path.string())};
  return {};
}

}  // namespace discreet::prio
