// One line of the ledger: what happened, sealed to everything before it.
//
// Guarantee: changing any field of any event, or the order, number or beginning of events, changes
//            the hash of the last one, unless SHA-256 collides. Cutting events off the end is not
//            visible from inside: keep the head hash elsewhere (`discreet ledger verify --head`).
// Format:    docs/formats/ledger.md
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "accounting/event_cost.h"
#include "base/clock.h"
#include "ledger/sha256.h"
#include "privacy/budget.h"
#include "privacy/loss_event.h"

namespace discreet::ledger {

/// How an account decides whether a charge fits. Fixed by the first charge;
/// docs/proofs/ledger_filter.md.
enum class FilterKind {
  Basic,  ///< sums of epsilon and of delta; with delta 0 this is pure DP
  Best,   ///< Basic on three quarters of the delta, or zCDP on the other quarter
};

const char* name(FilterKind kind);

/// What a charge costs in the two currencies of the filters. Each is a valid bound by itself.
struct Price {
  Epsilon epsilon;
  Delta delta;
  /// Absent: no zCDP bound is known; the account then lives by sums alone.
  std::optional<ConcentratedCost> concentrated;

  /// The stated (epsilon, delta), with the zCDP cost of the event where it has one.
  static Price of(ApproxDp stated, const LossEvent& event,
                  Neighbours neighbours = Neighbours::AddRemove);
};

/// From now on the account may spend this in all.
struct GrantEvent {
  std::string parent;  ///< empty: a budget of its own
  FilterKind filter = FilterKind::Best;
  Amount total;
  std::uint64_t windows = 0;  ///< how many recurring grants `total` contains
};

/// Paid, before anything was computed.
struct ChargeEvent {
  std::string question;  ///< names the normalised question on one snapshot of the data
  std::string request;   ///< the client's idempotency key, if it gave one
  std::string purpose;   ///< for people: the statement, or what the job was
  Price price;
  LossEvent loss;
};

/// The answer to a charge, about to leave.
struct ReleaseEvent {
  std::uint64_t charge;
  Digest answer;
  std::uint64_t bytes;
};

/// A recorded answer given once more, free.
struct RepeatEvent {
  std::uint64_t charge;
};

using EventBody = std::variant<GrantEvent, ChargeEvent, ReleaseEvent, RepeatEvent>;

const char* kind_name(const EventBody& body);

/// The body as canonical JSON: keys in alphabetical order, shortest numbers that read back the
/// same.
std::string encode_body(const EventBody& body);

/// InvalidInput: not a body of this kind, whatever the text.
Result<EventBody> decode_body(const std::string& kind, const std::string& text);

/// An event as stored. `body` is text, because the text is what was sealed.
struct StoredEvent {
  std::uint64_t sequence;
  Instant at;
  std::string kind;
  std::string account;
  std::string body;
  Digest previous;
  Digest hash;
};

/// What an event's hash must be.
Digest seal(const StoredEvent& event);

/// The `previous` of the first event.
Digest genesis();

}  // namespace discreet::ledger
