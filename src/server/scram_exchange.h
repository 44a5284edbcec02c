// The server's side of SCRAM-SHA-256 and SCRAM-SHA-256-PLUS (RFC 5802, 7677), as PostgreSQL's
// clients speak it.
//
// Guarantee: succeeds only for a client that knows the password behind the verifier and, with -PLUS
//            (tls-server-end-point, RFC 5929), talks to this very certificate. Comparisons are in
//            constant time; a credential that is not real goes through the same steps and fails at
//            the end.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace discreet::server {

class ScramExchange {
 public:
  /// `binding`: the certificate's hash; empty without TLS. `nonce` is fresh, printable, no comma.
  ScramExchange(std::string verifier, bool real, std::string binding, std::string nonce);

  /// The server's first message. PermissionDenied: not SCRAM, or a channel binding that does not
  /// fit.
  Result<std::string> first(std::string_view mechanism, std::string_view client_first);
  /// The server's last message ("v=..."). PermissionDenied: the proof is wrong.
  Result<std::string> last(std::string_view client_final);

 private:
  std::string verifier_, binding_, nonce_;
  bool real_;
  std::string client_first_bare_, server_first_, header_;
  bool bound_ = false;
};

/// Random printable text for a nonce.
std::string make_nonce();

}  // namespace discreet::server
