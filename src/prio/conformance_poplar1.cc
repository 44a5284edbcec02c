#include <map>

#include <nlohmann/json.hpp>

#include "prio/conformance_internal.h"
#include "prio/field128.h"
#include "prio/poplar1.h"

namespace discreet::prio {
namespace {

using nlohmann::json;

BitString string_of(const json& value) {
  BitString out;
  for (const json& bit : value) out.push_back(bit.get<bool>());
  return out;
}

/// Vectors write field elements as decimal numbers of any length.
template <class F>
F element_of(const json& value) {
  F out;
  for (const char digit : value.get<std::string>()) {
    if (digit < '0' || digit > '9') throw Difference{"a field element is a decimal number"};
    out = out * F(std::uint64_t{10}) + F(static_cast<std::uint64_t>(digit - '0'));
  }
  return out;
}
template <class F>
IdpfValue<F> value_of(const json& pair) {
  if (pair.size() != 2) throw Difference{"values are pairs"};
  return {element_of<F>(pair.at(0)), element_of<F>(pair.at(1))};
}

class Poplar1Script final : public VectorScript {
 public:
  Poplar1Script(const json& vector, const Poplar1& poplar, PrefixQuery query)
      : VectorScript(vector), poplar_(poplar), query_(std::move(query)) {}

 private:
  Result<void> shard(std::size_t index) override {
    const json& stored = report(index);
    DISCREET_TRY(const Report made,
                 poplar_.shard(context_, string_of(stored.at("measurement")),
                               vector_hex(stored.at("nonce")), vector_hex(stored.at("rand"))));
    return same_report(made.public_share, made.input_shares, stored);
  }

  Result<void> verify_init(std::size_t index, unsigned server) override {
    const json& stored = report(index);
    const Bytes nonce = vector_hex(stored.at("nonce"));
    const Bytes public_share = vector_hex(stored.at("public_share"));
    const Bytes input_share = vector_hex(stored.at("input_shares").at(server));
    DISCREET_TRY(PrefixVerifyStart start, poplar_.verify_init({.verify_key = key_,
                                                               .context = context_,
                                                               .server = server,
                                                               .nonce = nonce,
                                                               .public_share = public_share,
                                                               .input_share = input_share},
                                                              query_));
    states_.insert_or_assign({index, server}, std::move(start.state));
    return same_hex(start.verifier_share, stored.at("verifier_shares").at(0).at(server),
                    "a verifier share");
  }

  Result<void> to_message(std::size_t index, std::size_t round) override {
    DISCREET_TRY(const Bytes made,
                 poplar_.verifier_shares_to_message(query_, verifier_shares(index, round)));
    return same_hex(made, report(index).at("verifier_messages").at(round), "the verifier message");
  }

  Result<void> verify_next(std::size_t index, unsigned server, std::size_t round) override {
    const json& stored = report(index);
    const auto state = states_.find({index, server});
    if (state == states_.end()) return invalid_input("verify_next before verify_init");
    const Bytes message = vector_hex(stored.at("verifier_messages").at(round - 1));
    if (round == 1) {
      DISCREET_TRY(const Bytes share, poplar_.verify_next(state->second, message));
      return same_hex(share, stored.at("verifier_shares").at(1).at(server), "a verifier share");
    }
    DISCREET_TRY(FieldVector out, poplar_.verify_finish(state->second, message));
    DISCREET_TRY_VOID(
        same_hex(Poplar1::encode_vector(out), stored.at("out_shares").at(server), "an out share"));
    outs_.insert_or_assign({server, index}, std::move(out));
    return {};
  }

  Result<void> aggregate(unsigned server) override {
    FieldVector sum = poplar_.aggregate_init(query_);
    for (const auto& [key, out] : outs_)
      if (key.first == server) poplar_.aggregate(query_, sum, out);
    return same_hex(Poplar1::encode_vector(sum), vector_.at("agg_shares").at(server),
                    "an aggregate share");
  }

