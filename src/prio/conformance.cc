#include "prio/conformance.h"

#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "prio/conformance_internal.h"

namespace discreet::prio {
namespace {

using nlohmann::json;

void expect(const Result<void>& outcome, bool success, const std::string& where) {
  if (success && !outcome) throw Difference{where + ": " + outcome.error().message};
  if (!success && outcome) throw Difference{where + " should have been refused"};
}

Conformance run(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream) return {.passed = false, .operations = 0, .reason = "cannot be read"};
  const json vector = json::parse(stream);
  const std::string name = file.filename().string();
  if (name.starts_with("Xof")) {
    run_xof_vector(name, vector);
    return {.passed = true, .operations = 2, .reason = ""};
  }
  if (name.starts_with("Idpf")) {
    run_idpf_vector(vector);
    return {.passed = true, .operations = 1, .reason = ""};
  }
  const auto script =
      name.starts_with("Poplar1") ? poplar1_script(vector) : prio3_script(name, vector);
  if (!script) return {.passed = false, .operations = 0, .reason = script.error().message};
  Conformance result;
  for (const json& operation : vector.at("operations")) {
    (*script)->run(operation);
    ++result.operations;
  }
  result.passed = result.operations > 0;
  if (!result.passed) result.reason = "the file lists no operations";
  return result;
}

}  // namespace

Bytes vector_hex(const json& value) {
  auto bytes = from_hex(value.get<std::string>());
  if (!bytes) throw Difference{bytes.error().message};
  return *std::move(bytes);
}

std::string joined_hex(const json& value) {
  if (!value.is_array()) return value.get<std::string>();
  std::string text;
  for (const json& element : value) text += element.get<std::string>();
  return text;
}

Result<void> same_hex(ByteSpan made, const json& stored, const char* what) {
  if (to_hex(made) == joined_hex(stored)) return {};
  return invalid_input(fmt::format("{} differs", what));
}

VectorScript::VectorScript(const json& vector)
    : vector_(vector),
      key_(vector_hex(vector.at("verify_key"))),
      context_(vector_hex(vector.at("ctx"))) {}

const json& VectorScript::report(std::size_t index) const {
  return vector_.at("reports").at(index);
}

Result<void> VectorScript::same_report(const Bytes& public_share,
                                       const std::vector<Bytes>& input_shares,
                                       const json& stored) const {
  DISCREET_TRY_VOID(same_hex(public_share, stored.at("public_share"), "the public share"));
  if (stored.at("input_shares").size() != input_shares.size())
    return invalid_input("the number of input shares differs");
  for (std::size_t i = 0; i < input_shares.size(); ++i)
    DISCREET_TRY_VOID(same_hex(input_shares[i], stored.at("input_shares").at(i), "an input share"));
  return {};
}

std::vector<Bytes> VectorScript::verifier_shares(std::size_t index, std::size_t round) const {
  std::vector<Bytes> shares;
  for (const json& share : report(index).at("verifier_shares").at(round))
    shares.push_back(vector_hex(share));
  return shares;
}

void VectorScript::run(const json& operation) {
  const auto name = operation.at("operation").get<std::string>();
  const bool success = operation.at("success").get<bool>();
  const std::string where = fmt::format("operation {}", name);
  const auto index = [&] { return operation.at("report_index").get<std::size_t>(); };
  const auto server = [&] { return operation.at("aggregator_id").get<unsigned>(); };
  const auto round = [&] { return operation.at("round").get<std::size_t>(); };
  if (name == "shard")
    expect(shard(index()), success, where);
  else if (name == "verify_init")
    expect(verify_init(index(), server()), success, where);
  else if (name == "verifier_shares_to_message")
    expect(to_message(index(), round()), success, where);
  else if (name == "verify_next" && round() > 0)
    expect(verify_next(index(), server(), round()), success, where);
  else if (name == "aggregate")
    expect(aggregate(server()), success, where);
  else if (name == "unshard")
    expect(unshard(), success, where);
  else
    throw Difference{fmt::format("unknown operation {}", name)};
}

Conformance run_vector(const std::filesystem::path& file) {
  try {
    return run(file);
  } catch (const Difference& difference) {
    return {.passed = false, .operations = 0, .reason = difference.reason};
  } catch (const json::exception& error) {
    return {.passed = false,
            .operations = 0,
            .reason = fmt::format("is not a test vector: {}", error.what())};
  }
}

}  // namespace discreet::prio
