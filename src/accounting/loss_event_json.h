// Loss events as JSON: what the ledger stores and `discreet account` reads.
//
// Guarantee: decoding what was encoded gives the same event, every double bit for bit, so a charge
//            can be priced again under any definition, years later. What does not fit the grammar
//            is refused with a sentence that names the path to the field.
// Assumes:   nothing about the text; size, nesting, repeated keys and unknown fields are checked.
// Format:    docs/formats/loss_events.md
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "privacy/loss_event.h"

namespace discreet {

inline constexpr int kLossDocumentVersion = 1;
inline constexpr std::size_t kLossDocumentBytesMax = std::size_t{64} << 20;
inline constexpr int kLossEventDepthMax = 32;

/// One event as an object: {"mechanism": "gaussian", "sigma": 2.0, "sensitivity": 1.0}.
nlohmann::json to_json(const LossEvent& event);

/// The event an object describes. InvalidInput: a wrong shape, an unknown or missing field, a
/// number outside what its parameter allows, or nesting beyond kLossEventDepthMax.
Result<LossEvent> loss_event_from_json(const nlohmann::json& object);

/// A whole document: {"event": {...}, "version": 1}, on one line, keys in alphabetical order.
std::string encode_loss_document(const LossEvent& event);

/// InvalidInput also for text that is not JSON, repeats a key, is larger than
/// kLossDocumentBytesMax, or has another version.
Result<LossEvent> decode_loss_document(std::string_view text);

/// Deep equality, every parameter compared by value.
bool same_event(const LossEvent& a, const LossEvent& b);

}  // namespace discreet
