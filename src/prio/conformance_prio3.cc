#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "prio/conformance_internal.h"
#include "prio/prio3.h"

namespace discreet::prio {
namespace {

using nlohmann::json;

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

class Prio3Script final : public VectorScript {
 public:
  Prio3Script(const json& vector, std::unique_ptr<const Prio3> prio)
      : VectorScript(vector), prio_(std::move(prio)) {
    sums_.assign(prio_->servers(), prio_->aggregate_init());
  }

 private:
  Result<void> shard(std::size_t index) override {
    const json& stored = report(index);
    DISCREET_TRY(const Report made,
                 prio_->shard(context_, measurement_of(stored.at("measurement")),
                              vector_hex(stored.at("nonce")), vector_hex(stored.at("rand"))));
    return same_report(made.public_share, made.input_shares, stored);
  }

  Result<void> verify_init(std::size_t index, unsigned server) override {
    const json& stored = report(index);
    const Bytes nonce = vector_hex(stored.at("nonce"));
    const Bytes public_share = vector_hex(stored.at("public_share"));
    const Bytes input_share = vector_hex(stored.at("input_shares").at(server));
    DISCREET_TRY(VerifyStart start, prio_->verify_init({.verify_key = key_,
                                                        .context = context_,
                                                        .server = server,
                                                        .nonce = nonce,
                                                        .public_share = public_share,
                                                        .input_share = input_share}));
    states_.insert_or_assign({index, server}, std::move(start.state));
    return same_hex(start.verifier_share, stored.at("verifier_shares").at(0).at(server),
                    "a verifier share");
  }

  Result<void> to_message(std::size_t index, std::size_t round) override {
    DISCREET_TRY(const Bytes made,
                 prio_->verifier_shares_to_message(context_, verifier_shares(index, round)));
    return same_hex(made, report(index).at("verifier_messages").at(round), "the verifier message");
  }

  Result<void> verify_next(std::size_t index, unsigned server, std::size_t round) override {
    const json& stored = report(index);
    const auto state = states_.find({index, server});
    if (state == states_.end()) return invalid_input("verify_next before verify_init");
    DISCREET_TRY(FieldVector out,
                 prio_->verify_next(state->second,
                                    vector_hex(stored.at("verifier_messages").at(round - 1))));
    DISCREET_TRY_VOID(
        same_hex(prio_->encode_vector(out), stored.at("out_shares").at(server), "an out share"));
    outs_.insert_or_assign({server, index}, std::move(out));
    return {};
  }

  Result<void> aggregate(unsigned server) override {
    if (server >= prio_->servers()) return invalid_input("no such server");
    FieldVector& sum = sums_[server];
    for (const auto& [key, out] : outs_)
      if (key.first == server) prio_->aggregate(sum, out);
    return same_hex(prio_->encode_vector(sum), vector_.at("agg_shares").at(server),
                    "an aggregate share");
  }

  Result<void> unshard() override {
    std::vector<Bytes> shares;
    for (const json& share : vector_.at("agg_shares")) shares.push_back(vector_hex(share));
    DISCREET_TRY(const std::vector<Wide> result, prio_->unshard(shares));
    const Measurement stored = measurement_of(vector_.at("agg_result"));
    bool equal = stored.size() == result.size();
    for (std::size_t i = 0; equal && i < result.size(); ++i) equal = result[i] == stored[i];
    if (!equal) return invalid_input("the aggregate result differs");
    return {};
  }

  std::unique_ptr<const Prio3> prio_;
  std::map<std::pair<std::size_t, unsigned>, VerifyState> states_;
  std::map<std::pair<unsigned, std::size_t>, FieldVector> outs_;
  std::vector<FieldVector> sums_;
};

}  // namespace

Result<std::unique_ptr<VectorScript>> prio3_script(const std::string& file, const json& vector) {
  DISCREET_TRY(const CircuitKind kind, kind_of(file));
  const Circuit circuit{.kind = kind,
                        .length = number(vector, {"length"}, 1),
                        .max = number(vector, {"max_measurement", "max_weight", "max_value"}, 1),
                        .chunk_length = number(vector, {"chunk_length"}, 0)};
  DISCREET_TRY(auto prio, Prio3::make(circuit, vector.at("shares").get<unsigned>()));
  return std::unique_ptr<VectorScript>(std::make_unique<Prio3Script>(vector, std::move(prio)));
}

}  // namespace discreet::prio
