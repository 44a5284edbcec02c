#include "curator/certificate.h"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "accounting/event_cost.h"
#include "accounting/loss_event_json.h"
#include "accounting/pld.h"
#include "ledger/sha256.h"

namespace discreet {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kFormat[] = "discreet certificate 1";

std::string digest(const std::string& bytes) {
  return ledger::to_hex(ledger::sha256(bytes));
}

std::string dump(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Result<Json> parse(const std::string& text) {
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object() || json.value("format", "") != kFormat)
    return invalid_input("this is not a certificate of discreet");
  return json;
}

// The same loss in other currencies, each an upper bound; those that have none are left out.
Json other_definitions(const LossEvent& loss) {
  Json all = Json::object();
  const auto neighbours = Neighbours::AddRemove;
  if (const auto basic = basic_cost(loss, neighbours))
    all["approximate_dp"] = {{"epsilon", basic->epsilon.value()}, {"delta", basic->delta.value()}};
  if (const auto concentrated = concentrated_cost(loss, neighbours))
    all["zcdp"] = {{"rho", concentrated->rho.value()}, {"delta", concentrated->delta.value()}};
  const double orders[] = {2, 4, 16, 64};
  if (const auto renyi = renyi_cost(loss, orders, neighbours)) {
    all["renyi"] = {{"delta", renyi->delta}, {"divergences", Json::array()}};
    for (std::size_t i = 0; i < std::size(orders); ++i)
      all["renyi"]["divergences"].push_back(
          {{"order", orders[i]}, {"divergence", renyi->divergences[i]}});
  }
  if (const auto mu2 = gaussian_cost(loss, neighbours)) all["gaussian_dp"] = {{"mu_squared", *mu2}};
  if (const auto law = PrivacyLossDistribution::make(loss, neighbours)) {
    Json tight = Json::array();
    for (const double delta : {1e-6, 1e-9})
      if (const auto epsilon = law->epsilon(delta); epsilon && std::isfinite(epsilon->upper))
        tight.push_back({{"delta", delta}, {"epsilon", epsilon->upper}});
    if (!tight.empty()) all["tight"] = std::move(tight);
  }
  return all;
}

Result<LossEvent> loss_of(const Json& core) {
  const auto object = nlohmann::json::parse(core.value("loss", Json()).dump(), nullptr, false);
  return loss_event_from_json(object);
}

}  // namespace

std::string CertificateCore::to_json() const {
  Json json;
  json["format"] = kFormat;
  json["statement"] = statement;
  json["statement_sha256"] = digest(statement);
  json["question"] = question;
  json["account"] = account;
  json["snapshot"] = snapshot;
  json["plan"] = plan;
  json["columns"] = Json::array();
  for (const auto& column : columns)
    json["columns"].push_back(
        {{"name", column.name},
         {"type", column.type},
         {"mechanism", column.mechanism.empty() ? Json(nullptr) : Json(column.mechanism)},
         {"error95", column.error95 ? Json(*column.error95) : Json(nullptr)}});
  json["charge"] = charge;
  json["cost"] = {{"epsilon", price.epsilon.value()}, {"delta", price.delta.value()}};
  if (price.concentrated) {
    json["cost"]["rho"] = price.concentrated->rho.value();
    json["cost"]["rho_delta"] = price.concentrated->delta.value();
  }
  if (charge != 0) json["loss"] = Json::parse(discreet::to_json(loss).dump());
  return dump(json);
}

Result<std::string> complete_certificate(const std::string& core, ledger::Ledger& ledger) {
  DISCREET_TRY(Json json, parse(core));
  json["core_sha256"] = digest(core);
  const std::uint64_t charge = json.value("charge", std::uint64_t{0});
  if (charge == 0) return dump(json, 2);
  DISCREET_TRY(const LossEvent loss, loss_of(json));
  json["definitions"] = other_definitions(loss);
  DISCREET_TRY(const auto record, ledger.record(charge));
  if (!record.release) return invalid_input("the answer to this charge is not on record");
  json["ledger"] = {{"charge", record.charge.sequence},
                    {"charge_sha256", ledger::to_hex(record.charge.hash)},
                    {"charged_at_us", record.charge.at.time_since_epoch().count()},
                    {"release", record.release->sequence},
                    {"release_sha256", ledger::to_hex(record.release->hash)},
                    {"answer_sha256", digest(record.answer)}};
  return dump(json, 2);
}

Result<std::string> verify_certificate(const std::string& certificate, ledger::Ledger& ledger) {
  DISCREET_TRY(const Json json, parse(certificate));
  const std::uint64_t charge = json.value("charge", std::uint64_t{0});
  if (charge == 0 && (json.contains("loss") || json.contains("ledger") ||
                      json.value("cost", Json::object()).value("epsilon", -1.0) != 0))
    return invalid_input("the certificate names a cost and no charge");
  if (charge == 0)
    return std::string(
        "the certificate says that nothing was charged: a question about public data");
  DISCREET_TRY(const auto chain, ledger.verify());
  DISCREET_TRY(const auto record, ledger.record(charge));
  const auto differs = [&](const std::string& what) {
    return invalid_input(
        fmt::format("the certificate does not match charge {} of this ledger: {}", charge, what));
  };
  if (!record.release) return differs("no answer to it was released");
  const Json place = json.value("ledger", Json::object());
  if (place.value("charge_sha256", "") != ledger::to_hex(record.charge.hash))
    return differs("the charge has another hash");
  if (place.value("release_sha256", "") != ledger::to_hex(record.release->hash))
    return differs("the release has another hash");
  if (place.value("answer_sha256", "") != digest(record.answer))
    return differs("the recorded answer is another one");

  DISCREET_TRY(const auto body, ledger::decode_body(record.charge.kind, record.charge.body));
  const auto& charged = std::get<ledger::ChargeEvent>(body);
  if (json.value("question", "") != charged.question)
    return differs("another question was charged");
  if (json.value("statement", "") != charged.purpose ||
      json.value("statement_sha256", "") != digest(charged.purpose))
    return differs("another statement was charged");
  DISCREET_TRY(const LossEvent loss, loss_of(json));
  if (!same_event(loss, charged.loss)) return differs("another loss was charged");
  const Json cost = json.value("cost", Json::object());
  if (cost.value("epsilon", -1.0) != charged.price.epsilon.value() ||
      cost.value("delta", -1.0) != charged.price.delta.value())
    return differs("another price was paid");

  // The core was recorded with the answer; what is in this file beside hashes must be that.
  DISCREET_TRY(const Answer answer, Answer::from_bytes(record.answer));
  if (json.value("core_sha256", "") != digest(answer.certificate))
    return differs("the answer was recorded with another certificate");
  DISCREET_TRY(const Json core, parse(answer.certificate));
  for (const auto& [name, value] : core.items())
    if (!json.contains(name) || json[name] != value)
      return differs(fmt::format("'{}' is not as it was recorded", name));
  return fmt::format(
      "charge {} and release {} are in the chain of {} events; statement, loss, price and answer "
      "are those on record",
      charge, record.release->sequence, chain.events);
}

}  // namespace discreet
