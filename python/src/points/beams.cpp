#include <algorithm>
#include <complex>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"
#include "reports.hpp"
#include "transform.hpp"
#include "zonal/beams/convolver.hpp"
#include "zonal/beams/elliptical.hpp"
#include "zonal/beams/planning.hpp"

namespace zonal::python {
namespace {

template <class T>
using Table = HostArrayOfRank<T, 2>;
using PointingAngles = Table<const double>;
using OptionalPointingAngles = std::optional<PointingAngles>;

struct Directions {
    View<const double, 2> theta, phi, psi, hwp;
    Pointings pointings(const BeamConvolver& convolver) const { return {convolver, theta, phi, psi, hwp}; }
};

BeamMethod method_named(const std::string& name) {
    if (name == "auto") return BeamMethod::automatic;
    if (name == "harmonic") return BeamMethod::harmonic;
    if (name == "displaced") return BeamMethod::displaced;
    throw InvalidArgument("method", name, "must be auto, harmonic or displaced");
}

/// BeamReport, with the method's name.
struct SignalReport {
    double bound = 0, mean_error = 0, left_out = 0;
    std::string method;
    std::int64_t kernels = 0;
};

SignalReport named(const BeamReport& report) {
    return {report.bound, report.mean_error, report.left_out,
            report.method == BeamMethod::displaced ? "displaced" : "harmonic", report.kernels};
}

/// A sky as displaced kernels of several detectors see it.
class DisplacedSky {
  public:
    DisplacedSky(std::vector<DisplacedConvolver> detectors, const View<const Complex<double>, 2>& sky,
                 const std::optional<std::pair<double, double>>& range)
        : detectors_(std::move(detectors)) {
        report_.method = BeamMethod::displaced;
        samples_.reserve(detectors_.size());
        for (const DisplacedConvolver& each : detectors_) {
            const SampleRows rows =
                range ? each.rows_between(range->first, range->second) : each.samples().all_rows();
            BeamReport of_one;
            samples_.push_back(each.make_samples<double>(sky[0], rows, &of_one));
            report_.bound = std::max(report_.bound, of_one.bound);
            report_.mean_error = std::max(report_.mean_error, of_one.mean_error);
            report_.left_out = std::max(report_.left_out, of_one.left_out);
            report_.kernels = std::max(report_.kernels, of_one.kernels);
        }
    }
    const BeamReport& report() const { return report_; }
    const SphereSamples& samples() const { return detectors_[0].samples(); }
    std::int64_t bytes() const {
        std::int64_t sum = 0;
        for (const DisplacedSamples& each : samples_) sum += each.bytes();
        return sum;
    }

    template <class T>
    void scan(const Directions& at, const View<T, 2>& tod) const {
        check(at, tod);
        for (std::int64_t d = 0; d < std::ssize(detectors_); ++d)
            detectors_[static_cast<std::size_t>(d)].scan<T>(
                samples_[static_cast<std::size_t>(d)], of(at.theta, d), of(at.phi, d), of(at.psi, d), tod[d]);
    }
    template <class T>
    void adjoint(const Directions& at, const View<const T, 2>& tod, const View<Complex<T>, 2>& sky) const {
        check(at, tod);
        Array<Complex<T>, 1> one({sky.extent(1)});
        for (std::int64_t d = 0; d < std::ssize(detectors_); ++d) {
            detectors_[static_cast<std::size_t>(d)].adjoint<T>(of(at.theta, d), of(at.phi, d), of(at.psi, d),
                                                               tod[d], one.view());
            for (std::int64_t i = 0; i < one.size(); ++i) sky(0, i) = (d == 0 ? T(0) : sky(0, i)) + one(i);
        }
    }

  private:
    static View<const double, 1> of(const View<const double, 2>& angles, std::int64_t detector) {
        return angles[angles.extent(0) == 1 ? 0 : detector];
    }
    /// What Python's shapes make sure of.
    template <class T>
    void check(const Directions& at, const View<T, 2>& tod) const {
        const std::int64_t n = std::ssize(detectors_);
        if (tod.extent(0) != n) throw InvalidArgument("tod", "must have a row for each detector");
        for (const auto& angles : {at.theta, at.phi, at.psi})
            if (angles.extent(0) != 1 && angles.extent(0) != n)
                throw InvalidArgument("pointings", "must have one row, or one for each detector");
    }

    std::vector<DisplacedConvolver> detectors_;
    std::vector<DisplacedSamples> samples_;
    BeamReport report_;
};

/// Beams and a sky. What a half-wave plate needs is made when it is first asked for.
class Beams {
  public:
    using ThetaRange = std::optional<std::pair<double, double>>;

