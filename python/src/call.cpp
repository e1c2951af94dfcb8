#include "call.hpp"

#include <cxxabi.h>
#include <unistd.h>

namespace zonal::python {
namespace {

/// Calls take(), which takes the GIL or ends the thread; in place of the latter it sleeps for ever.
template <class Take>
auto without_unwinding(const Take& take) {
    try {
        return take();
    } catch (abi::__forced_unwind&) {
        while (true) pause();
    }
}

}  // namespace

GilRelease::~GilRelease() {
    without_unwinding([&] { PyEval_RestoreThread(state_); });
}

GilAcquire::GilAcquire() : state_(without_unwinding([] { return PyGILState_Ensure(); })) {}

void Raised::keep() {
    try {
        nb::raise_python_error();
    } catch (...) {
        error_ = std::current_exception();
    }
}

bool Raised::by_signal() {
    const GilAcquire gil;
    if (PyErr_CheckSignals() == 0) return false;
    keep();
    return true;
}

bool Raised::by_progress(nb::handle progress, double done) {
    const GilAcquire gil;
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
