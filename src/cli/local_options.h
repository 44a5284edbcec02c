// Options that the verbs of `discreet local` share.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/verb.h"
#include "local/oracle.h"

namespace discreet::cli {

/// As typed: numbers are parsed strictly by spec().
struct CollectionOptions {
  std::string oracle = "auto", epsilon, values, labels, range, name;
  std::string permanent_epsilon, hashes, width, cohorts, hash_seed, cells, subset, threshold;
  std::vector<std::string> attributes;  ///< NAME=D or NAME=LABEL,LABEL,...
  bool open = false;
};

void add_collection_options(CLI::App* verb, CollectionOptions& options);

/// The collection that the options ask for; `auto` is chosen by variance.
Result<local::Spec> collection_spec(const CollectionOptions& options);

/// The whole of a file, "-" for stdin. NotFound: it cannot be read.
Result<std::string> read_all(const std::string& path);
/// Lines of a text without their ends; the last one may lack its newline.
std::vector<std::string> lines_of(const std::string& text);

// One per file.
void add_local_randomize(CLI::App& app, Action& chosen);
void add_local_estimate(CLI::App& app, Action& chosen);
void add_local_choose(CLI::App& app, Action& chosen);
void add_local_simulate(CLI::App& app, Action& chosen);
void add_local_compare(CLI::App& app, Action& chosen);
void add_local_audit(CLI::App& app, Action& chosen);
void add_local_serve(CLI::App& app, Action& chosen);
void add_local_export(CLI::App& app, Action& chosen);

}  // namespace discreet::cli
