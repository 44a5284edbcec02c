#include "prio/conformance.h"

#include <fstream>
#include <map>
#include <optional>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "prio/field128.h"
#include "prio/prio3.h"

namespace discreet::prio {
namespace {

using nlohmann::json;

/// Thrown inside this file only: a vector is a script, and the first difference ends it.
struct Difference {
  std::string reason;
};

Bytes hex(const json& value) {
  auto bytes = from_hex(value.get<std::string>());
  if (!bytes) throw Difference{bytes.error().message};
  return *std::move(bytes);
}

Result<CircuitKind> kind_of(const std::string& file) {
  const std::vector<std::pair<std::string, CircuitKind>> kinds = {
      {"Prio3SumVecWithMultiproof", CircuitKind::SumVecMultiproof},
      {"Prio3SumVec", CircuitKind::SumVec},
      {"Prio3Sum", CircuitKind::Sum},
      {"Prio3Count", CircuitKind::Count},
      {"Prio3Histogram", CircuitKind::Histogram},
      {"Prio3MultihotCountVec", CircuitKind::MultihotCountVec},
      {"Prio3L1BoundSum", CircuitKind::L1BoundSum},
      {"Prio3HigherDegree", CircuitKind::HigherDegree}};
  // Longer names come first, so that a SumVec is not taken for a Sum.
  for (const auto& [name, kind] : kinds)
    if (file.find(name) != std::string::npos) return kind;
  return invalid_input(fmt::format("no implementation of {}", file.substr(0, file.find('_'))));
}

std::uint64_t number(const json& object, std::initializer_list<const char*> names,
                     std::uint64_t otherwise) {
  for (const char* name : names)
    if (object.contains(name)) return object.at(name).get<std::uint64_t>();
  return otherwise;
}

Measurement measurement_of(const json& value) {
  const auto one = [](const json& entry) {
    return entry.is_boolean() ? std::uint64_t{entry.get<bool>()} : entry.get<std::uint64_t>();
  };
  if (!value.is_array()) return {one(value)};
  Measurement out;
  for (const json& entry : value) out.push_back(one(entry));
  return out;
}

class Runner {
 public:
  Runner(const json& vector, const Prio3& prio)
      : vector_(vector),
        prio_(prio),
        key_(hex(vector.at("verify_key"))),
        context_(hex(vector.at("ctx"))) {
    sums_.assign(prio.servers(), prio.aggregate_init());
  }

  void run(const json& operation) {
    const auto name = operation.at("operation").get<std::string>();
    const bool success = operation.at("success").get<bool>();
    const std::string where = fmt::format("operation {}", name);
    if (name == "shard")
      expect(shard(operation), success, where);
    else if (name == "verify_init")
      expect(verify_init(operation), success, where);
    else if (name == "verifier_shares_to_message")
      expect(to_message(operation), success, where);
    else if (name == "verify_next")
      expect(verify_next(operation), success, where);
    else if (name == "aggregate")
      expect(aggregate(operation), success, where);
    else if (name == "unshard")
      expect(unshard(), success, where);
    else
      throw Difference{fmt::format("unknown operation {}", name)};
  }

 private:
  static void expect(const Result<void>& outcome, bool success, const std::string& where) {
    if (success && !outcome) throw Difference{where + ": " + outcome.error().message};
    if (!success && outcome) throw Difference{where + " should have been refused"};
  }
  static Result<void> same(const Bytes& made, const json& stored, const char* what) {
    if (to_hex(made) == stored.get<std::string>()) return {};
    return invalid_input(fmt::format("{} differs", what));
  }
  const json& report(const json& operation) const {
    return vector_.at("reports").at(operation.at("report_index").get<std::size_t>());
  }

  Result<void> shard(const json& operation) const {
    const json& stored = report(operation);
    DISCREET_TRY(const Report made, prio_.shard(context_, measurement_of(stored.at("measurement")),
                                                hex(stored.at("nonce")), hex(stored.at("rand"))));
    DISCREET_TRY_VOID(same(made.public_share, stored.at("public_share"), "the public share"));
    if (stored.at("input_shares").size() != made.input_shares.size())
      return invalid_input("the number of input shares differs");
    for (std::size_t i = 0; i < made.input_shares.size(); ++i)
      DISCREET_TRY_VOID(
          same(made.input_shares[i], stored.at("input_shares").at(i), "an input share"));
    return {};
  }

  Result<void> verify_init(const json& operation) {
    const json& stored = report(operation);
    const auto server = operation.at("aggregator_id").get<unsigned>();
    const Bytes nonce = hex(stored.at("nonce")), public_share = hex(stored.at("public_share"));
    const Bytes input_share = hex(stored.at("input_shares").at(server));
    DISCREET_TRY(VerifyStart start, prio_.verify_init({.verify_key = key_,
                                                       .context = context_,
                                                       .server = server,
                                                       .nonce = nonce,
                                                       .public_share = public_share,
                                                       .input_share = input_share}));
    states_.insert_or_assign({operation.at("report_index").get<std::size_t>(), server},
                             std::move(start.state));
    return same(start.verifier_share, stored.at("verifier_shares").at(0).at(server),
                "a verifier share");
  }

