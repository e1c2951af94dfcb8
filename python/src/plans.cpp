#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <nanobind/typing.h>

#include <atomic>
#include <mutex>
#include <optional>
#include <thread>

#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"
#include "reports.hpp"
#include "zonal/io/cost_model.hpp"
#include "zonal/planning/certificate.hpp"
#include "zonal/planning/convolution_plan.hpp"
#include "zonal/planning/planner.hpp"

namespace zonal::python {
namespace {

/// A plan takes one call at a time: other threads wait.
class SharedPlan {
  public:
    SharedPlan(const ConvolutionRequest& request, const ConvolutionChoice& choice,
               const ConvolutionOptions& options)
        : plan_(request, choice, options) {}

    template <class T>
    ConvolutionResult convolve(const HostArrayOfRank<const T, 2>& maps,
                               const std::optional<HostArrayOfRank<const T, 1>>& mask,
                               const HostArrayOfRank<T, 2>& convolved, nb::handle progress) {
        const auto known = mask ? view_of<1>(*mask) : View<const T, 1>{};
        return without_gil(progress, [&](const Progress& report) {
            const OneCall call(*this);
            if (!mask) return plan_.convolve<T>(view_of<2>(maps), view_of<2>(convolved), report);
            return plan_.convolve<T>(view_of<2>(maps), known, view_of<2>(convolved), report);
        });
    }

  private:
    /// The call that works with the plan. Threads take turns; a callback of the call would wait for itself.
    class OneCall {
      public:
        explicit OneCall(SharedPlan& plan) : plan_(plan) {
            if (plan.owner_ == std::this_thread::get_id())
                throw InvalidArgument("plan", "is at work in the call that this callback belongs to");
            plan.mutex_.lock();
            plan.owner_ = std::this_thread::get_id();
        }
        ~OneCall() {
            plan_.owner_ = std::thread::id();
            plan_.mutex_.unlock();
        }
        OneCall(const OneCall&) = delete;
        OneCall& operator=(const OneCall&) = delete;

      private:
        SharedPlan& plan_;
    };

