#include "call.hpp"

#include <cxxabi.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace zonal::python {
namespace {

std::atomic<bool> is_ending = false;  ///< set once, by Python's thread that ends the process
std::atomic<int> n_in_python = 0;     ///< threads that wait for the GIL or call Python
std::thread::id ending_thread;

[[noreturn]] void sleep_for_ever() {
    while (true) pause();
}

/// Calls call(), in which Python may end the thread by an unwinding; in place of that it sleeps for ever.
template <class Call>
auto without_unwinding(const Call& call) {
    try {
        return call();
    } catch (abi::__forced_unwind&) {
        sleep_for_ever();
    }
}

/// Returns take(), which takes the GIL. The thread counts as one that calls Python from here on.
template <class Take>
auto taken(const Take& take) {
    ++n_in_python;
    if (is_ending && std::this_thread::get_id() != ending_thread) {
        --n_in_python;
        sleep_for_ever();
    }
    return without_unwinding(take);
}

}  // namespace

void end_calls_of_other_threads() {
    ending_thread = std::this_thread::get_id();
    is_ending = true;
    PyThreadState* const state = PyEval_SaveThread();
    // What calls Python now needs the GIL to come to its end. A callback that takes longer is not waited for.
    const auto last = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
    while (n_in_python > 0 && std::chrono::steady_clock::now() < last)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    PyEval_RestoreThread(state);
}

GilRelease::~GilRelease() {
    taken([&] {
        PyEval_RestoreThread(state_);
        return true;
    });
    --n_in_python;
}

GilAcquire::GilAcquire() : state_(taken([] { return PyGILState_Ensure(); })) {}

GilAcquire::~GilAcquire() {
    PyGILState_Release(state_);
    --n_in_python;
}

void Raised::keep() {
    try {
        nb::raise_python_error();
    } catch (...) {
        error_ = std::current_exception();
    }
}

bool Raised::by_signal() {
    const GilAcquire gil;
    if (without_unwinding([] { return PyErr_CheckSignals(); }) == 0) return false;
    keep();
    return true;
}

bool Raised::by_progress(nb::handle progress, double done) {
    const GilAcquire gil;
    PyObject* const answer =
        without_unwinding([&] { return PyObject_CallFunction(progress.ptr(), "d", done); });
    if (answer == nullptr) {
        keep();
        return true;
    }
    const bool stops = answer == Py_False;
    Py_DECREF(answer);
    return stops;
}

}  // namespace zonal::python
