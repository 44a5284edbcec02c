// An answer as it leaves: rows, their errors, what was paid. Serialised for the ledger, so that a
// repeated question gets the same bytes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "curator/groups.h"
#include "privacy/parameters.h"

namespace discreet {

struct AnswerColumn {
  std::string name;
  std::string type;  ///< as PostgreSQL calls it
};

struct AnswerCost {
  double epsilon = 0;
  double delta = 0;
  double rho = 0;  ///< zCDP bound of the same releases; infinite where they have none

  std::string rho_text() const;  ///< "rho 0.5", or that there is no such bound
};

struct Answer {
  std::vector<AnswerColumn> columns;
  /// One text per cell, as it is printed; nothing for NULL.
  std::vector<std::vector<std::optional<std::string>>> rows;
  /// Half the width of a 95 % interval, one per cell of `rows`; nothing for keys, public columns
  /// and where it is not known (docs/sql.md, "Errors"). Of the noise: what clipping took away is
  /// not in it.
  std::vector<std::vector<std::optional<double>>> errors;
  /// The same by column: the median over rows.
  std::vector<std::optional<double>> error95;
  /// By column: computed from released values, so that it gets an error column.
  std::vector<bool> noisy;
  std::vector<std::string> notices;
  AnswerCost cost;
  bool repeated = false;     ///< from the record, free
  std::uint64_t charge = 0;  ///< the ledger's number of what was paid; 0: nothing. Not in to_bytes
  /// Samples of its noise that were drawn ahead (random/pooled_random.h). Not in to_bytes.
  std::uint64_t noise_ahead = 0;
  /// The core of its certificate, as JSON (certificate.h); Curator::certificate completes it.
  std::string certificate;

  /// With a column `<name>_error95` behind every noisy one: `SET discreet.errors = on`.
  Answer with_error_columns() const;

  std::string to_bytes() const;
  static Result<Answer> from_bytes(const std::string& bytes);
};

}  // namespace discreet
