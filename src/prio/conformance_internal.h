// What the runners of different algorithms' vectors share.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "prio/bytes.h"

namespace discreet::prio {

/// Thrown inside the runners only: a vector is a script, and the first difference ends it.
struct Difference {
  std::string reason;
};

Bytes vector_hex(const nlohmann::json& value);
/// One string, or one a field element.
std::string joined_hex(const nlohmann::json& value);
Result<void> same_hex(ByteSpan made, const nlohmann::json& stored, const char* what);

/// Runs `operations` one by one against what a vector stores.
class VectorScript {
 public:
  explicit VectorScript(const nlohmann::json& vector);
  virtual ~VectorScript() = default;
  VectorScript(const VectorScript&) = delete;
  VectorScript& operator=(const VectorScript&) = delete;

  /// Throws Difference.
  void run(const nlohmann::json& operation);

 protected:
  const nlohmann::json& report(std::size_t index) const;
  Result<void> same_report(const Bytes& public_share, const std::vector<Bytes>& input_shares,
                           const nlohmann::json& stored) const;
  /// The verifier shares of a report's round, one a server.
  std::vector<Bytes> verifier_shares(std::size_t index, std::size_t round) const;

  const nlohmann::json& vector_;
  Bytes key_, context_;

 private:
  virtual Result<void> shard(std::size_t index) = 0;
  virtual Result<void> verify_init(std::size_t index, unsigned server) = 0;
  virtual Result<void> to_message(std::size_t index, std::size_t round) = 0;
  /// `round` is at least 1.
  virtual Result<void> verify_next(std::size_t index, unsigned server, std::size_t round) = 0;
  virtual Result<void> aggregate(unsigned server) = 0;
  virtual Result<void> unshard() = 0;
};

/// By the file's name. InvalidInput: no such algorithm; or parameters it does not take.
Result<std::unique_ptr<VectorScript>> prio3_script(const std::string& file,
                                                   const nlohmann::json& vector);
Result<std::unique_ptr<VectorScript>> poplar1_script(const nlohmann::json& vector);

/// The parts by themselves; these throw Difference.
void run_xof_vector(const std::string& file, const nlohmann::json& vector);
void run_idpf_vector(const nlohmann::json& vector);

}  // namespace discreet::prio
