#include <algorithm>
#include <complex>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"
#include "reports.hpp"
#include "transform.hpp"
#include "zonal/beams/convolver.hpp"
#include "zonal/beams/elliptical.hpp"

namespace zonal::python {
namespace {

template <class T>
using Table = HostArrayOfRank<T, 2>;
using PointingAngles = Table<const double>;
using OptionalPointingAngles = std::optional<PointingAngles>;

/// A copy that outlives what a caller does to the array.
template <class T, int N>
Array<T, N> copy_of(const View<const T, N>& from) {
    Array<T, N> made(from.extents());
    std::int64_t i = 0;
    if constexpr (N == 2) {
        for (std::int64_t a = 0; a < from.extent(0); ++a)
            for (std::int64_t b = 0; b < from.extent(1); ++b) made.data()[i++] = from(a, b);
    } else {
        for (std::int64_t a = 0; a < from.extent(0); ++a)
            for (std::int64_t b = 0; b < from.extent(1); ++b)
                for (std::int64_t c = 0; c < from.extent(2); ++c) made.data()[i++] = from(a, b, c);
    }
    return made;
}

/// Beams and a sky. What a half-wave plate needs is made when it is first asked for.
class Beams {
  public:
    using ThetaRange = std::optional<std::pair<double, double>>;

    template <class T>
    Beams(const Table<const Complex<T>>& sky, const HostArrayOfRank<const Complex<double>, 3>& beams,
          std::int64_t lmax, const BeamOptions& options, const ThetaRange& range)
        : layout_(beam_layout(lmax, static_cast<std::int64_t>(beams.shape(2)))),
          beams_(copy_of(view_of<3>(beams))),
          options_(options),
          range_(range) {
        const auto given = view_of<2>(sky);
        sky_ = Array<Complex<double>, 2>(given.extents());
        for (std::int64_t c = 0; c < given.extent(0); ++c)
            for (std::int64_t i = 0; i < given.extent(1); ++i)
                sky_(c, i) = Complex<double>(given(c, i).real(), given(c, i).imag());
        without_gil([&] { made(false); });
    }

    const BeamConvolver& convolver() const { return made(false).convolver; }
    std::int64_t bytes() const {
        const std::lock_guard lock(mutex_);
        std::int64_t sum = 0;
        for (const auto& each : made_)
            if (each) sum += each->planes.bytes();
        return sum;
    }

    template <class T>
    BeamReport scan(const PointingAngles& theta, const PointingAngles& phi, const PointingAngles& psi,
                    const OptionalPointingAngles& hwp, const Table<T>& tod) const {
        const auto to = view_of<2>(tod);
        const auto where = views(theta, phi, psi, hwp);
        return without_gil([&] {
            const Made& use = made(hwp.has_value());
            use.convolver.scan<T>(use.planes, where.pointings(use.convolver), to);
            return use.report;
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
            use.convolver.adjoint<T>(where.pointings(use.convolver), from, to);
        });
    }

  private:
    struct Made {
        BeamConvolver convolver;
        BeamPlanes planes;
        BeamReport report;
    };
    struct Where {
        View<const double, 2> theta, phi, psi, hwp;
        Pointings pointings(const BeamConvolver& convolver) const {
            return {convolver, theta, phi, psi, hwp};
        }
    };

    static Where views(const PointingAngles& theta, const PointingAngles& phi, const PointingAngles& psi,
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
            BeamConvolver convolver(layout_, beams_.view(), options);
            const SphereSamples& samples = convolver.samples();
            const SampleRows rows =
                range_ ? samples.rows_between(range_->first, range_->second) : samples.all_rows();
            BeamReport report;
            BeamPlanes planes = convolver.make_planes<double>(sky_.view(), rows, &report);
            kept.emplace(Made{std::move(convolver), std::move(planes), report});
        }
        return *kept;
    }

    const AlmLayout layout_;
    const Array<Complex<double>, 3> beams_;
    Array<Complex<double>, 2> sky_;
    const BeamOptions options_;
    const ThetaRange range_;
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
               double error, std::int64_t n_pointings, const Beams::ThetaRange& range, int threads) {
                new (self) Beams(
                    sky, given, lmax,
                    {.kmax = kmax, .error = error, .n_pointings = n_pointings, .threads = threads}, range);
            },
            nb::arg("sky").noconvert(), nb::arg("beams"), nb::arg("lmax"), nb::arg("kmax"), nb::arg("error"),
            nb::arg("n_pointings"), nb::arg("theta_range").none(), nb::arg("threads"))
        .def("scan", &Beams::scan<T>, nb::arg("theta"), nb::arg("phi"), nb::arg("psi"), nb::arg("hwp").none(),
             nb::arg("tod").noconvert())
        .def("adjoint", &Beams::adjoint<T>, nb::arg("tod").noconvert(), nb::arg("theta"), nb::arg("phi"),
             nb::arg("psi"), nb::arg("hwp").none(), nb::arg("sky").noconvert());
}

}  // namespace

void bind_beams(nb::module_& module) {
    Report<BeamReport>(module, "BeamReport",
                       "How far detectors' signals are from what their beams would measure.")
        .field("bound", &BeamReport::bound,
               "At least max |error| / max |signal|, over all directions and orientations, for every sky.")
        .field("mean_error", &BeamReport::mean_error,
               "rms(error) / rms(signal) over all pointings, of this sky; the largest of all detectors.")
        .field("left_out", &BeamReport::left_out,
               "rms(signal of the beam's orders above kmax) / rms(signal), of this sky; the largest of all "
               "detectors.");
    Report<BeamOrders>(module, "BeamOrders", "How many orders a beam's coefficients have.")
        .field("kmax", &BeamOrders::kmax, "The highest order.")
        .field("left_out", &BeamOrders::left_out, "Norm of the orders above kmax over that of the beam.");

    nb::class_<Beams> beams(module, "Beams");
    define_calls<double>(beams);
    define_calls<float>(beams);
    beams.def_prop_ro("bytes", &Beams::bytes)
        .def_prop_ro("kmax", [](const Beams& b) { return b.convolver().options().kmax; })
        .def_prop_ro("bound", [](const Beams& b) { return b.convolver().bound(); })
        .def_prop_ro("threads", [](const Beams& b) { return b.convolver().options().threads; })
        .def_prop_ro("n_samples", [](const Beams& b) { return b.convolver().samples().n_samples(); })
        .def_prop_ro("width", [](const Beams& b) { return b.convolver().samples().width(); });

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
