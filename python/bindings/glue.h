// What every file of the bindings needs: Results become exceptions, noise comes from the system,
// arrays are looked at where they lie.
//
// Guarantee: noise is drawn from a SecureRandom of the calling thread; there is no way to seed it.
// Assumes:   long work is done with Python's lock released (`Unlocked`), and touches no Python
//            object then.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <exception>
#include <span>

#include "base/result.h"
#include "privacy/parameters.h"
#include "privacy/sensitivity.h"
#include "random/random_source.h"

namespace nb = nanobind;
using namespace nb::literals;  // NOLINT: the "name"_a of every signature

namespace discreet::python {

/// An Error on its way to Python, where it becomes an exception of discreet.errors.
class Failure : public std::exception {
 public:
  explicit Failure(Error error) : error_(std::move(error)) {}
  const Error& error() const { return error_; }
  const char* what() const noexcept override { return error_.message.c_str(); }

 private:
  Error error_;
};

template <class T>
T value(Result<T> result) {
  if (!result) throw Failure(std::move(result).error());
  return *std::move(result);
}
inline void value(Result<void> result) {
  if (!result) throw Failure(std::move(result).error());
}

inline Epsilon epsilon_of(double epsilon) {
  return value(Epsilon::make(epsilon));
}
inline ApproxDp target_of(double epsilon, double delta) {
  return {value(Epsilon::make(epsilon)), value(Delta::make(delta))};
}

/// The calling thread's own; it reseeds itself in a forked child.
RandomSource& noise();

using Unlocked = nb::gil_scoped_release;

template <class T>
using Input = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Output = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
std::span<const T> span_of(const Input<T>& array) {
  return {array.data(), array.size()};
}
template <class T>
std::span<T> span_of(const Output<T>& array) {
  return {array.data(), array.size()};
}

template <class T>
void check_sizes(const Input<T>& in, const Output<T>& out) {
  if (in.size() != out.size())
    throw Failure(invalid_parameter("out must have as many entries as the values"));
}

// One for each file.
void bind_noise(nb::module_& m);
void bind_choices(nb::module_& m);
void bind_rows(nb::module_& m);
void bind_groups(nb::module_& m);
void bind_accounting(nb::module_& m);
void bind_filters(nb::module_& m);
void bind_curator(nb::module_& m);
void bind_synth(nb::module_& m);
void bind_local(nb::module_& m);
void bind_audit(nb::module_& m);
void bind_prio(nb::module_& m);

}  // namespace discreet::python
