#include "ledger/report.h"

#include <cmath>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "accounting/conversion.h"
#include "accounting/loss_event_json.h"
#include "accounting/pld.h"
#include "accounting/renyi_epsilon.h"

namespace discreet::ledger {
namespace {

using nlohmann::ordered_json;

/// More different events than this, and the Renyi and PLD figures are left out: they would take
/// minutes.
constexpr std::size_t kDistinctEventsMax = 64;

ordered_json number(double value) {
  return std::isfinite(value) ? ordered_json(value) : ordered_json("infinite");
}
template <class Number>
ordered_json limit(const std::optional<Number>& value) {
  return value ? ordered_json(value->value()) : ordered_json("unlimited");
}

/// Everything of the report, gathered in one pass over the events.
class Gathering {
 public:
  Result<void> take(const StoredEvent& event) {
    DISCREET_TRY(const EventBody body, decode_body(event.kind, event.body));
    if (const auto* grant = std::get_if<GrantEvent>(&body)) parents_[event.account] = grant->parent;
    if (const auto* charge = std::get_if<ChargeEvent>(&body)) add(event, *charge);
    if (const auto* release = std::get_if<ReleaseEvent>(&body)) {
      ordered_json& entry = entries_.at(release->charge);
      entry["answered"] = to_iso(event.at);
      entry["answer_sha256"] = to_hex(release->answer);
      entry["answer_bytes"] = release->bytes;
    }
    if (const auto* repeat = std::get_if<RepeatEvent>(&body))
      entries_.at(repeat->charge)["repeats"].push_back(
          {{"account", event.account}, {"at", to_iso(event.at)}});
    return {};
  }

  ordered_json releases() const {
    ordered_json all = ordered_json::array();
    for (const auto& [sequence, entry] : entries_) all.push_back(entry);
    return all;
  }

  /// The Renyi epsilon of all charges of an account together; null where it is not known.
  ordered_json renyi(const std::string& account, double delta) const {
    const auto found = events_.find(account);
    if (found == events_.end()) return 0.0;
    if (!(delta > 0 && delta < 1) || found->second.size() > kDistinctEventsMax) return nullptr;
    const auto bound = renyi_epsilon(together(found->second), delta, Neighbours::AddRemove);
    return bound ? number(bound->value) : ordered_json(nullptr);
  }

  /// The tight epsilon of all charges of an account together, by their privacy loss distribution;
  /// null where it is not known (zCDP events) or would take minutes.
  ordered_json pld(const std::string& account, double delta) const {
    const auto found = events_.find(account);
    if (found == events_.end()) return 0.0;
    if (!(delta > 0 && delta < 1) || found->second.size() > kDistinctEventsMax) return nullptr;
    const auto law = PrivacyLossDistribution::make(together(found->second), Neighbours::AddRemove);
    if (!law) return nullptr;
    const auto bracket = law->epsilon(delta);
    return bracket ? number(bracket->upper) : ordered_json(nullptr);
  }

 private:
  using Counted = std::map<std::string, std::pair<LossEvent, std::uint64_t>>;

  static LossEvent together(const Counted& events) {
    loss::Composed all;
    for (const auto& [text, counted] : events)
      all.parts.push_back(
          loss::Repeated{counted.second, std::make_shared<LossEvent>(counted.first)});
    return LossEvent(std::move(all));
  }

  void add(const StoredEvent& event, const ChargeEvent& charge) {
    ordered_json cost{{"epsilon", charge.price.epsilon.value()},
                      {"delta", charge.price.delta.value()}};
    if (charge.price.concentrated) {
      cost["rho"] = charge.price.concentrated->rho.value();
      cost["rho_delta"] = charge.price.concentrated->delta.value();
    }
    entries_[event.sequence] = {{"charge", event.sequence},        {"at", to_iso(event.at)},
                                {"account", event.account},        {"purpose", charge.purpose},
                                {"question", charge.question},     {"cost", std::move(cost)},
                                {"loss", to_json(charge.loss)},    {"answered", nullptr},
                                {"repeats", ordered_json::array()}};
    std::string account = event.account;
    for (int depth = 0; !account.empty() && depth < 32; ++depth, account = parents_[account]) {
      auto& counted = events_[account]
                          .try_emplace(encode_loss_document(charge.loss), charge.loss, 0)
                          .first->second;
      ++counted.second;
    }
  }