    ConvolutionPlan plan_;
    std::mutex mutex_;
    std::atomic<std::thread::id> owner_;
};

/// nanobind takes out of the type of a C++ array what it is in Python.
template <class T>
void define_convolve(nb::class_<SharedPlan>& plan) {
    plan.def("convolve", &SharedPlan::convolve<T>, nb::arg("maps").noconvert(),
             nb::arg("mask").noconvert().none(), nb::arg("convolved").noconvert(),
             nb::arg("progress").none());
}

/// Finds the costs of this machine.
CostModel costs_of(bool measured, int threads, nb::typed<nb::list, nb::str> notes) {
    if (!measured) return default_cost_model(threads);
    auto found = io::find_costs("", threads);
    for (const auto& note : found.notes) notes.append(note);
    return found.costs;
}

void bind_enumerations(nb::module_& module) {
    nb::enum_<ConvolutionMethod>(module, "ConvolutionMethod")
        .value("pixel_sum", ConvolutionMethod::pixel_sum)
        .value("ring_fft", ConvolutionMethod::ring_fft)
        .value("harmonic", ConvolutionMethod::harmonic)
        .value("split", ConvolutionMethod::split)
        .value("auto", ConvolutionMethod::automatic);
    nb::enum_<ConvolutionReference>(module, "ConvolutionReference")
        .value("discrete", ConvolutionReference::discrete)
        .value("continuous", ConvolutionReference::continuous);
    nb::enum_<Precision>(module, "Precision")
        .value("float32", Precision::float32)
        .value("float64", Precision::float64);
    nb::enum_<MaskMode>(module, "MaskMode")
        .value("zero", MaskMode::zero)
        .value("renormalize", MaskMode::renormalize)
        .value("error", MaskMode::error);
}

void bind_certificates(nb::module_& module) {
    Report<ErrorBound>(
        module, "ErrorBound",
        "Bounds of the parts of an error, rms over the rms of the input; of_output over that of "
        "the output.")
        .field("cut", &ErrorBound::cut)
        .field("window", &ErrorBound::window)
        .field("quadrature", &ErrorBound::quadrature)
        .field("accuracy", &ErrorBound::accuracy)
        .field("rounding", &ErrorBound::rounding)
        .field("of_output", &ErrorBound::of_output);
    Report<Certificate>(module, "Certificate",
                        "A bound of the error of one map, rms over rms, that holds whatever the map is.")
        .field("error", &Certificate::error,
               "Bounds rms(error) / rms(reference); inf where there is no bound.")
        .field("error_of_variations", &Certificate::error_of_variations,
               "The same over the rms of the reference without its mean, so that an offset hides nothing.")
        .field("rms_in", &Certificate::rms_in)
        .field("rms_out", &Certificate::rms_out)
        .field("bound", &Certificate::bound);
}

const std::vector methods{ConvolutionMethod::pixel_sum, ConvolutionMethod::ring_fft,
                          ConvolutionMethod::harmonic, ConvolutionMethod::split,
                          ConvolutionMethod::automatic};

void bind_choice(nb::module_& module) {
    Report<ConvolutionChoice>(module, "Choice",
                              "One way to convolve maps, with its predicted time and error.")
        .choice("method", &ConvolutionChoice::method, methods,
                "\"pixel-sum\", \"ring-fft\", \"harmonic\" or \"split\".")
        .device("device", &ConvolutionChoice::device,
                "\"cpu\", \"cuda:0\"; of a split, that of the sum over pixels.")
        .choice("precision", &ConvolutionChoice::precision, {Precision::float32, Precision::float64})
        .field("support", &ConvolutionChoice::support, "Where the profile is cut, rad; 0 in harmonic space.")
        .field("l_cut", &ConvolutionChoice::l_cut, "Of a split; -1 otherwise.")
        .field("lmax", &ConvolutionChoice::lmax, "Of harmonic space; -1: that of the request.")
        .field("iterations", &ConvolutionChoice::iterations, "Of the analysis in harmonic space.")
        .field("seconds", &ConvolutionChoice::seconds, "Predicted time of a call.")
        .field("error", &ConvolutionChoice::error,
               "From the reference, rms over rms, certified for the gain.")
        .field("excluded", &ConvolutionChoice::excluded, "Why it may not be taken; empty if it may.");
}

void bind_result(nb::module_& module) {
    Report<ConvolutionResult>(module, "ConvolutionResult", "What a convolution did, and what came of it.")
        .choice("method", &ConvolutionResult::method, methods)
        .device("device", &ConvolutionResult::device, "Of a split: that of the sum over pixels.")
        .field("support", &ConvolutionResult::support, "Where the profile ends, rad; 0 in harmonic space.")
        .field("l_cut", &ConvolutionResult::l_cut)
        .field("error", &ConvolutionResult::error, "Planned for, from the reference.")
        .field("seconds", &ConvolutionResult::seconds)
        .field("analysis", &ConvolutionResult::analysis)
        .field("certificates", &ConvolutionResult::certificates, "[map], bounds of the errors.")
        .field("masked_pixels", &ConvolutionResult::masked_pixels, "[map], UNSEEN or masked in the maps.")
        .field("unseen_pixels", &ConvolutionResult::unseen_pixels, "[map], UNSEEN in the result.");
}

void bind_request(nb::module_& module) {
    nb::class_<ConvolutionRequest>(module, "ConvolutionRequest")
        .def(nb::init<>())
        .def_rw("grid", &ConvolutionRequest::grid)
        .def_rw("kernel", &ConvolutionRequest::kernel)
        .def_rw("lmax", &ConvolutionRequest::lmax)
        .def_rw("error", &ConvolutionRequest::error)
        .def_rw("gain", &ConvolutionRequest::gain, nb::arg().none())
        .def_rw("reference", &ConvolutionRequest::reference, nb::arg().none())
        .def_rw("n_maps", &ConvolutionRequest::n_maps)
        .def_rw("allow_single", &ConvolutionRequest::allow_single)
        .def_rw("method", &ConvolutionRequest::method)
        .def_rw("threads", &ConvolutionRequest::threads)
        .def("completed",
             [](const ConvolutionRequest& request, const ConvolutionOptions& options) {
                 return without_gil(nb::none(), [&](const Progress&) { return completed(request, options); });
             })
        .def("choices",
             [](const ConvolutionRequest& request, const CostModel& costs, const std::string& device) {
                 return without_gil(nb::none(), [&](const Progress&) {
                     return plan_convolution(request, costs, parse_device(device));
                 });
             });
}

}  // namespace

void bind_plans(nb::module_& module) {
    bind_enumerations(module);
    bind_certificates(module);
    bind_choice(module);
    bind_result(module);
    nb::class_<CostModel>(module, "CostModel").def_ro("fingerprint", &CostModel::fingerprint);
    bind_request(module);
    module.def("costs", &costs_of);
    nb::class_<MaskRule>(module, "MaskRule")
        .def(nb::init<>())
        .def_rw("mode", &MaskRule::mode)
        .def_rw("threshold", &MaskRule::threshold)
        .def_rw("fill_masked", &MaskRule::fill_masked);
    nb::class_<ConvolutionOptions>(module, "ConvolutionOptions")
        .def(nb::init<>())
        .def_rw("mask", &ConvolutionOptions::mask)
        .def_rw("keep_counts", &ConvolutionOptions::keep_counts)
        .def_rw("ring_weights", &ConvolutionOptions::ring_weights);
    nb::class_<SharedPlan> plan(module, "SharedPlan");
    plan.def("__init__", [](SharedPlan* self, const ConvolutionRequest& request,
                            const ConvolutionChoice& choice, const ConvolutionOptions& options) {
        without_gil(nb::none(), [&](const Progress&) { new (self) SharedPlan(request, choice, options); });
    });
    define_convolve<double>(plan);
    define_convolve<float>(plan);
}

}  // namespace zonal::python
