#include "call.hpp"

namespace zonal::python {

void Raised::keep() {
    try {
        nb::raise_python_error();
    } catch (...) {
        error_ = std::current_exception();
    }
}

bool Raised::by_signal() {
    const nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() == 0) return false;
    keep();
    return true;
}

bool Raised::by_progress(nb::handle progress, double done) {
    const nb::gil_scoped_acquire gil;
    PyObject* const answer = PyObject_CallFunction(progress.ptr(), "d", done);
    if (answer == nullptr) {
        keep();
        return true;
    }
    const bool stops = answer == Py_False;
    Py_DECREF(answer);
    return stops;
}

}  // namespace zonal::python