  std::map<std::string, std::string> parents_;
  std::map<std::uint64_t, ordered_json> entries_;
  std::map<std::string, Counted> events_;
};

ordered_json account_json(const Balance& balance, const Gathering& all) {
  const Spent& spent = balance.spent;
  const double delta = balance.granted.delta ? balance.granted.delta->value() : 0;
  ordered_json cost{{"epsilon_sum", number(spent.epsilon.value())},
                    {"delta_sum", number(spent.delta.value())},
                    {"rho", number(spent.rho.value())},
                    {"rho_delta", number(spent.rho_delta.value())}};
  if (delta > 0 && std::isfinite(spent.rho.value())) {
    const double rest = sub_down(delta, spent.rho_delta.value());
    cost["epsilon_by_zcdp"] = {
        {"epsilon", number(rest > 0 ? zcdp_epsilon(spent.rho, rest) : HUGE_VAL)}, {"delta", delta}};
  }
  cost["epsilon_by_renyi"] = {{"epsilon", all.renyi(balance.account, delta)}, {"delta", delta}};
  cost["epsilon_by_pld"] = {{"epsilon", all.pld(balance.account, delta)}, {"delta", delta}};
  return {{"account", balance.account},
          {"of", balance.parent.empty() ? ordered_json(nullptr) : ordered_json(balance.parent)},
          {"filter", name(balance.filter)},
          {"granted",
           {{"epsilon", limit(balance.granted.epsilon)}, {"delta", limit(balance.granted.delta)}}},
          {"charges", spent.charges},
          {"cost", std::move(cost)},
          {"left",
           {{"epsilon", limit(balance.left.epsilon)},
            {"delta", limit(balance.left.delta)},
            {"rho", balance.rho_left.value()}}}};
}

Result<ordered_json> gather(Ledger& ledger) {
  DISCREET_TRY(const Verification verified, ledger.verify());
  Gathering all;
  DISCREET_TRY_VOID(ledger.each_event([&](const StoredEvent& event) { return all.take(event); }));
  DISCREET_TRY(const auto balances, ledger.balances());
  ordered_json accounts = ordered_json::array();
  for (const Balance& balance : balances) accounts.push_back(account_json(balance, all));
  return ordered_json{{"format", "discreet ledger report 1"},
                      {"events", verified.events},
                      {"head", to_hex(verified.head)},
                      {"accounts", std::move(accounts)},
                      {"releases", all.releases()}};
}

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

std::string shown(const ordered_json& value) {
  if (value.is_number_float()) return fmt::format("{:.4g}", value.get<double>());
  if (value.is_string()) return escaped(value.get<std::string>());
  if (value.is_null()) return "&ndash;";
  return escaped(value.dump());
}

std::string row(const std::vector<std::string>& cells) {
  std::string text = "<tr>";
  for (const std::string& cell : cells) text += "<td>" + cell + "</td>";
  return text + "</tr>\n";
}

std::string account_rows(const ordered_json& accounts) {
  std::string rows;
  for (const ordered_json& account : accounts) {
    const ordered_json& cost = account["cost"];
    rows += row(
        {shown(account["account"]), shown(account["of"]),
         shown(account["granted"]["epsilon"]) + ", " + shown(account["granted"]["delta"]),
         shown(account["charges"]), shown(cost["epsilon_sum"]) + ", " + shown(cost["delta_sum"]),
         shown(cost["rho"]),
         cost.contains("epsilon_by_zcdp") ? shown(cost["epsilon_by_zcdp"]["epsilon"]) : "&ndash;",
         shown(cost["epsilon_by_renyi"]["epsilon"]), shown(cost["epsilon_by_pld"]["epsilon"]),
         shown(account["left"]["epsilon"])});
  }
  return rows;
}

std::string release_rows(const ordered_json& releases) {
  std::string rows;
  for (const ordered_json& release : releases) {
    const ordered_json& cost = release["cost"];
    rows += row({shown(release["charge"]), shown(release["at"]), shown(release["account"]),
                 "<code>" + shown(release["purpose"]) + "</code>",
                 shown(cost["epsilon"]) + ", " + shown(cost["delta"]),
                 cost.contains("rho") ? shown(cost["rho"]) : "&ndash;",
                 "<code>" + escaped(release["loss"].dump()) + "</code>",
                 release["answered"].is_null() ? "no answer left" : "yes",
                 std::to_string(release["repeats"].size())});
  }
  return rows;
}

}  // namespace

std::string to_iso(Instant at) {
  const auto day = std::chrono::floor<std::chrono::days>(at);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(at - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     clock.subseconds().count());
}

Result<std::string> report_json(Ledger& ledger) {
  DISCREET_TRY(const ordered_json report, gather(ledger));
  return report.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

Result<std::string> report_html(Ledger& ledger) {
  DISCREET_TRY(const ordered_json report, gather(ledger));
  std::string page = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Discreet: what was released</title><style>
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; color: #1a1f2b; }
table { border-collapse: collapse; width: 100%; margin: 1rem 0 2rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .35rem .6rem; border-bottom: 1px solid #d9dee7; vertical-align: top; }
th { border-bottom: 2px solid #1a1f2b; } code { font-size: 13px; overflow-wrap: anywhere; }
@media (prefers-color-scheme: dark) { body { background: #12151c; color: #e6e9ef; } th, td { border-color: #3a4150; } }
</style></head><body>
<h1>What was released</h1>
)";
  page += fmt::format("<p>{} events, verified; head <code>{}</code>.</p>\n",
                      report["events"].get<std::uint64_t>(), report["head"].get<std::string>());
  page +=
      "<h2>Accounts</h2><table><tr><th>account</th><th>of</th><th>granted &epsilon;, "
      "&delta;</th><th>charges</th>"
      "<th>sum of &epsilon;, &delta;</th><th>zCDP &rho;</th><th>&epsilon; by "
      "zCDP</th><th>&epsilon; by R&eacute;nyi</th><th>&epsilon; tight (PLD)</th>"
      "<th>&epsilon; left</th></tr>\n" +
      account_rows(report["accounts"]) + "</table>\n";
  page +=
      "<h2>Releases</h2><table><tr><th>charge</th><th>at</th><th>to</th><th>what</"
      "th><th>&epsilon;, &delta;</th>"
      "<th>&rho;</th><th>loss</th><th>answered</th><th>repeats</th></tr>\n" +
      release_rows(report["releases"]) + "</table>\n</body></html>\n";
  return page;
}

Result<std::string> report_markdown(Ledger& ledger) {
  DISCREET_TRY(const ordered_json report, gather(ledger));
  const auto cell = [](const ordered_json& value) {
    std::string text = value.is_number_float() ? fmt::format("{:.4g}", value.get<double>())
                       : value.is_string()     ? value.get<std::string>()
                       : value.is_null()       ? "-"
                                               : value.dump();
    std::string safe;
    for (const char c : text) {
      if (c == '|' || c == '`' || c == '\\') safe += '\\';
      safe += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return safe;
  };
  std::string page =
      fmt::format("# What was released\n\n{} events, verified; head `{}`.\n\n",
                  report["events"].get<std::uint64_t>(), report["head"].get<std::string>());
  page +=
      "## Accounts\n\n| account | of | granted ε, δ | charges | sum of ε, δ | zCDP ρ | ε by Rényi "
      "| "
      "ε tight (PLD) | ε left |\n|---|---|---|---|---|---|---|---|---|\n";
  for (const ordered_json& account : report["accounts"]) {
    const ordered_json& cost = account["cost"];
    page += fmt::format(
        "| {} | {} | {}, {} | {} | {}, {} | {} | {} | {} | {} |\n", cell(account["account"]),
        cell(account["of"]), cell(account["granted"]["epsilon"]), cell(account["granted"]["delta"]),
        cell(account["charges"]), cell(cost["epsilon_sum"]), cell(cost["delta_sum"]),
        cell(cost["rho"]), cell(cost["epsilon_by_renyi"]["epsilon"]),
        cell(cost["epsilon_by_pld"]["epsilon"]), cell(account["left"]["epsilon"]));
  }
  page +=
      "\n## Releases\n\n| charge | at | to | what | ε, δ | ρ | answered | repeats |\n"
      "|---|---|---|---|---|---|---|---|\n";
  for (const ordered_json& release : report["releases"]) {
    const ordered_json& cost = release["cost"];
    page += fmt::format("| {} | {} | {} | {} | {}, {} | {} | {} | {} |\n", cell(release["charge"]),
                        cell(release["at"]), cell(release["account"]), cell(release["purpose"]),
                        cell(cost["epsilon"]), cell(cost["delta"]),
                        cost.contains("rho") ? cell(cost["rho"]) : "-",
                        release["answered"].is_null() ? "no" : "yes", release["repeats"].size());
  }
  return page;
}

Result<void> export_events(Ledger& ledger, const std::function<void(const std::string&)>& line) {
  return ledger.each_event([&](const StoredEvent& event) -> Result<void> {
    const auto text = [](const std::string& value) {
      return ordered_json(value).dump(-1, ' ', false, ordered_json::error_handler_t::replace);
    };
    // The sealed bytes themselves when they are JSON on one line; else quoted, so that a damaged
    // event can be exported too.
    const bool plain =
        ordered_json::accept(event.body) && event.body.find('\n') == std::string::npos;
    line(fmt::format(
        R"({{"seq":{},"at_us":{},"at":"{}","kind":{},"account":{},"body":{},"previous":"{}","hash":"{}"}})",
        event.sequence, event.at.time_since_epoch().count(), to_iso(event.at), text(event.kind),
        text(event.account), plain ? event.body : text(event.body), to_hex(event.previous),
        to_hex(event.hash)));
    return {};
  });
}

}  // namespace discreet::ledger
