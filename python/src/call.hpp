#pragma once

#include <nanobind/nanobind.h>

#include <exception>
#include <utility>

#include "zonal/error.hpp"
#include "zonal/interruption.hpp"
#include "zonal/progress.hpp"

namespace zonal::python {

namespace nb = nanobind;

// As nanobind's gil_scoped_release and gil_scoped_acquire, but for what happens at the end of the interpreter
// (before Python 3.14): daemon threads that want the GIL then are ended within the call that takes it, by an
// unwinding that ends the whole process where it meets a destructor, or find the interpreter gone. They sleep
// here instead, until the process is over.

/// Other threads of Python may run while it lives.
class GilRelease {
  public:
    GilRelease() : state_(PyEval_SaveThread()) {}
    ~GilRelease();
    GilRelease(const GilRelease&) = delete;
    GilRelease& operator=(const GilRelease&) = delete;

  private:
    PyThreadState* state_;
};

/// This thread may call Python while it lives.
class GilAcquire {
  public:
    GilAcquire();
    ~GilAcquire();
    GilAcquire(const GilAcquire&) = delete;
    GilAcquire& operator=(const GilAcquire&) = delete;

  private:
    PyGILState_STATE state_;
};

/// Python calls it before it ends (atexit): from here on no other thread gets the GIL by the classes above.
/// Waits for those that have it by them.
void end_calls_of_other_threads();

/// What Python raised while the library was at work: by a signal handler, as Ctrl-C does, or by a callback.
class Raised {
  public:
    /// Whether a signal's handler has raised. Takes the GIL.
    bool by_signal();
    /// Whether progress(done) has raised or returned False. Takes the GIL.
    bool by_progress(nb::handle progress, double done);
    /// Raises it where there is any.
    void rethrow() const {
        if (error_) std::rethrow_exception(error_);
    }

  private:
    void keep();
    std::exception_ptr error_;
};

/// Returns work(progress) without the GIL. progress: None, or a callable of the share that is done, which
/// stops the work if it returns False. Ctrl-C stops it within a tenth of a second.
template <class Work>
auto without_gil(nb::handle progress, const Work& work) {
    Raised raised;
    try {
        const GilRelease release;
        const InterruptionCheck check([&raised] { return raised.by_signal(); });
        Progress report;
        if (!progress.is_none())
            report = [&raised, progress](double done) { return !raised.by_progress(progress, done); };
        return work(std::as_const(report));
    } catch (const Cancelled&) {
        raised.rethrow();
        throw;
    }
}

/// The same of work() that does not report its progress.
template <class Work>
auto without_gil(const Work& work) {
    return without_gil(nb::none(), [&work](const Progress&) { return work(); });
}

}  // namespace zonal::python
