// Field elements as machine words, as they are kept, and as bytes, as they travel.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "prio/bytes.h"
#include "prio/circuit.h"

namespace discreet::prio {

template <class F>
std::vector<F> from_words(const FieldVector& words) {
  std::vector<F> out(words.size() / F::kWords);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = F::from_words(&words[i * F::kWords]);
  return out;
}

template <class F>
FieldVector to_words(std::span<const F> elements) {
  FieldVector words(elements.size() * F::kWords);
  for (std::size_t i = 0; i < elements.size(); ++i) elements[i].to_words(&words[i * F::kWords]);
  return words;
}

template <class F>
void store_elements(Bytes& out, std::span<const F> elements) {
  const std::size_t at = out.size();
  out.resize(at + elements.size() * F::kBytes);
  for (std::size_t i = 0; i < elements.size(); ++i) elements[i].store(&out[at + i * F::kBytes]);
}

/// False: an element is not reduced.
template <class F>
bool load_elements(ByteSpan bytes, std::span<F> out) {
  bool reduced = true;
  for (std::size_t i = 0; i < out.size(); ++i) reduced &= F::load(&bytes[i * F::kBytes], out[i]);
  return reduced;
}

}  // namespace discreet::prio
