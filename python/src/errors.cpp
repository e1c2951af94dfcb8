#include "zonal/error.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <new>

#include "bindings.hpp"
#include "zonal/gwrm.hpp"

namespace zonal::python {
namespace {

/// Raises an error whose attributes say what its message does: argument, value (None where there is none),
/// requirement, and origin, which is what stands before the argument.
void set_argument_error(nb::handle type, const ArgumentError& error) {
    const auto& facts = error.facts();
    const nb::object raised = type(facts.message());
    raised.attr("argument") = facts.argument;
    raised.attr("value") = facts.value ? nb::cast(*facts.value) : nb::none();
    raised.attr("requirement") = facts.requirement;
    raised.attr("origin") = facts.origin;
    PyErr_SetObject(type.ptr(), raised.ptr());
}

/// The errors that Python has a name for, and those that are about an argument. The others are classes of
/// their own, below.
void translate(const std::exception_ptr& error, void*) {
    try {
        std::rethrow_exception(error);
    } catch (const InvalidArgument& e) {
        set_argument_error(PyExc_ValueError, e);
    } catch (const ErrorNotKept& e) {
        set_argument_error(nb::module_::import_("zonal._core").attr("ErrorNotKept"), e);
    } catch (const BackendUnavailable& e) {
        set_argument_error(nb::module_::import_("zonal._core").attr("BackendUnavailable"), e);
    } catch (const IoError& e) {
        PyErr_SetString(PyExc_OSError, e.what());
    } catch (const OutOfMemory& e) {
        PyErr_SetString(PyExc_MemoryError, e.what());
    } catch (const std::bad_alloc&) {  // it calls itself std::bad_alloc
        PyErr_SetString(PyExc_MemoryError, "this call needs more memory than this process can get");
    }
}

template <class T>
nb::object add_error(nb::module_& module, const char* name, nb::handle base, const char* doc) {
    nb::object error = nb::exception<T>(module, name, base);
    error.attr("__doc__") = doc;
    return error;
}

}  // namespace

void bind_errors(nb::module_& module) {
    // The last one that is registered is asked first, so the base comes first.
    const auto base = add_error<Error>(module, "Error", PyExc_RuntimeError,
                                       "Base of the errors of Zonal that Python has no name for.");
    add_error<CommunicationError>(module, "CommunicationError", base,
                                  "Ranks of a job could not reach each other, or one of them failed.");
    add_error<ErrorNotKept>(module, "ErrorNotKept", base, "No way keeps the error that was asked for.");
    add_error<gwrm::NotConverged>(
        module, "NotConverged", base,
        "The root solver did not converge, or intervals became too short: the message says where and how.");
    add_error<Cancelled>(module, "Cancelled", base,
                         "A progress callback returned False. Arrays that were being written hold anything.");
    add_error<BackendUnavailable>(
        module, "BackendUnavailable", base,
        "This machine or this package does not have the device that was asked for.");
    const auto device = add_error<DeviceError>(module, "DeviceError", base, "A call to a device failed.");
    add_error<OutOfDeviceMemory>(module, "OutOfDeviceMemory", device,
                                 "A device does not have the memory that was asked for.");
    nb::register_exception_translator(translate);
}

}  // namespace zonal::python
