#include "numpy.hpp"

#include <nanobind/ndarray.h>

#include <type_traits>

namespace zonal::python {

Numpy::Numpy() {
    const auto module = nb::module_::import_("numpy");
    ndarray_ = module.attr("ndarray");
    empty_ = module.attr("empty");
    integer_type_ = module.attr("integer");
    floating_type_ = module.attr("floating");
    float64_type_ = module.attr("dtype")("float64");
    int64_type_ = module.attr("dtype")("int64");
    float64_ = vector<double>(1);
    int64_ = vector<std::int64_t>(1);
}

template <class T>
Made<T> Numpy::empty(const nb::object& shape, std::int64_t n) const {
    const nb::object& type = std::is_same_v<T, double> ? float64_type_ : int64_type_;
    // NumPy's own memory is better for large arrays, as it asks for huge pages. Its address takes long to
    // find.
    constexpr std::int64_t small = 1024;
    if (n > small) {
        nb::object array = empty_(shape, type);
        auto* const data = nb::cast<nb::ndarray<T, nb::device::cpu>>(array).data();
        return {std::move(array), data};
    }
    const nb::object bytes =
        nb::steal(PyByteArray_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(sizeof(T)) * n));
    if (!bytes.is_valid()) nb::raise_python_error();
    // bytearray aligns its memory as malloc does.
    auto* const data = static_cast<T*>(static_cast<void*>(PyByteArray_AsString(bytes.ptr())));
    return {ndarray_(shape, type, bytes), data};
}

template Made<double> Numpy::empty(const nb::object&, std::int64_t) const;
template Made<std::int64_t> Numpy::empty(const nb::object&, std::int64_t) const;

bool Numpy::has_type(nb::handle value, const nb::object& type) const {
    return static_cast<bool>(
        PyType_IsSubtype(Py_TYPE(value.ptr()), reinterpret_cast<PyTypeObject*>(type.ptr())));
}

std::optional<std::int64_t> Numpy::integer(nb::handle value) const {
    nb::object number = nb::borrow(value);
    if (!PyLong_Check(value.ptr())) {
        if (!has_type(value, integer_type_)) return {};
        number = nb::steal(PyNumber_Index(value.ptr()));
        if (!number.is_valid()) nb::raise_python_error();
    }
    int overflow = 0;
    const auto result = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
    if (overflow != 0) return {};
    return result;
}

std::optional<double> Numpy::real(nb::handle value) const {
    PyObject* const number = value.ptr();
    if (!PyFloat_Check(number) && !PyLong_Check(number) && !has_type(value, floating_type_) &&
        !has_type(value, integer_type_))
        return {};
    const double result = PyFloat_AsDouble(number);
    if (result == -1 && PyErr_Occurred() != nullptr) {
        PyErr_Clear();  // an integer beyond all doubles
        return {};
    }
    return result;
}

std::optional<std::array<double, 3>> Numpy::vector_of_three(nb::handle values) const {
    if (!PyList_CheckExact(values.ptr()) && !PyTuple_CheckExact(values.ptr()) && !is_plain_array(values))
        return {};
    if (PySequence_Size(values.ptr()) != 3) {
        PyErr_Clear();  // an array without axes has no size
        return {};
    }
    std::array<double, 3> vector{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const nb::object item = nb::steal(PySequence_GetItem(values.ptr(), static_cast<Py_ssize_t>(axis)));
        if (!item.is_valid()) nb::raise_python_error();
        const auto number = real(item);
        if (!number) return {};
        vector[axis] = *number;
    }
    return vector;
}

bool truth(nb::handle value) {
    const int answer = PyObject_IsTrue(value.ptr());
    if (answer < 0) nb::raise_python_error();
    return answer != 0;
}

const Numpy& numpy() {
    // Never destroyed: Python ends before the statics of this library do.
    static const Numpy* const found = new Numpy;
    return *found;
}

}  // namespace zonal::python
