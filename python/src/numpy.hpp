#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <cstdint>
#include <optional>

namespace zonal::python {

namespace nb = nanobind;

/// A new NumPy array and its memory.
template <class T>
struct Made {
    nb::object array;
    T* data;
};

/// Anything, to type checkers too: numbers, arrays or None.
class Answer : public nb::any {
  public:
    Answer(nb::object value) : nb::any(value.release(), nb::detail::steal_t{}) {}
};

/// What the functions of pixels use of NumPy: exact copies of its scalars and arrays, made in less time than
/// nanobind's own arrays take. Needs the GIL.
class Numpy {
  public:
    Numpy();

    nb::object scalar(double value) const {
        *float64_.data = value;
        return nb::steal(PySequence_GetItem(float64_.array.ptr(), 0));
    }
    nb::object scalar(std::int64_t value) const {
        *int64_.data = value;
        return nb::steal(PySequence_GetItem(int64_.array.ptr(), 0));
    }

    /// A vector of n elements with any values.
    template <class T>
    Made<T> vector(std::int64_t n) const {
        return empty<T>(nb::int_(n), n);
    }
    template <class T>
    Made<T> matrix(std::int64_t rows, std::int64_t columns) const {
        return empty<T>(nb::make_tuple(rows, columns), rows * columns);
    }

    /// A number of Python's or NumPy's; nothing for other objects, for integers beyond int64, and for arrays.
    std::optional<std::int64_t> integer(nb::handle value) const;
    std::optional<double> real(nb::handle value) const;
    /// Three such numbers of a list, a tuple or an array.
    std::optional<std::array<double, 3>> vector_of_three(nb::handle values) const;

    /// Whether this is an ndarray and no subclass, such as a masked array.
    bool is_plain_array(nb::handle value) const { return value.type().is(ndarray_); }

  private:
    template <class T>
    Made<T> empty(const nb::object& shape, std::int64_t n) const;
    bool has_type(nb::handle value, const nb::object& type) const;

    nb::object ndarray_, empty_, integer_type_, floating_type_, float64_type_, int64_type_;
    Made<double> float64_;      ///< one element, of which NumPy makes a scalar
    Made<std::int64_t> int64_;  ///< likewise
};

/// As Python's bool(value).
bool truth(nb::handle value);

/// The one of this process.
const Numpy& numpy();

}  // namespace zonal::python
