// Adding up shares: a += b over a whole vector of field elements, the one thing a server does to
// every entry of every report.
//
// Guarantee: the sums are reduced if both terms are, and are those of Field64 and Field128; no
//            branch or address depends on an element.
// Method:    four elements at a time in vector registers where the processor has AVX2 or AVX-512VL;
//            the form is chosen once.
// Proof:     field_test.cc compares every form with the fields' own addition.
#pragma once

#include <cstddef>
#include <cstdint>

namespace discreet::prio {

enum class SumForm { Portable, Avx2, Avx512 };

/// The best form this processor can run.
SumForm sum_form();

/// Elements of Field64, a word each.
void add_elements64(std::uint64_t* a, const std::uint64_t* b, std::size_t count);
/// Elements of Field128, two words each, the lower first.
void add_elements128(std::uint64_t* a, const std::uint64_t* b, std::size_t count);

/// A given form, which the processor must have: for tests.
void add_elements64(std::uint64_t* a, const std::uint64_t* b, std::size_t count, SumForm form);
void add_elements128(std::uint64_t* a, const std::uint64_t* b, std::size_t count, SumForm form);

}  // namespace discreet::prio
