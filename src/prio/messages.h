// What clients, leader, helper and collector send each other, in the shape of DAP
// (draft-ietf-ppm-dap-18): the same fields in the same order, for the time-interval batch mode and
// Prio3's single round.
//
// Guarantee: decode(encode(x)) = x; bytes that no encoder writes are InvalidInput.
// Format:    docs/formats/prio.md
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "prio/hpke.h"

namespace discreet::prio {

using ReportId = std::array<std::uint8_t, 16>;
using TaskId = std::array<std::uint8_t, 32>;
using JobId = std::array<std::uint8_t, 16>;
using Checksum = std::array<std::uint8_t, 32>;

enum class Role : std::uint8_t { Collector = 0, Client = 1, Leader = 2, Helper = 3 };

/// Why a report was not counted (DAP's ReportError).
enum class ReportError : std::uint8_t {
  None = 0,
  BatchCollected = 1,
  ReportReplayed = 2,
  ReportDropped = 3,
  HpkeUnknownConfig = 4,
  HpkeDecryptError = 5,
  VdafVerifyError = 6,
  TaskExpired = 7,
  InvalidMessage = 8,
  ReportTooEarly = 9,
};
const char* name(ReportError error);

struct HpkeConfig {
  std::uint8_t id = 0;
  Bytes public_key;
  friend bool operator==(const HpkeConfig&, const HpkeConfig&) = default;
};
Bytes encode(const HpkeConfig& config);
Result<HpkeConfig> decode_hpke_config(ByteSpan bytes);

struct HpkeCiphertext {
  std::uint8_t config = 0;
  Sealed sealed;
};
Bytes encode(const HpkeCiphertext& ciphertext);
Result<HpkeCiphertext> decode_ciphertext(ByteSpan bytes);

struct ReportMetadata {
  ReportId id{};
  std::uint64_t time = 0;  ///< seconds since 1970, rounded down to the task's precision
  friend bool operator==(const ReportMetadata&, const ReportMetadata&) = default;
};

struct UploadedReport {
  ReportMetadata metadata;
  Bytes public_share;
  HpkeCiphertext leader, helper;
};
/// Any number of reports, one after another.
Bytes encode(const std::vector<UploadedReport>& reports);
Result<std::vector<UploadedReport>> decode_reports(ByteSpan bytes);

/// Reports that were not taken; those that were are not listed.
struct RefusedReport {
  ReportId id{};
  ReportError error = ReportError::None;
};
Bytes encode(const std::vector<RefusedReport>& refused);
Result<std::vector<RefusedReport>> decode_refused(ByteSpan bytes);

/// One report as the leader hands it to the helper.
struct VerifyInit {
  ReportMetadata metadata;
  Bytes public_share;
  HpkeCiphertext helper;
  Bytes payload;  ///< the leader's ping-pong message
};
Bytes encode(const std::vector<VerifyInit>& inits);
Result<std::vector<VerifyInit>> decode_inits(ByteSpan bytes);

struct VerifyResponse {
  ReportId id{};
  ReportError error = ReportError::None;
  Bytes payload;  ///< the helper's ping-pong message when there is no error
};
Bytes encode(const std::vector<VerifyResponse>& responses);
Result<std::vector<VerifyResponse>> decode_responses(ByteSpan bytes);

/// [start, start + duration), in seconds.
struct Interval {
  std::uint64_t start = 0, duration = 0;
  std::uint64_t end() const { return start + duration; }
  friend bool operator==(const Interval&, const Interval&) = default;
};

struct CollectionRequest {
  Interval batch;
};
Bytes encode(const CollectionRequest& request);
Result<CollectionRequest> decode_collection_request(ByteSpan bytes);

struct CollectionResponse {
  Interval batch;
  std::uint64_t report_count = 0;
  HpkeCiphertext leader, helper;
};
Bytes encode(const CollectionResponse& response);
Result<CollectionResponse> decode_collection_response(ByteSpan bytes);

struct AggregateShareRequest {
  Interval batch;
  std::uint64_t report_count = 0;
  Checksum checksum{};
};
Bytes encode(const AggregateShareRequest& request);
Result<AggregateShareRequest> decode_aggregate_share_request(ByteSpan bytes);

/// What a share is sealed with: task, its configuration, and what it belongs to.
Bytes input_share_info(Role server);
Bytes input_share_aad(const TaskId& task, ByteSpan configuration, const ReportMetadata& metadata,
                      ByteSpan public_share);
Bytes aggregate_share_info(Role server);
Bytes aggregate_share_aad(const TaskId& task, ByteSpan configuration, const Interval& batch,
                          std::uint64_t report_count);
/// The application context of the task's VDAF.
Bytes vdaf_context(const TaskId& task);

}  // namespace discreet::prio
