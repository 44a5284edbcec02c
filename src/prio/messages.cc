#include "prio/messages.h"

#include "prio/codec.h"

namespace discreet::prio {
namespace {

constexpr std::string_view kVersion = "dap-18";
constexpr std::uint8_t kTimeInterval = 1;

Error malformed(const char* what) {
  return invalid_input(std::string("not a well-formed ") + what);
}

void write(Writer& out, const HpkeCiphertext& ciphertext) {
  out.integer(ciphertext.config)
      .opaque16(ciphertext.sealed.encapsulated)
      .opaque32(ciphertext.sealed.ciphertext);
}
HpkeCiphertext read_ciphertext(Reader& in) {
  HpkeCiphertext out;
  out.config = in.integer<std::uint8_t>();
  out.sealed.encapsulated = in.bytes16();
  out.sealed.ciphertext = in.bytes32();
  return out;
}

void write(Writer& out, const ReportMetadata& metadata) {
  out.raw(metadata.id).integer(metadata.time).opaque16({});  // no public extensions
}
ReportMetadata read_metadata(Reader& in) {
  ReportMetadata out;
  out.id = in.array<16>();
  out.time = in.integer<std::uint64_t>();
  if (!in.opaque16().empty()) in.fail();  // an extension nobody here understands
  return out;
}

void write(Writer& out, const Interval& interval) {
  out.integer(interval.start).integer(interval.duration);
}
Interval read_interval(Reader& in) {
  Interval out;
  out.start = in.integer<std::uint64_t>();
  out.duration = in.integer<std::uint64_t>();
  if (out.start + out.duration < out.start) in.fail();
  return out;
}

/// Batch mode and its body; the aggregation parameter, which Prio3 does not have, is empty.
void write_selector(Writer& out, const Interval& interval) {
  Writer body;
  write(body, interval);
  out.integer(kTimeInterval).opaque16(body.take()).opaque32({});
}
Interval read_selector(Reader& in) {
  if (in.integer<std::uint8_t>() != kTimeInterval) in.fail();
  Reader body(in.opaque16());
  const Interval out = read_interval(body);
  if (!body.end() || !in.opaque32().empty()) in.fail();
  return out;
}

template <class Item, class Write>
Bytes encode_all(const std::vector<Item>& items, Write write_item) {
  Writer out;
  for (const Item& item : items) write_item(out, item);
  return out.take();
}
template <class Item, class Read>
Result<std::vector<Item>> decode_all(ByteSpan bytes, const char* what, Read read_item) {
  Reader in(bytes);
  std::vector<Item> out;
  while (!in.empty()) out.push_back(read_item(in));
  if (!in.end()) return malformed(what);
  return out;
}

ReportError read_error(Reader& in) {
  const auto code = in.integer<std::uint8_t>();
  if (code > static_cast<std::uint8_t>(ReportError::ReportTooEarly)) in.fail();
  return static_cast<ReportError>(code);
}

Bytes roles_info(std::string_view what, Role from, Role to) {
  Writer out;
  out.raw(as_bytes(kVersion)).raw(as_bytes(what));
  out.integer(static_cast<std::uint8_t>(from)).integer(static_cast<std::uint8_t>(to));
  return out.take();
}

}  // namespace

const char* name(ReportError error) {
  static constexpr const char* kNames[] = {
      "none",           "batch collected", "replayed",     "dropped",   "unknown key",
      "cannot decrypt", "proof refused",   "task expired", "malformed", "too early"};
  return kNames[static_cast<std::size_t>(error)];
}

Bytes encode(const HpkeConfig& config) {
  Writer out;
  out.integer(config.id).integer(kHpkeKem).integer(kHpkeKdf).integer(kHpkeAead);
  out.opaque16(config.public_key);
  return out.take();
}
Result<HpkeConfig> decode_hpke_config(ByteSpan bytes) {
  Reader in(bytes);
  HpkeConfig config;
  config.id = in.integer<std::uint8_t>();
  const bool known = in.integer<std::uint16_t>() == kHpkeKem;
  const bool known_kdf = in.integer<std::uint16_t>() == kHpkeKdf;
  const bool known_aead = in.integer<std::uint16_t>() == kHpkeAead;
  config.public_key = in.bytes16();
  if (!in.end() || !known || !known_kdf || !known_aead || config.public_key.size() != kHpkeKeyBytes)
    return malformed("HPKE configuration of the suite in use");
  return config;
}

Bytes encode(const HpkeCiphertext& ciphertext) {
  Writer out;
  write(out, ciphertext);
  return out.take();
}
Result<HpkeCiphertext> decode_ciphertext(ByteSpan bytes) {
  Reader in(bytes);
  HpkeCiphertext out = read_ciphertext(in);
  if (!in.end()) return malformed("sealed share");
  return out;
}

Bytes encode(const std::vector<UploadedReport>& reports) {
  return encode_all(reports, [](Writer& out, const UploadedReport& report) {
    write(out, report.metadata);
    out.opaque32(report.public_share);
    write(out, report.leader);
    write(out, report.helper);
  });
}
Result<std::vector<UploadedReport>> decode_reports(ByteSpan bytes) {
  return decode_all<UploadedReport>(bytes, "list of reports", [](Reader& in) {
    UploadedReport report;
    report.metadata = read_metadata(in);
    report.public_share = in.bytes32();
    report.leader = read_ciphertext(in);
    report.helper = read_ciphertext(in);
    return report;
  });
}

Bytes encode(const std::vector<RefusedReport>& refused) {
  return encode_all(refused, [](Writer& out, const RefusedReport& report) {
    out.raw(report.id).integer(static_cast<std::uint8_t>(report.error));
  });
}
Result<std::vector<RefusedReport>> decode_refused(ByteSpan bytes) {
  return decode_all<RefusedReport>(bytes, "list of refused reports", [](Reader& in) {
    RefusedReport report;
    report.id = in.array<16>();
    report.error = read_error(in);
    return report;
  });
}

Bytes encode(const std::vector<VerifyInit>& inits) {
  return encode_all(inits, [](Writer& out, const VerifyInit& init) {
    write(out, init.metadata);
    out.opaque32(init.public_share);
    write(out, init.helper);
    out.opaque32(init.payload);
  });
}
Result<std::vector<VerifyInit>> decode_inits(ByteSpan bytes) {
  return decode_all<VerifyInit>(bytes, "aggregation job", [](Reader& in) {
    VerifyInit init;
    init.metadata = read_metadata(in);
    init.public_share = in.bytes32();
    init.helper = read_ciphertext(in);
    init.payload = in.bytes32();
    return init;
  });
}

Bytes encode(const std::vector<VerifyResponse>& responses) {
  return encode_all(responses, [](Writer& out, const VerifyResponse& response) {
    out.raw(response.id).integer(static_cast<std::uint8_t>(response.error));
    if (response.error == ReportError::None) out.opaque32(response.payload);
  });
}
Result<std::vector<VerifyResponse>> decode_responses(ByteSpan bytes) {
  return decode_all<VerifyResponse>(bytes, "answer to an aggregation job", [](Reader& in) {
    VerifyResponse response;
    response.id = in.array<16>();
    response.error = read_error(in);
    if (response.error == ReportError::None) response.payload = in.bytes32();
    return response;
  });
}

Bytes encode(const CollectionRequest& request) {
  Writer out;
  write_selector(out, request.batch);
  return out.take();
}
Result<CollectionRequest> decode_collection_request(ByteSpan bytes) {
  Reader in(bytes);
  const CollectionRequest request{read_selector(in)};
  if (!in.end()) return malformed("collection request");
  return request;
}

Bytes encode(const CollectionResponse& response) {
  Writer out;
  out.integer(response.report_count);
  write(out, response.batch);
  write(out, response.leader);
  write(out, response.helper);
  return out.take();
}
Result<CollectionResponse> decode_collection_response(ByteSpan bytes) {
  Reader in(bytes);
  CollectionResponse response;
  response.report_count = in.integer<std::uint64_t>();
  response.batch = read_interval(in);
  response.leader = read_ciphertext(in);
  response.helper = read_ciphertext(in);
  if (!in.end()) return malformed("collection");
  return response;
}

Bytes encode(const AggregateShareRequest& request) {
  Writer out;
  write_selector(out, request.batch);
  out.integer(request.report_count).raw(request.checksum);
  return out.take();
}
Result<AggregateShareRequest> decode_aggregate_share_request(ByteSpan bytes) {
  Reader in(bytes);
  AggregateShareRequest request;
  request.batch = read_selector(in);
  request.report_count = in.integer<std::uint64_t>();
  request.checksum = in.array<32>();
  if (!in.end()) return malformed("request for an aggregate share");
  return request;
}

Bytes input_share_info(Role server) {
  return roles_info(" input share", Role::Client, server);
}
Bytes aggregate_share_info(Role server) {
  return roles_info(" aggregate share", server, Role::Collector);
}

Bytes input_share_aad(const TaskId& task, ByteSpan configuration, const ReportMetadata& metadata,
                      ByteSpan public_share) {
  Writer out;
  out.raw(task).opaque32(configuration);
  write(out, metadata);
  out.opaque32(public_share);
  return out.take();
}

Bytes aggregate_share_aad(const TaskId& task, ByteSpan configuration, const Interval& batch,
                          std::uint64_t report_count) {
  Writer out;
  out.raw(task).opaque32(configuration);
  write_selector(out, batch);
  out.integer(report_count);
  return out.take();
}

Bytes vdaf_context(const TaskId& task) {
  Writer out;
  out.raw(as_bytes(kVersion)).raw(task);
  return out.take();
}

}  // namespace discreet::prio
