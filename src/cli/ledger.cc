// `discreet ledger verify | export | report`: prove the record, take it away, read it.
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/policy_option.h"
#include "cli/text_table.h"
#include "curator/accounts.h"
#include "curator/certificate.h"
#include "ledger/report.h"

namespace discreet::cli {
namespace {

using nlohmann::ordered_json;

struct LedgerArguments {
  std::string policy;
  std::string head;
  std::string out;
  std::string certificate;
  std::string format = "table";
  bool json = false;
};

/// Opens without writing: looking at a record must not change it.
Result<ledger::Ledger> open_to_read(const LedgerArguments& arguments, const Clock& clock) {
  DISCREET_TRY(const auto policy, load_policy(arguments.policy));
  return open_ledger(policy, clock, {.read_only = true});
}

int check_certificate(const LedgerArguments& arguments);

int verify(const LedgerArguments& arguments) {
  if (!arguments.certificate.empty()) return check_certificate(arguments);
  const SystemClock clock;
  auto opened = open_to_read(arguments, clock);
  if (!opened) return fail(opened.error());
  const auto found = opened->verify(arguments.head);
  if (arguments.json) {
    ordered_json result{{"verified", found.has_value()}};
    if (found) {
      result["events"] = found->events;
      result["charges"] = found->charges;
      result["releases"] = found->releases;
      result["head"] = ledger::to_hex(found->head);
    } else {
      result["broken"] = found.error().message;
    }
    std::puts(result.dump().c_str());
    return found ? kOk : kFailed;
  }
  if (!found) {
    std::fprintf(stderr, "discreet: %s\n", found.error().message.c_str());
    return kFailed;
  }
  fmt::print(
      "{} events: the chain holds, {} charges fit their budgets, {} answers match\nhead {}\n",
      found->events, found->charges, found->releases, ledger::to_hex(found->head));
  return kOk;
}

int check_certificate(const LedgerArguments& arguments) {
  const SystemClock clock;
  auto opened = open_to_read(arguments, clock);
  if (!opened) return fail(opened.error());
  std::ifstream file(arguments.certificate, std::ios::binary);
  if (!file)
    return fail({ErrorCode::NotFound, fmt::format("cannot read {}", arguments.certificate)});
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto found = verify_certificate(text, *opened);
  if (arguments.json) {
    ordered_json result{{"verified", found.has_value()}};
    result[found ? "checked" : "broken"] = found ? *found : found.error().message;
    std::puts(result.dump().c_str());
    return found ? kOk : kFailed;
  }
  if (!found) {
    std::fprintf(stderr, "discreet: %s\n", found.error().message.c_str());
    return kFailed;
  }
  fmt::print("{}\n", *found);
  return kOk;
}

int export_to(const LedgerArguments& arguments) {
  const SystemClock clock;
  auto opened = open_to_read(arguments, clock);
  if (!opened) return fail(opened.error());
  const auto done =
      ledger::export_events(*opened, [](const std::string& line) { std::puts(line.c_str()); });
  return done ? kOk : fail(done.error());
}

void print_report_table(const ordered_json& report) {
  std::vector<std::vector<std::string>> rows;
  for (const ordered_json& release : report["releases"]) {
    const ordered_json& cost = release["cost"];
    std::string purpose = release["purpose"].get<std::string>();
    for (char& c : purpose)
      if (static_cast<unsigned char>(c) < 0x20) c = ' ';
    if (purpose.size() > 60) purpose = purpose.substr(0, 57) + "...";
    rows.push_back({std::to_string(release["charge"].get<std::uint64_t>()),
                    release["at"].get<std::string>().substr(0, 19),
                    release["account"].get<std::string>(),
                    fmt::format("{:.4g}", cost["epsilon"].get<double>()),
                    fmt::format("{:.4g}", cost["delta"].get<double>()),
                    cost.contains("rho") ? fmt::format("{:.4g}", cost["rho"].get<double>()) : "-",
                    release["answered"].is_null() ? "no" : "yes",
                    std::to_string(release["repeats"].size()), purpose});
  }
  std::fputs(text_table({{"charge", true},
                         {"at (UTC)"},
                         {"to"},
                         {"epsilon", true},
                         {"delta", true},
                         {"rho", true},
                         {"answered"},
                         {"repeats", true},
                         {"what"}},
                        rows)
                 .c_str(),
             stdout);
}

int report(const LedgerArguments& arguments) {
  const SystemClock clock;
  auto opened = open_to_read(arguments, clock);
  if (!opened) return fail(opened.error());
  const bool html = arguments.format == "html", markdown = arguments.format == "markdown";
  const auto text = html       ? ledger::report_html(*opened)
                    : markdown ? ledger::report_markdown(*opened)
                               : ledger::report_json(*opened);
  if (!text) return fail(text.error());
  if (!arguments.out.empty()) {
    std::ofstream file(arguments.out, std::ios::binary);
    file << *text << '\n';
    if (!file.flush())
      return fail({ErrorCode::Unavailable, fmt::format("cannot write {}", arguments.out)});
  } else if (html || markdown || arguments.json || arguments.format == "json") {
    std::puts(text->c_str());
  } else {
    print_report_table(ordered_json::parse(*text));
  }
  return kOk;
}

}  // namespace

void add_ledger(CLI::App& app, Action& chosen) {
  CLI::App* verb =
      add_verb(app, "ledger", "Verify, export or read the record of all charges",
               "  discreet ledger verify --policy discreet.toml\n"
               "  discreet ledger report --policy discreet.toml --format html --out report.html");
  verb->require_subcommand(1);
  auto arguments = std::make_shared<LedgerArguments>();
  const auto add = [&](const char* name, const char* summary, const char* example,
                       int (*work)(const LedgerArguments&)) {
    CLI::App* part = add_verb(*verb, name, summary, example);
    add_policy_option(part, arguments->policy);
    part->callback(
        [&chosen, arguments, work] { chosen = [arguments, work] { return work(*arguments); }; });
    return part;
  };
  CLI::App* verify_part =
      add("verify", "Prove the chain, the sums and the answers",
          "  discreet ledger verify --policy discreet.toml\n\n"
          "Exit 0 and the number of events, or 1 and the first broken one. Keep the head hash\n"
          "somewhere else; --head HASH then shows that nothing was cut off.",
          verify);
  verify_part->add_option("--head", arguments->head,
                          "A head hash seen earlier, which must be in the chain");
  verify_part
      ->add_option("--certificate", arguments->certificate,
                   "Also that this certificate (of `query --certificate`) is of this ledger")
      ->type_name("FILE");
  verify_part->add_flag("--json", arguments->json, "One JSON object");
  CLI::App* export_part =
      add("export", "All events as JSON, one a line",
          "  discreet ledger export --policy discreet.toml > ledger.ndjson", export_to);
  export_part->add_flag("--json", arguments->json, "Always so");
  CLI::App* report_part = add(
      "report", "What was released, to whom, at what cost",
      "  discreet ledger report --policy discreet.toml --format html --out report.html", report);
  report_part->add_option("--format", arguments->format, "table, json, html or markdown")
      ->check(CLI::IsMember({"table", "json", "html", "markdown"}))
      ->capture_default_str();
  report_part->add_option("--out", arguments->out, "A file to write (JSON, or as --format says)");
  report_part->add_flag("--json", arguments->json, "The same as --format json");
}

}  // namespace discreet::cli
