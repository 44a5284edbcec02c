// How two servers take turns (draft-irtf-cfrg-vdaf-20, section 5.7.1): the leader initialises with
// its verifier share, the helper answers with the message that finishes the report for both.
//
// Guarantee: both servers accept a report or neither does, whatever the client sent. The draft
// alone does
//            not give that: a client whose public share disagrees with the shares themselves could
//            make the helper accept and the leader refuse. The helper therefore also wants the
//            message to be the one that the public share announces; for honest clients it always
//            is.
#pragma once

#include "prio/prio3.h"

namespace discreet::prio {

struct PingPongMessage {
  enum class Type : std::uint8_t { Initialize = 0, Continue = 1, Finish = 2 };
  Type type = Type::Initialize;
  Bytes verifier_message;  ///< Continue, Finish
  Bytes verifier_share;    ///< Initialize, Continue

  Bytes encode() const;
  static Result<PingPongMessage> decode(ByteSpan bytes);
};

struct LeaderStart {
  VerifyState state;
  Bytes message;
};
Result<LeaderStart> ping_pong_leader_init(const Prio3& prio, const VerifyInput& input);

struct HelperFinish {
  FieldVector out_share;
  Bytes message;
};
Result<HelperFinish> ping_pong_helper_init(const Prio3& prio, const VerifyInput& input,
                                           ByteSpan message);

Result<FieldVector> ping_pong_leader_finish(const Prio3& prio, VerifyState state, ByteSpan message);

}  // namespace discreet::prio
