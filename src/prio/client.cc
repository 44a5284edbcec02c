#include "prio/client.h"

#include <cstring>

#include "prio/helper.h"

namespace discreet::prio {
namespace {

Bytes random_bytes(std::size_t size, RandomSource& random) {
  std::vector<std::uint64_t> words((size + 7) / 8);
  random.fill(words);
  Bytes bytes(size);
  std::memcpy(bytes.data(), words.data(), size);
  return bytes;
}

}  // namespace

Result<ReportMaker> ReportMaker::make(Task task, RandomSource& random) {
  ReportMaker maker(std::move(task), random);
  maker.configuration_ = maker.task_.to_json();
  maker.context_ = vdaf_context(maker.task_.id);
  DISCREET_TRY(maker.prio_, Prio3::make(maker.task_.circuit, 2));
  return maker;
}

Result<UploadedReport> ReportMaker::report(std::span<const std::uint64_t> measurement,
                                           std::uint64_t time) {
  UploadedReport report;
  const Bytes id = random_bytes(report.metadata.id.size(), *random_);
  std::copy(id.begin(), id.end(), report.metadata.id.begin());
  report.metadata.time = task_.rounded(time);
  DISCREET_TRY(
      const Report shares,
      prio_->shard(context_, measurement, id, random_bytes(prio_->randomness_bytes(), *random_)));
  report.public_share = shares.public_share;
  const Bytes aad =
      input_share_aad(task_.id, as_bytes(configuration_), report.metadata, report.public_share);
  const auto seal = [&](const HpkeConfig& key, Role role,
                        const Bytes& share) -> Result<HpkeCiphertext> {
    DISCREET_TRY(Sealed sealed, hpke_seal(key.public_key, input_share_info(role), aad,
                                          encode_input_share(share), *random_));
    return HpkeCiphertext{key.id, std::move(sealed)};
  };
  DISCREET_TRY(report.leader, seal(task_.leader_key, Role::Leader, shares.input_shares[0]));
  DISCREET_TRY(report.helper, seal(task_.helper_key, Role::Helper, shares.input_shares[1]));
  return report;
}

Result<Collected> open_collection(const Task& task, const TaskSecrets& collector,
                                  const Interval& asked, ByteSpan bytes) {
  DISCREET_TRY(const CollectionResponse response, decode_collection_response(bytes));
  if (!(response.batch == asked)) return invalid_input("the leader answered for another batch");
  DISCREET_TRY(const auto prio, Prio3::make(task.circuit, 2));
  const std::string configuration = task.to_json();
  const Bytes aad =
      aggregate_share_aad(task.id, as_bytes(configuration), asked, response.report_count);
  std::vector<Bytes> shares;
  for (const auto& [role, ciphertext] :
       {std::pair{Role::Leader, &response.leader}, std::pair{Role::Helper, &response.helper}}) {
    DISCREET_TRY(Bytes share,
                 hpke_open(collector.key, aggregate_share_info(role), aad, ciphertext->sealed));
    shares.push_back(std::move(share));
  }
  DISCREET_TRY(const std::vector<Wide> totals, prio->unshard(shares));
  Collected out{asked, response.report_count, {}};
  for (const Wide total : totals) out.totals.push_back(centred(total, prio->modulus()));
  return out;
}

}  // namespace discreet::prio