  Result<void> to_message(const json& operation) const {
    const json& stored = report(operation);
    const auto round = operation.at("round").get<std::size_t>();
    std::vector<Bytes> shares;
    for (const json& share : stored.at("verifier_shares").at(round)) shares.push_back(hex(share));
    DISCREET_TRY(const Bytes made, prio_.verifier_shares_to_message(context_, shares));
    return same(made, stored.at("verifier_messages").at(round), "the verifier message");
  }

  Result<void> verify_next(const json& operation) {
    const json& stored = report(operation);
    const auto server = operation.at("aggregator_id").get<unsigned>();
    const auto round = operation.at("round").get<std::size_t>();
    const auto index = operation.at("report_index").get<std::size_t>();
    if (round == 0) return invalid_input("no message before the first round");
    const auto state = states_.find({index, server});
    if (state == states_.end()) return invalid_input("verify_next before verify_init");
    DISCREET_TRY(
        FieldVector out,
        prio_.verify_next(state->second, hex(stored.at("verifier_messages").at(round - 1))));
    const json& wanted = stored.at("out_shares").at(server);
    std::string text;  // one string, or one a field element
    if (wanted.is_array())
      for (const json& element : wanted) text += element.get<std::string>();
    else
      text = wanted.get<std::string>();
    DISCREET_TRY_VOID(same(prio_.encode_vector(out), json(text), "an out share"));
    outs_.insert_or_assign({server, index}, std::move(out));
    return {};
  }

  Result<void> aggregate(const json& operation) {
    const auto server = operation.at("aggregator_id").get<unsigned>();
    if (server >= prio_.servers()) return invalid_input("no such server");
    FieldVector& sum = sums_[server];
    for (const auto& [key, out] : outs_)
      if (key.first == server) prio_.aggregate(sum, out);
    return same(prio_.encode_vector(sum), vector_.at("agg_shares").at(server),
                "an aggregate share");
  }

  Result<void> unshard() const {
    std::vector<Bytes> shares;
    for (const json& share : vector_.at("agg_shares")) shares.push_back(hex(share));
    DISCREET_TRY(const std::vector<Wide> result, prio_.unshard(shares));
    const Measurement stored = measurement_of(vector_.at("agg_result"));
    bool equal = stored.size() == result.size();
    for (std::size_t i = 0; equal && i < result.size(); ++i) equal = result[i] == stored[i];
    if (!equal) return invalid_input("the aggregate result differs");
    return {};
  }

  const json& vector_;
  const Prio3& prio_;
  Bytes key_, context_;
  std::map<std::pair<std::size_t, unsigned>, VerifyState> states_;
  std::map<std::pair<unsigned, std::size_t>, FieldVector> outs_;
  std::vector<FieldVector> sums_;
};

/// The vector of the XOF by itself.
void run_xof(const json& vector) {
  const Bytes seed = hex(vector.at("seed")), domain = hex(vector.at("dst"));
  const Bytes binder = hex(vector.at("binder"));
  const Seed derived = Xof(seed, domain, binder).seed();
  if (to_hex(derived) != vector.at("derived_seed").get<std::string>())
    throw Difference{"the derived seed differs"};
  std::vector<Field128> elements(vector.at("length").get<std::size_t>());
  Xof(seed, domain, binder).elements<Field128>(elements);
  Bytes bytes(elements.size() * Field128::kBytes);
  for (std::size_t i = 0; i < elements.size(); ++i) elements[i].store(&bytes[i * Field128::kBytes]);
  if (to_hex(bytes) != vector.at("expanded_vec_field128").get<std::string>())
    throw Difference{"the expanded vector differs"};
}

Conformance run(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream) return {.passed = false, .operations = 0, .reason = "cannot be read"};
  const json vector = json::parse(stream);
  const std::string file_name = file.filename().string();
  if (file_name.starts_with("XofTurboShake128")) {
    run_xof(vector);
    return {.passed = true, .operations = 2, .reason = ""};
  }
  const auto kind = kind_of(file_name);
  if (!kind) return {.passed = false, .operations = 0, .reason = kind.error().message};
  const Circuit circuit{.kind = *kind,
                        .length = number(vector, {"length"}, 1),
                        .max = number(vector, {"max_measurement", "max_weight", "max_value"}, 1),
                        .chunk_length = number(vector, {"chunk_length"}, 0)};
  const auto prio = Prio3::make(circuit, vector.at("shares").get<unsigned>());
  if (!prio) return {.passed = false, .operations = 0, .reason = prio.error().message};
  Runner runner(vector, **prio);
  Conformance result;
  for (const json& operation : vector.at("operations")) {
    runner.run(operation);
    ++result.operations;
  }
  result.passed = result.operations > 0;
  if (!result.passed) result.reason = "the file lists no operations";
  return result;
}

}  // namespace

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