  Result<void> unshard() override {
    std::vector<Bytes> shares;
    for (const json& share : vector_.at("agg_shares")) shares.push_back(vector_hex(share));
    DISCREET_TRY(const auto result, poplar_.unshard(query_, shares));
    if (result != vector_.at("agg_result").get<std::vector<std::int64_t>>())
      return invalid_input("the aggregate result differs");
    return {};
  }

  Poplar1 poplar_;
  PrefixQuery query_;
  std::map<std::pair<std::size_t, unsigned>, PrefixVerifyState> states_;
  std::map<std::pair<unsigned, std::size_t>, FieldVector> outs_;
};

/// The derived seed, and elements of the stream, of either XOF.
template <class MakeStream>
void compare_streams(const json& vector, std::size_t seed_bytes, MakeStream stream) {
  Bytes derived(seed_bytes);
  stream([&](auto& it) { it.fill(derived); });
  if (!same_hex(derived, vector.at("derived_seed"), ""))
    throw Difference{"the derived seed differs"};
  std::vector<Field128> elements(vector.at("length").get<std::size_t>());
  stream([&](auto& it) { it.template elements<Field128>(elements); });
  Bytes bytes(elements.size() * Field128::kBytes);
  for (std::size_t i = 0; i < elements.size(); ++i) elements[i].store(&bytes[i * Field128::kBytes]);
  if (!same_hex(bytes, vector.at("expanded_vec_field128"), ""))
    throw Difference{"the expanded vector differs"};
}

}  // namespace

Result<std::unique_ptr<VectorScript>> poplar1_script(const json& vector) {
  if (vector.at("shares").get<unsigned>() != 2) return invalid_input("Poplar1 is for two servers");
  DISCREET_TRY(const Poplar1 poplar, Poplar1::make(vector.at("bits").get<std::size_t>()));
  DISCREET_TRY(PrefixQuery query, PrefixQuery::decode(vector_hex(vector.at("agg_param"))));
  if (query.level() >= poplar.bits()) return invalid_input("prefixes longer than the strings");
  return std::unique_ptr<VectorScript>(
      std::make_unique<Poplar1Script>(vector, poplar, std::move(query)));
}

void run_xof_vector(const std::string& file, const json& vector) {
  const Bytes seed = vector_hex(vector.at("seed")), domain = vector_hex(vector.at("dst"));
  const Bytes binder = vector_hex(vector.at("binder"));
  if (file.starts_with("XofTurboShake128")) {
    compare_streams(vector, kSeedBytes, [&](auto use) {
      Xof stream(seed, domain, binder);
      use(stream);
    });
  } else if (file.starts_with("XofFixedKeyAes128")) {
    AesBlock block;
    if (seed.size() != block.size()) throw Difference{"a seed has 16 bytes"};
    std::copy(seed.begin(), seed.end(), block.begin());
    FixedKeyAes128 key(domain, binder);
    compare_streams(vector, block.size(), [&](auto use) {
      XofFixedKeyAes128 stream(key, block);
      use(stream);
    });
  } else {
    throw Difference{"no implementation of " + file.substr(0, file.find('.'))};
  }
}

void run_idpf_vector(const json& vector) {
  const BitString path = string_of(vector.at("alpha"));
  if (path.size() != vector.at("bits").get<std::size_t>())
    throw Difference{"alpha has another length"};
  std::vector<IdpfValue<Field64>> inner;
  for (const json& value : vector.at("beta_inner")) inner.push_back(value_of<Field64>(value));
  const Bytes context = vector_hex(vector.at("ctx")), nonce = vector_hex(vector.at("nonce"));
  std::array<AesBlock, 2> keys;
  for (std::size_t i : {0, 1}) {
    const Bytes key = vector_hex(vector.at("keys").at(i));
    if (key.size() != sizeof(AesBlock)) throw Difference{"a key has 16 bytes"};
    std::copy(key.begin(), key.end(), keys[i].begin());
  }
  const auto made = idpf_generate(path, inner, value_of<Field255>(vector.at("beta_leaf")),
                                  {.context = context, .nonce = nonce}, keys);
  if (!made) throw Difference{made.error().message};
  if (!same_hex(made->encode(), vector.at("public_share"), ""))
    throw Difference{"the public share differs"};
}

}  // namespace discreet::prio