    template <class T>
    Beams(const Table<const Complex<T>>& sky, const HostArrayOfRank<const Complex<double>, 3>& beams,
          std::int64_t lmax, const BeamOptions& options, const ThetaRange& range, BeamMethod method)
        : layout_(beam_layout(lmax, static_cast<std::int64_t>(beams.shape(2)))),
          beams_(copy_of(view_of<3>(beams))),
          options_(options),
          range_(range),
          method_(method) {
        const auto given = view_of<2>(sky);
        sky_ = Array<Complex<double>, 2>(given.extents());
        for (std::int64_t c = 0; c < given.extent(0); ++c)
            for (std::int64_t i = 0; i < given.extent(1); ++i)
                sky_(c, i) = Complex<double>(given(c, i).real(), given(c, i).imag());
        without_gil([&] { made(false); });
    }

    std::int64_t kmax() const { return options_.kmax < 0 ? layout_.mmax() : options_.kmax; }
    SignalReport report() const { return named(made(false).report); }
    int threads() const { return samples().options().threads; }
    std::string device() const { return to_string(samples().options().device); }
    const SphereSamples& samples() const {
        const Made& use = made(false);
        return use.displaced ? use.displaced->samples() : use.convolver->samples();
    }
    std::int64_t bytes() const {
        const std::lock_guard lock(mutex_);
        std::int64_t sum = 0;
        for (const auto& each : made_)
            if (each) sum += each->displaced ? each->displaced->bytes() : each->planes->bytes();
        return sum;
    }

    template <class T>
    SignalReport scan(const PointingAngles& theta, const PointingAngles& phi, const PointingAngles& psi,
                      const OptionalPointingAngles& hwp, const Table<T>& tod) const {
        const auto to = view_of<2>(tod);
        const auto where = views(theta, phi, psi, hwp);
        return without_gil([&] {
            const Made& use = made(hwp.has_value());
            if (use.displaced)
                use.displaced->scan<T>(where, to);
            else
                use.convolver->scan<T>(*use.planes, where.pointings(*use.convolver), to);
            return named(use.report);
        });
    }
    template <class T>
    void adjoint(const Table<const T>& tod, const PointingAngles& theta, const PointingAngles& phi,
                 const PointingAngles& psi, const OptionalPointingAngles& hwp,
                 const Table<Complex<T>>& sky) const {
        const auto from = view_of<2>(tod);
        const auto to = view_of<2>(sky);
        const auto where = views(theta, phi, psi, hwp);
        without_gil([&] {
            const Made& use = made(hwp.has_value());
            if (use.displaced)
                use.displaced->adjoint<T>(where, from, to);
            else
                use.convolver->adjoint<T>(where.pointings(*use.convolver), from, to);
        });
    }

  private:
    struct Made {
        std::optional<BeamConvolver> convolver;  ///< and its planes, or else displaced kernels
        std::optional<BeamPlanes> planes;
        std::optional<DisplacedSky> displaced;
        BeamReport report;
    };

    static Directions views(const PointingAngles& theta, const PointingAngles& phi, const PointingAngles& psi,
                            const OptionalPointingAngles& hwp) {
        return {view_of<2>(theta), view_of<2>(phi), view_of<2>(psi),
                hwp ? view_of<2>(*hwp) : View<const double, 2>()};
    }

    const Made& made(bool plate) const {
        const std::lock_guard lock(mutex_);
        auto& kept = made_[plate ? 1 : 0];
        if (!kept) {
            BeamOptions options = options_;
            options.half_wave_plate = plate;
            BeamChoice choice =
                choose_beam_method<double>(layout_, beams_.view(), sky_.view(), options, method_);
            if (choice.method == BeamMethod::displaced) {
                kept.emplace();
                kept->displaced.emplace(std::move(choice.displaced), sky_.view(), range_);
                kept->report = kept->displaced->report();
                return *kept;
            }
            const SphereSamples& samples = choice.harmonic->samples();
            const SampleRows rows =
                range_ ? samples.rows_between(range_->first, range_->second) : samples.all_rows();
            BeamReport report;
            BeamPlanes planes = choice.harmonic->make_planes<double>(sky_.view(), rows, &report);
            kept.emplace(Made{std::move(choice.harmonic), std::move(planes), {}, report});
        }
        return *kept;
    }

