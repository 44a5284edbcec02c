#include "ledger/event.h"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "accounting/loss_event_json.h"

namespace discreet::ledger {
namespace {

using nlohmann::json;

void put_u64(std::string& bytes, std::uint64_t value) {
  for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
}
void put_text(std::string& bytes, std::string_view text) {
  put_u64(bytes, text.size());
  bytes += text;
}

template <class Number>
json limit_json(const std::optional<Number>& limit) {
  return limit ? json(limit->value()) : json("unlimited");
}

struct Encode {
  json operator()(const GrantEvent& grant) const {
    return {{"delta", limit_json(grant.total.delta)},
            {"epsilon", limit_json(grant.total.epsilon)},
            {"filter", name(grant.filter)},
            {"parent", grant.parent},
            {"windows", grant.windows}};
  }
  json operator()(const ChargeEvent& charge) const {
    json body{{"delta", charge.price.delta.value()}, {"epsilon", charge.price.epsilon.value()},
              {"loss", to_json(charge.loss)},        {"purpose", charge.purpose},
              {"question", charge.question},         {"request", charge.request}};
    if (charge.price.concentrated) {
      body["rho"] = charge.price.concentrated->rho.value();
      body["rho_delta"] = charge.price.concentrated->delta.value();
    }
    return body;
  }
  json operator()(const ReleaseEvent& release) const {
    return {{"answer_sha256", to_hex(release.answer)},
            {"bytes", release.bytes},
            {"charge", release.charge}};
  }
  json operator()(const RepeatEvent& repeat) const { return {{"charge", repeat.charge}}; }
};

/// Fields of a body; every one must be there, of its kind, and there may be no others.
class Fields {
 public:
  explicit Fields(const json& object) : object_(object) {}

  Result<std::string> text(const char* key) {
    DISCREET_TRY(const json* field, find(key));
    if (!field->is_string()) return wrong(key, "text");
    return field->get<std::string>();
  }
  Result<std::uint64_t> count(const char* key) {
    DISCREET_TRY(const json* field, find(key));
    if (!field->is_number_unsigned()) return wrong(key, "a count");
    return field->get<std::uint64_t>();
  }
  template <class Number>
  Result<Number> number(const char* key) {
    DISCREET_TRY(const json* field, find(key));
    if (!field->is_number()) return wrong(key, "a number");
    auto made = Number::make(field->get<double>());
    if (!made) return wrong(key, made.error().message.c_str());
    return *made;
  }
  template <class Number>
  Result<std::optional<Number>> limit(const char* key) {
    DISCREET_TRY(const json* field, find(key));
    if (field->is_string() && *field == "unlimited") return std::optional<Number>();
    --used_;
    DISCREET_TRY(const Number made, number<Number>(key));
    return std::optional<Number>(made);
  }
  Result<LossEvent> loss(const char* key) {
    DISCREET_TRY(const json* field, find(key));
    return loss_event_from_json(*field);
  }
  bool has(const char* key) const { return object_.contains(key); }
  Result<void> end() const {
    if (used_ == object_.size()) return {};
    return invalid_input("the event has a field its kind does not have");
  }

 private:
  Result<const json*> find(const char* key) {
    const auto found = object_.find(key);
    if (found == object_.end()) return invalid_input(fmt::format("the event has no '{}'", key));
    ++used_;
    return &*found;
  }
  static Error wrong(const char* key, const char* what) {
    return invalid_input(fmt::format("the event's '{}' must be {}", key, what));
  }

