// What an answer can prove about itself: which statement, by which mechanisms, at what loss,
// charged where.
//
// The core is made with the answer and recorded with it, so the ledger's release digest seals it.
// What is handed out adds the places in the ledger's chain and the cost under other definitions.
// Guarantee: verify_certificate() succeeds only if the ledger's whole chain holds and its charge,
//            its release and the recorded answer say what the certificate says.
// Format:    docs/formats/certificate.md
#pragma once

#include <string>

#include "curator/answer.h"
#include "ledger/ledger.h"

namespace discreet {

struct CertifiedColumn {
  std::string name;
  std::string type;
  std::string mechanism;          ///< empty: as it is
  std::optional<double> error95;  ///< as told with the answer
};

struct CertificateCore {
  std::string statement;  ///< as asked
  std::string question;   ///< the ledger's key of the question
  std::string account;    ///< who asked first
  std::string plan;       ///< the drawn plan
  std::string snapshot;   ///< of the data
  std::vector<CertifiedColumn> columns;
  std::uint64_t charge = 0;  ///< 0: public, nothing was charged
  LossEvent loss;
  ledger::Price price;

  /// One JSON object on one line.
  std::string to_json() const;
};

/// The core of an answer, completed from the ledger: hashes of charge and release, digest of the
/// answer, costs in every definition. NotFound: the charge is not in this ledger.
Result<std::string> complete_certificate(const std::string& core, ledger::Ledger& ledger);

/// What was checked, in a sentence. InvalidInput: not a certificate, or not of this ledger; the
/// message names the first thing that differs.
Result<std::string> verify_certificate(const std::string& certificate, ledger::Ledger& ledger);

}  // namespace discreet