    const AlmLayout layout_;
    const Array<Complex<double>, 3> beams_;
    Array<Complex<double>, 2> sky_;
    const BeamOptions options_;
    const ThetaRange range_;
    const BeamMethod method_;
    mutable std::mutex mutex_;
    mutable std::optional<Made> made_[2];  ///< without a plate, and with one
};

/// How many orders a beam has.
struct BeamOrders {
    std::int64_t kmax = 0;
    double left_out = 0;
};

template <class T>
void define_calls(nb::class_<Beams>& beams) {
    beams
        .def(
            "__init__",
            [](Beams* self, const Table<const Complex<T>>& sky,
               const HostArrayOfRank<const Complex<double>, 3>& given, std::int64_t lmax, std::int64_t kmax,
               double error, std::int64_t n_pointings, const Beams::ThetaRange& range, int threads,
               const std::string& method, const std::string& device) {
                const BeamOptions options{.kmax = kmax,
                                          .error = error,
                                          .n_pointings = n_pointings,
                                          .threads = threads,
                                          .device = parse_device(device)};
                new (self) Beams(sky, given, lmax, options, range, method_named(method));
            },
            nb::arg("sky").noconvert(), nb::arg("beams"), nb::arg("lmax"), nb::arg("kmax"), nb::arg("error"),
            nb::arg("n_pointings"), nb::arg("theta_range").none(), nb::arg("threads"), nb::arg("method"),
            nb::arg("device"))
        .def("scan", &Beams::scan<T>, nb::arg("theta"), nb::arg("phi"), nb::arg("psi"), nb::arg("hwp").none(),
             nb::arg("tod").noconvert())
        .def("adjoint", &Beams::adjoint<T>, nb::arg("tod").noconvert(), nb::arg("theta"), nb::arg("phi"),
             nb::arg("psi"), nb::arg("hwp").none(), nb::arg("sky").noconvert());
}

}  // namespace

void bind_beams(nb::module_& module) {
    Report<SignalReport>(module, "BeamReport",
                         "How far detectors' signals are from what their beams would measure.")
        .field("bound", &SignalReport::bound,
               "At least max |error| / max |signal|, over all directions and orientations: for every sky, or "
               "of displaced kernels for skies with the spectrum of this one.")
        .field("mean_error", &SignalReport::mean_error,
               "rms(error) / rms(signal) over all pointings, of this sky; the largest of all detectors.")
        .field("left_out", &SignalReport::left_out,
               "rms(signal of the beam's orders above kmax) / rms(signal), of this sky; the largest of all "
               "detectors.")
        .field("method", &SignalReport::method, "harmonic or displaced.")
        .field("kernels", &SignalReport::kernels,
               "Radial kernels of a displaced beam, the most of all detectors; else 0.");
    Report<BeamOrders>(module, "BeamOrders", "How many orders a beam's coefficients have.")
        .field("kmax", &BeamOrders::kmax, "The highest order.")
        .field("left_out", &BeamOrders::left_out, "Norm of the orders above kmax over that of the beam.");

    nb::class_<Beams> beams(module, "Beams");
    define_calls<double>(beams);
    define_calls<float>(beams);
    beams.def_prop_ro("bytes", &Beams::bytes)
        .def_prop_ro("kmax", &Beams::kmax)
        .def_prop_ro("method", [](const Beams& b) { return b.report().method; })
        .def_prop_ro("kernels", [](const Beams& b) { return b.report().kernels; })
        .def_prop_ro("bound", [](const Beams& b) { return b.report().bound; })
        .def_prop_ro("threads", &Beams::threads)
        .def_prop_ro("device", &Beams::device)
        .def_prop_ro("n_samples", [](const Beams& b) { return b.samples().n_samples(); })
        .def_prop_ro("width", [](const Beams& b) { return b.samples().width(); });

    module.def(
        "elliptical_beam",
        [](double fwhm, double ellipticity, std::int64_t lmax, double orientation,
           std::optional<double> polarization, double efficiency, double error, int threads) {
            const EllipticalBeamOptions options{.lmax = lmax,
                                                .fwhm = fwhm,
                                                .ellipticity = ellipticity,
                                                .orientation = orientation,
                                                .polarized = polarization.has_value(),
                                                .polarization = polarization.value_or(0),
                                                .efficiency = efficiency,
                                                .error = error,
                                                .threads = threads};
            BeamAlm beam = without_gil([&] { return elliptical_beam(options); });
            const BeamOrders orders{beam.layout.mmax(), beam.left_out};
            return std::pair(to_numpy(std::move(beam.alm)), orders);
        },
        nb::arg("fwhm"), nb::arg("ellipticity"), nb::arg("lmax"), nb::arg("orientation"),
        nb::arg("polarization").none(), nb::arg("efficiency"), nb::arg("error"), nb::arg("threads"));
}

}  // namespace zonal::python