  const json& object_;
  std::size_t used_ = 0;
};

Result<EventBody> decode_grant(Fields& fields) {
  GrantEvent grant;
  DISCREET_TRY(grant.parent, fields.text("parent"));
  DISCREET_TRY(const std::string filter, fields.text("filter"));
  if (filter != name(FilterKind::Basic) && filter != name(FilterKind::Best))
    return invalid_input("the event's 'filter' is unknown");
  grant.filter = filter == name(FilterKind::Best) ? FilterKind::Best : FilterKind::Basic;
  DISCREET_TRY(grant.total.epsilon, fields.limit<Epsilon>("epsilon"));
  DISCREET_TRY(grant.total.delta, fields.limit<Delta>("delta"));
  DISCREET_TRY(grant.windows, fields.count("windows"));
  return EventBody(std::move(grant));
}

Result<EventBody> decode_charge(Fields& fields) {
  DISCREET_TRY(LossEvent loss, fields.loss("loss"));
  DISCREET_TRY(const Epsilon epsilon, fields.number<Epsilon>("epsilon"));
  DISCREET_TRY(const Delta delta, fields.number<Delta>("delta"));
  Price price{epsilon, delta, std::nullopt};
  if (fields.has("rho")) {
    DISCREET_TRY(const Rho rho, fields.number<Rho>("rho"));
    DISCREET_TRY(const Delta rho_delta, fields.number<Delta>("rho_delta"));
    price.concentrated = ConcentratedCost{rho, rho_delta};
  }
  DISCREET_TRY(std::string question, fields.text("question"));
  DISCREET_TRY(std::string request, fields.text("request"));
  DISCREET_TRY(std::string purpose, fields.text("purpose"));
  return EventBody(ChargeEvent{std::move(question), std::move(request), std::move(purpose), price,
                               std::move(loss)});
}

Result<Digest> digest_from_hex(const std::string& text) {
  Digest digest{};
  if (text.size() != 2 * digest.size()) return invalid_input("a digest has 64 hexadecimal digits");
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool digit = c >= '0' && c <= '9', letter = c >= 'a' && c <= 'f';
    if (!digit && !letter) return invalid_input("a digest has 64 hexadecimal digits");
    const auto value = static_cast<std::uint8_t>(digit ? c - '0' : c - 'a' + 10);
    digest[i / 2] = static_cast<std::uint8_t>(digest[i / 2] * 16 + value);
  }
  return digest;
}

Result<EventBody> decode_release(Fields& fields) {
  ReleaseEvent release{};
  DISCREET_TRY(release.charge, fields.count("charge"));
  DISCREET_TRY(release.bytes, fields.count("bytes"));
  DISCREET_TRY(const std::string answer, fields.text("answer_sha256"));
  DISCREET_TRY(release.answer, digest_from_hex(answer));
  return EventBody(release);
}

Result<EventBody> decode_repeat(Fields& fields) {
  DISCREET_TRY(const std::uint64_t charge, fields.count("charge"));
  return EventBody(RepeatEvent{charge});
}

Result<EventBody> decode_fields(const std::string& kind, Fields& fields) {
  if (kind == "grant") return decode_grant(fields);
  if (kind == "charge") return decode_charge(fields);
  if (kind == "release") return decode_release(fields);
  if (kind == "repeat") return decode_repeat(fields);
  return invalid_input("the event is of an unknown kind");
}

}  // namespace

const char* name(FilterKind kind) {
  return kind == FilterKind::Best ? "best" : "basic";
}

Price Price::of(ApproxDp stated, const LossEvent& event, Neighbours neighbours) {
  Price price{stated.epsilon, stated.delta, std::nullopt};
  const auto cost = concentrated_cost(event, neighbours);
  if (cost && std::isfinite(cost->rho.value())) price.concentrated = *cost;
  return price;
}

const char* kind_name(const EventBody& body) {
  static constexpr const char* kNames[] = {"grant", "charge", "release", "repeat"};
  return kNames[body.index()];
}

std::string encode_body(const EventBody& body) {
  return std::visit(Encode{}, body).dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<EventBody> decode_body(const std::string& kind, const std::string& text) {
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object()) return invalid_input("the event's body is not a JSON object");
  Fields fields(object);
  DISCREET_TRY(EventBody body, decode_fields(kind, fields));
  DISCREET_TRY_VOID(fields.end());
  return body;
}

Digest seal(const StoredEvent& event) {
  std::string bytes = "discreet ledger event 1\n";
  bytes.append(reinterpret_cast<const char*>(event.previous.data()), event.previous.size());
  put_u64(bytes, event.sequence);
  put_u64(bytes, static_cast<std::uint64_t>(event.at.time_since_epoch().count()));
  put_text(bytes, event.kind);
  put_text(bytes, event.account);
  put_text(bytes, event.body);
  return sha256(bytes);
}

Digest genesis() {
  return Digest{};
}

}  // namespace discreet::ledger
