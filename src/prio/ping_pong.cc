#include "prio/ping_pong.h"

#include "prio/codec.h"

namespace discreet::prio {

Bytes PingPongMessage::encode() const {
  Writer out;
  out.integer(static_cast<std::uint8_t>(type));
  if (type != Type::Initialize) out.opaque32(verifier_message);
  if (type != Type::Finish) out.opaque32(verifier_share);
  return out.take();
}

Result<PingPongMessage> PingPongMessage::decode(ByteSpan bytes) {
  Reader in(bytes);
  PingPongMessage message;
  const auto type = in.integer<std::uint8_t>();
  message.type = static_cast<Type>(type);
  if (type == 1 || type == 2) message.verifier_message = in.bytes32();
  if (type == 0 || type == 1) message.verifier_share = in.bytes32();
  if (type > 2 || !in.end()) return invalid_input("not a message between two servers");
  return message;
}

Result<LeaderStart> ping_pong_leader_init(const Prio3& prio, const VerifyInput& input) {
  DISCREET_TRY(VerifyStart start, prio.verify_init(input));
  PingPongMessage message;
  message.verifier_share = std::move(start.verifier_share);
  return LeaderStart{std::move(start.state), message.encode()};
}

Result<HelperFinish> ping_pong_helper_init(const Prio3& prio, const VerifyInput& input,
                                           ByteSpan message) {
  DISCREET_TRY(const PingPongMessage incoming, PingPongMessage::decode(message));
  if (incoming.type != PingPongMessage::Type::Initialize)
    return invalid_input("the helper expects the leader's first message");
  DISCREET_TRY(VerifyStart start, prio.verify_init(input));
  const ByteSpan shares[] = {incoming.verifier_share, start.verifier_share};
  PingPongMessage outgoing;
  outgoing.type = PingPongMessage::Type::Finish;
  DISCREET_TRY(outgoing.verifier_message,
               prio.verifier_shares_to_message(input.context, std::span<const ByteSpan>(shares)));
  DISCREET_TRY(FieldVector out,
               prio.verify_next(std::move(start.state), outgoing.verifier_message));
  if (!equal_constant_time(outgoing.verifier_message,
                           prio.announced_message(input.context, input.public_share)))
    return Error{ErrorCode::Refused,
                 "the public share disagrees with the shares; the report is dropped"};
  return HelperFinish{std::move(out), outgoing.encode()};
}

Result<FieldVector> ping_pong_leader_finish(const Prio3& prio, VerifyState state,
                                            ByteSpan message) {
  DISCREET_TRY(const PingPongMessage incoming, PingPongMessage::decode(message));
  if (incoming.type != PingPongMessage::Type::Finish)
    return invalid_input("the leader expects the helper's last message");
  return prio.verify_next(std::move(state), incoming.verifier_message);
}

}  // namespace discreet::prio
