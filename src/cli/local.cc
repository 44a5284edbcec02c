// `discreet local`: data that is randomised before it leaves the person.
#include <sstream>

#include <fmt/format.h>

#include "base/parse_number.h"
#include "cli/local_options.h"
#include "local/attributes.h"
#include "local/choose.h"

namespace discreet::cli {

void add_collection_options(CLI::App* verb, CollectionOptions& o) {
  verb->add_option(
          "--oracle", o.oracle,
          "grr, sue, oue, the, she, blh, olh, hr, ss, cms, hcms, rappor; duchi, piecewise, "
          "hybrid, laplace for means; auto chooses by variance (randomize also: pem, "
          "treehist, frequent strings nobody listed)")
      ->capture_default_str();
  verb->add_option("--epsilon", o.epsilon, "Privacy loss of one report")->type_name("E");
  verb->add_option("--values", o.values, "How many values there are: 0 to D-1")->type_name("D");
  verb->add_option("--labels", o.labels, "A file with the values' names, one a line");
  verb->add_flag("--open", o.open, "Any text (cms, hcms, rappor); candidates are named later");
  verb->add_option("--range", o.range, "LOW,HIGH: numbers whose mean is wanted");
  verb->add_option("--name", o.name, "The collection's name");
  verb->add_option(
          "--attribute", o.attributes,
          "NAME=D or NAME=LABEL,LABEL,...: an attribute of a record; give several. A person "
          "reports one of them (--oracle sample), all of them (split), or what errs less "
          "(auto), within one epsilon")
      ->allow_extra_args(false);
  verb->add_option("--cells", o.cells, "olh: cells of the hash");
  verb->add_option("--subset", o.subset, "ss: size of the subset");
  verb->add_option("--threshold", o.threshold, "the: where counts are cut");
  verb->add_option("--hashes", o.hashes, "cms, hcms: hash functions; rappor: bits per value");
  verb->add_option("--width", o.width, "cms, hcms, rappor: cells of a row");
  verb->add_option("--cohorts", o.cohorts, "rappor: cohorts");
  verb->add_option("--hash-seed", o.hash_seed, "cms, hcms, rappor: which public hash functions");
  verb->add_option("--permanent-epsilon", o.permanent_epsilon,
                   "rappor: of all reports of one value together");
}

namespace {

Result<void> number(const std::string& text, const char* what, double& to) {
  if (text.empty()) return {};
  DISCREET_TRY(to, parse_number(text, what));
  return {};
}

template <class T>
Result<void> whole(const std::string& text, const char* what, T& to) {
  if (text.empty()) return {};
  DISCREET_TRY(const auto value, parse_integer(text, what));
  if (value < 0 || static_cast<std::uint64_t>(value) > std::numeric_limits<T>::max())
    return invalid_parameter(fmt::format("{} is out of range", what));
  to = static_cast<T>(value);
  return {};
}

Result<local::AttributeQuestion> attribute_of(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    return invalid_parameter(
        "--attribute is NAME=D (how many values) or NAME=LABEL,LABEL,... (their names)");
  local::AttributeQuestion asked;
  asked.name = text.substr(0, equals);
  std::string values = text.substr(equals + 1);
  if (values.find(',') == std::string::npos) {
    DISCREET_TRY_VOID(whole(values, "the number of an attribute's values", asked.values));
    return asked;
  }
  std::istringstream labels(values);
  for (std::string label; std::getline(labels, label, ',');) asked.labels.push_back(label);
  return asked;
}

Result<local::Spec> record_of(const CollectionOptions& o, double epsilon) {
  if (!o.values.empty() || !o.labels.empty() || !o.range.empty() || o.open)
    return invalid_parameter(
        "with --attribute, values are said attribute by attribute (no --values, --labels, --range "
        "or --open)");
  std::vector<local::AttributeQuestion> asked;
  for (const auto& text : o.attributes) {
    DISCREET_TRY(auto attribute, attribute_of(text));
    asked.push_back(std::move(attribute));
  }
  DISCREET_TRY(auto spec, local::record_spec(o.oracle, epsilon, asked));
  spec.name = o.name;
  return spec;
}

}  // namespace

Result<local::Spec> collection_spec(const CollectionOptions& o) {
  local::Spec spec;
  spec.name = o.name;
  if (o.epsilon.empty()) return invalid_parameter("give --epsilon, the privacy loss of one report");
  DISCREET_TRY_VOID(number(o.epsilon, "epsilon", spec.epsilon));
  if (!o.attributes.empty()) return record_of(o, spec.epsilon);
  DISCREET_TRY_VOID(whole(o.values, "values", spec.values));
  DISCREET_TRY_VOID(whole(o.cells, "cells", spec.cells));
  DISCREET_TRY_VOID(whole(o.subset, "subset", spec.subset));
  DISCREET_TRY_VOID(whole(o.hashes, "hashes", spec.hashes));
  DISCREET_TRY_VOID(whole(o.width, "width", spec.width));
  DISCREET_TRY_VOID(whole(o.cohorts, "cohorts", spec.cohorts));
  DISCREET_TRY_VOID(whole(o.hash_seed, "hash-seed", spec.hash_seed));
  DISCREET_TRY_VOID(number(o.threshold, "threshold", spec.threshold));
  DISCREET_TRY_VOID(number(o.permanent_epsilon, "permanent-epsilon", spec.permanent_epsilon));
  if (!o.labels.empty()) {
    DISCREET_TRY(const auto text, read_all(o.labels));
    spec.labels = lines_of(text);
    spec.values = spec.labels.size();
  }
  if (!o.range.empty()) {
    const auto comma = o.range.find(',');
    if (comma == std::string::npos) return invalid_parameter("--range is LOW,HIGH");
    DISCREET_TRY(spec.low, parse_number(o.range.substr(0, comma), "range"));
    DISCREET_TRY(spec.high, parse_number(o.range.substr(comma + 1), "range"));
  }
  const bool mean = !o.range.empty();
  if (o.oracle != "auto") {
    DISCREET_TRY(spec.kind, local::oracle_kind(o.oracle));
    if (!local::is_mean(spec.kind) && spec.values == 0 && !o.open)
      return invalid_parameter(
          "give --values (how many there are), --labels (their names) or --open (any text)");
    return local::complete(spec);
  }
  if (!mean && spec.values == 0 && !o.open)
    return invalid_parameter(
        "give --values (how many there are), --labels (their names), --open (any text), or --range "
        "for a mean");
  if (o.open) {
    spec.kind = local::OracleKind::HadamardSketch;
    return local::complete(spec);
  }
  DISCREET_TRY(auto best, local::choose_oracle(spec.epsilon, spec.values));
  best.labels = spec.labels;
  best.name = spec.name;
  best.low = spec.low;
  best.high = spec.high;
  return local::complete(best);
}

void add_local(CLI::App& app, Action& chosen) {
  CLI::App* verb =
      add_verb(app, "local", "Randomise data before it leaves the person; estimate from reports",
               "  seq 0 3 | discreet local randomize --oracle oue --epsilon 2 --values 4 |\n"
               "    discreet local estimate --json\n"
               "  discreet local simulate --epsilon 1 --attribute drink=tea,coffee,water "
               "--attribute age=9");
  verb->require_subcommand(1);
  add_local_randomize(*verb, chosen);
  add_local_estimate(*verb, chosen);
  add_local_choose(*verb, chosen);
  add_local_simulate(*verb, chosen);
  add_local_compare(*verb, chosen);
  add_local_audit(*verb, chosen);
  add_local_serve(*verb, chosen);
  add_local_export(*verb, chosen);
}

}  // namespace discreet::cli
