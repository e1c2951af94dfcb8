#include "zonal/distributed/plan.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "distributed/agreement.hpp"
#include "distributed/transport.hpp"
#include "files.hpp"
#include "mpi/transport.hpp"
#include "reports.hpp"
#include "sky_maps.hpp"
#include "sky_spectra.hpp"
#include "transform.hpp"
#include "zonal/distributed/convolution.hpp"
#include "zonal/distributed/points.hpp"
#include "zonal/io/cost_model.hpp"
#include "zonal/io/parts.hpp"
#include "zonal/planning/map_smoothing.hpp"
#include "zonal/sky/realization.hpp"
#include "zonal/window.hpp"

namespace zonal::python {
namespace {

/// The ranks that make the same calls together. Every call without the GIL.
class Ranks {
  public:
    Ranks(nb::object mpi, nb::object communicator, std::int64_t longest_message, bool with_thread)
        : communicator_(
              connect_mpi4py(std::move(mpi), std::move(communicator), longest_message, with_thread)) {}

    const Communicator& communicator() const { return communicator_; }

    /// Throws on all ranks if one brings an error, of a kind "argument", "cancelled" or "other". argument,
    /// value: of the error, if it says them. error: what is required, or the whole message where there is no
    /// argument.
    void agree(const std::string& call, const std::string& kind, const std::string& argument,
               const std::optional<std::string>& value, const std::string& error) const {
        without_gil(nb::none(), [&](const Progress&) {
            std::exception_ptr what;
            if (kind == "argument")
                what = std::make_exception_ptr(InvalidArgument({argument, value, error}));
            else if (kind == "cancelled")
                what = std::make_exception_ptr(Cancelled(error));
            else if (!kind.empty())
                what = std::make_exception_ptr(Error(error));
            distributed::agree(*communicator_.transport(), call, what);
        });
    }
    std::vector<nb::bytes> gather(const nb::bytes& mine) const {
        const std::string bytes(mine.c_str(), mine.size());
        const auto all = without_gil(
            nb::none(), [&](const Progress&) { return communicator_.transport()->gather(bytes); });
        std::vector<nb::bytes> found;
        for (const auto& one : all) found.emplace_back(one.data(), one.size());
        return found;
    }
    /// Sends bytes to a rank, and returns when they have left.
    void send(const HostArrayOfRank<const std::uint8_t, 1>& bytes, int to) const {
        const std::span all(bytes.data(), bytes.size());
        without_gil(nb::none(), [&](const Progress&) {
            communicator_.transport()->exchange({{to, std::as_bytes(all)}}, {})->wait();
        });
    }
    void receive(const HostArrayOfRank<std::uint8_t, 1>& bytes, int from) const {
        const std::span all(bytes.data(), bytes.size());
        without_gil(nb::none(), [&](const Progress&) {
            communicator_.transport()->exchange({}, {{from, std::as_writable_bytes(all)}})->wait();
        });
    }

    /// wanted: "auto", "cpu" or "cuda".
    std::string own_device(const std::string& wanted) const {
        const auto kind = wanted == "cpu"    ? Device::Kind::cpu
                          : wanted == "cuda" ? Device::Kind::cuda
                                             : Device::Kind::automatic;
        return without_gil(nb::none(),
                           [&](const Progress&) { return to_string(communicator_.own_device(kind)); });
    }

    std::vector<double> measured_speeds(const Grid& grid, std::int64_t lmax, int threads,
                                        const std::string& device) const {
        return without_gil(nb::none(), [&](const Progress&) {
            return io::measured_speeds(communicator_, grid, lmax, threads, parse_device(device));
        });
    }

  private:
    Communicator communicator_;
};

class DistributedTransform {
  public:
    DistributedTransform(const Ranks& ranks, const Grid& grid, std::int64_t lmax, std::int64_t mmax, int spin,
                         int threads, std::vector<double> speeds, const std::string& device)
        : communicator_(ranks.communicator()),
          plan_(without_gil(nb::none(),
                            [&](const Progress&) {
                                return DistributedPlan(communicator_, grid,
                                                       {{.lmax = lmax,
                                                         .mmax = mmax,
                                                         .spin = spin,
                                                         .threads = threads,
                                                         .device = parse_device(device)},
                                                        std::move(speeds)});
                            })),
          transform_(&plan_.local()) {}

    const DistributedPlan& plan() const { return plan_; }
    const Transform& transform() const { return transform_; }
    const AlmLayout& layout() const { return plan_.local().layout(); }

    template <class T>
    void realize(const SkySpectra& spectra, std::uint64_t seed,
                 const HostArrayOfRank<Complex<T>, 2>& alm) const {
        without_gil(nb::none(), [&](const Progress&) {
            zonal::realize<T>(spectra, seed, layout(), view_of<2>(alm), plan_.local().options().threads);
        });
    }
    template <class T>
    void apply_beam(const Beam& beam, const HostArrayOfRank<Complex<T>, 2>& alm) const {
        zonal::apply_beam<T>(layout(), beam, view_of<2>(alm));
    }
    /// Spectra of the coefficients of all ranks.
    template <class T>
    Spectra spectra(const HostArrayOfRank<const Complex<T>, 2>& first,
                    const std::optional<HostArrayOfRank<const Complex<T>, 2>>& second) const {
        return to_dict(without_gil(nb::none(), [&](const Progress&) {
            auto found = second ? zonal::spectra<T>(layout(), view_of<2>(first), view_of<2>(*second))
                                : zonal::spectra<T>(layout(), view_of<2>(first));
            for (auto& one : found) one.values = communicator_.sum(one.values);
            return found;
        }));
    }

    template <class T>
    auto cross_spectra(const HostArrayOfRank<const Complex<T>, 2>& alm) const {
        return to_numpy(without_gil(nb::none(), [&](const Progress&) {
            return zonal::cross_spectra<T>(communicator_, layout(), view_of<2>(alm));
        }));
    }

  private:
    Communicator communicator_;
    DistributedPlan plan_;
    Transform transform_;
};

/// A sky that is divided among the ranks: its files, and its convolutions.
class DividedSky {
  public:
    DividedSky(const Ranks& ranks, const Grid& grid, std::int64_t lmax, std::int64_t mmax, int threads,
               const std::vector<double>& speeds, const std::string& device)
        : sky_(reading([&] {
              return DistributedSky(ranks.communicator(), grid, lmax, mmax, threads, speeds,
                                    parse_device(device));
          })) {}

    const DistributedSky& sky() const { return sky_; }

    FileContent read_map(const std::string& path, const std::string& hdu,
                         const std::vector<std::string>& fields, bool auxiliary,
                         std::optional<bool> polarized, std::optional<bool> nest_if_absent,
                         bool nan_is_unseen) const {
        const auto options =
            reading_options(hdu, fields, auxiliary, polarized, nest_if_absent, nan_is_unseen);
        return content_of(reading([&] { return io::read_sky_part(path, sky_, options); }));
    }
    void write_map(const std::string& path, const HostArrayOfRank<const double, 2>& values,
                   const Pixelization& pixels, const MapMetadata& metadata, bool overwrite) const {
        reading([&] {
            std::optional<SkyMap> map;
            sky_.ranks().together("writing " + path, [&] {
                map.emplace(header_of(pixels, metadata.fields, values.shape(0)), sky_.part());
                map->set_rows<double>(view_of<2>(values));
                describe(*map, metadata);
            });
            io::write_sky_part(path, *map, sky_, {.overwrite = overwrite});
        });
    }
    /// The components of this rank's part.
    nb::typed<nb::list, nb::ndarray<nb::numpy, Complex<double>, nb::ndim<1>>> read_alm(
        const std::string& path) const {
        auto file = reading([&] { return io::read_alm_part(path, sky_.layout(), sky_.ranks()); });
        nb::typed<nb::list, nb::ndarray<nb::numpy, Complex<double>, nb::ndim<1>>> components;
        for (auto& component : file.components) components.append(to_numpy(std::move(component)));
        return components;
    }
    void write_alm(const std::string& path, const HostArrayOfRank<const std::complex<double>, 2>& alm,
                   bool single, const std::string& unit, bool overwrite) const {
        reading([&] {
            const auto rows = view_of<2>(alm);
            io::AlmFile file{.layout = sky_.layout(),
                             .precision = single ? FilePrecision::float32 : FilePrecision::float64,
                             .unit = unit};
            for (std::int64_t row = 0; row < rows.extent(0); ++row)
                file.components.emplace_back(&rows(row, 0), &rows(row, 0) + rows.extent(1));
            io::write_alm_part(path, file, sky_.ranks(), {.overwrite = overwrite});
        });
    }

    /// With a window where there are no kernels, else with those.
    template <class T>
    std::vector<SmoothedPart> smooth(const HostArrayOfRank<const T, 2>& maps, const Pixelization& pixels,
                                     const std::string& fields, const SmoothingWindow& window,
                                     const std::vector<RadialKernel>& kernels, MapSmoothingOptions options,
                                     const std::optional<HostArrayOfRank<const double, 1>>& mask,
                                     const HostArrayOfRank<T, 2>& out, nb::handle progress) const {
        options.device = Device::cpu();
        if (mask) options.mask = view_of<1>(*mask);
        if (sizeof(T) == sizeof(float)) options.output_rounding = 0x1p-24;
        return without_gil(progress, [&](const Progress& report) {
            options.progress = report;
            std::optional<SkyMap> map;
            sky_.ranks().together("the map to be smoothed", [&] {
                map.emplace(header_of(pixels, fields, maps.shape(0)), sky_.part());
                map->set_rows<T>(view_of<2>(maps), options.threads);
            });
            auto smoothed = kernels.empty() ? zonal::smooth(std::move(*map), window, options)
                                            : convolve(std::move(*map), kernels, options);
            smoothed.map.template copy_rows<T>(view_of<2>(out), options.threads);
            return std::move(smoothed.parts);
        });
    }

  private:
    DistributedSky sky_;
};

/// Sums over the pixels of a sky that is divided among the ranks.
class RankConvolution {
  public:
    RankConvolution(const DividedSky& sky, const RadialKernel& kernel, const PixelConvolutionOptions& options)
        : plan_(without_gil([&] { return DistributedPixelConvolutionPlan(sky.sky(), kernel, options); })) {}

    /// maps, convolved: [map, pixel]
    template <class T>
    void convolve(const AnyArray<const T>& maps, const AnyArray<T>& convolved, nb::handle progress) {
        const auto from = rows_of(maps);
        const auto to = rows_of(convolved);
        without_gil(progress, [&](const Progress& report) {
            plan_.sky().ranks().together("a convolution", [&] { require_apart(from, to); });
            plan_.convolve<T>(from, to, report);
        });
    }

  private:
    DistributedPixelConvolutionPlan plan_;
};

template <class T>
void define_convolve(nb::class_<RankConvolution>& convolution) {
    convolution.def("convolve", &RankConvolution::convolve<T>, nb::arg("maps").noconvert(),
                    nb::arg("convolved").noconvert(), nb::arg("progress").none());
}

/// A transform at points, whose alm a divided sky has.
class RankPoints {
  public:
    RankPoints(const DividedSky& sky, const HostArrayOfRank<const double, 1>& theta,
               const HostArrayOfRank<const double, 1>& phi, int spin, double error)
        : transform_(without_gil([&] {
              const AlmLayout layout = sky.sky().layout();
              std::vector<std::int64_t> orders;
              for (std::int64_t k = 0; k < layout.n_orders(); ++k) orders.push_back(layout.order(k));
              return DistributedPointTransform(sky.sky().ranks(), orders, view_of<1>(theta), view_of<1>(phi),
                                               {.lmax = layout.lmax(),
                                                .mmax = layout.mmax(),
                                                .spin = spin,
                                                .error = error,
                                                .threads = sky.sky().threads()});
          })) {}

    const DistributedPointTransform& transform() const { return transform_; }

    template <class T>
    void synthesize(const HostArray<const Complex<T>>& alm, const HostArray<T>& values) {
        const auto from = batch(alm);
        const auto to = batch(values);
        without_gil([&] { transform_.synthesize<T>(from, to); });
    }
    template <class T>
    void adjoint(const HostArray<const T>& values, const HostArray<Complex<T>>& alm) {
        const auto from = batch(values);
        const auto to = batch(alm);
        without_gil([&] { transform_.adjoint<T>(from, to); });
    }

  private:
    template <class T>
    View<T, 3> batch(const HostArray<T>& array) const {
        return batch_of(array, transform_.samples().components() == 2);
    }

    DistributedPointTransform transform_;
};

template <class T>
void define_calls(nb::class_<RankPoints>& points) {
    points.def("synthesize", &RankPoints::synthesize<T>, nb::arg().noconvert(), nb::arg().noconvert())
        .def("adjoint", &RankPoints::adjoint<T>, nb::arg().noconvert(), nb::arg().noconvert());
}

template <class T>
void define_calls(nb::class_<DistributedTransform>& transform) {
    transform.def("realize", &DistributedTransform::realize<T>, nb::arg(), nb::arg(), nb::arg().noconvert())
        .def("apply_beam", &DistributedTransform::apply_beam<T>, nb::arg(), nb::arg().noconvert())
        .def("spectra", &DistributedTransform::spectra<T>, nb::arg().noconvert(),
             nb::arg().noconvert().none())
        .def("cross_spectra", &DistributedTransform::cross_spectra<T>, nb::arg().noconvert());
}

}  // namespace

void bind_distributed(nb::module_& module) {
    Report<RankShare>(module, "RankShare", "What one rank has of a transform of one map.")
        .field("n_pixels", &RankShare::n_pixels)
        .field("n_coefficients", &RankShare::n_coefficients)
        .field("legendre_flops", &RankShare::legendre_flops,
               "Floating point operations of the Legendre stage.")
        .field("ring_flops", &RankShare::ring_flops, "Those of the stage of the rings.")
        .field("bytes_sent", &RankShare::bytes_sent, "To other ranks in a synthesis.");

    nb::class_<Ranks>(module, "Ranks")
        .def(nb::init<nb::object, nb::object, std::int64_t, bool>())
        .def("agree", &Ranks::agree)
        .def("gather", &Ranks::gather)
        .def("own_device", &Ranks::own_device)
        .def("measured_speeds", &Ranks::measured_speeds)
        .def("send", &Ranks::send, nb::arg().noconvert(), nb::arg())
        .def("receive", &Ranks::receive, nb::arg().noconvert(), nb::arg());

    nb::class_<DividedSky>(module, "DividedSky")
        .def(nb::init<const Ranks&, const Grid&, std::int64_t, std::int64_t, int, const std::vector<double>&,
                      const std::string&>())
        .def("read_map", &DividedSky::read_map, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(),
             nb::arg().none(), nb::arg())
        .def("write_map", &DividedSky::write_map, nb::arg(), nb::arg().noconvert(), nb::arg(), nb::arg(),
             nb::arg())
        .def("read_alm", &DividedSky::read_alm)
        .def("smooth", &DividedSky::smooth<double>, nb::arg().noconvert(), nb::arg(), nb::arg(), nb::arg(),
             nb::arg(), nb::arg(), nb::arg().none(), nb::arg().noconvert(), nb::arg().none())
        .def("smooth", &DividedSky::smooth<float>, nb::arg().noconvert(), nb::arg(), nb::arg(), nb::arg(),
             nb::arg(), nb::arg(), nb::arg().none(), nb::arg().noconvert(), nb::arg().none())
        .def("write_alm", &DividedSky::write_alm, nb::arg(), nb::arg().noconvert(), nb::arg(), nb::arg(),
             nb::arg());

    nb::class_<RankConvolution> convolution(module, "RankConvolution");
    convolution.def("__init__", [](RankConvolution* self, const DividedSky& sky, const RadialKernel& kernel,
                                   bool sums, bool single, double accuracy) {
        new (self) RankConvolution(sky, kernel,
                                   {.method = sums ? PixelMethod::pixel_sum : PixelMethod::ring_fft,
                                    .precision = single ? Precision::float32 : Precision::float64,
                                    .accuracy = accuracy});
    });
    define_convolve<double>(convolution);
    define_convolve<float>(convolution);

    nb::class_<RankPoints> points(module, "RankPoints");
    points
        .def(nb::init<const DividedSky&, const HostArrayOfRank<const double, 1>&,
                      const HostArrayOfRank<const double, 1>&, int, double>())
        .def_prop_ro("bound", [](const RankPoints& p) { return p.transform().samples().bound(); })
        .def_prop_ro("n_samples", [](const RankPoints& p) { return p.transform().samples().n_samples(); })
        .def_prop_ro("width", [](const RankPoints& p) { return p.transform().samples().width(); });
    define_calls<double>(points);
    define_calls<float>(points);

    nb::class_<DistributedTransform> transform(module, "DistributedTransform");
    transform
        .def(nb::init<const Ranks&, const Grid&, std::int64_t, std::int64_t, int, int, std::vector<double>,
                      const std::string&>())
        .def_prop_ro("local", &DistributedTransform::transform, nb::rv_policy::reference_internal)
        .def_prop_ro("exchange", [](const DistributedTransform& t) { return t.plan().exchange().text(); })
        .def("pixel_ranges",
             [](const DistributedTransform& t) {
                 std::vector<std::pair<std::int64_t, std::int64_t>> ranges;
                 for (const auto& range : t.plan().pixels()) ranges.emplace_back(range.first, range.end);
                 return ranges;
             })
        .def("orders",
             [](const DistributedTransform& t) {
                 const auto orders = t.plan().orders();
                 return to_numpy(std::vector<std::int64_t>(orders.begin(), orders.end()));
             })
        .def_prop_ro("n_pixels",
                     [](const DistributedTransform& t) { return t.plan().local().grid().n_pixels(); })
        .def_prop_ro("speeds", [](const DistributedTransform& t) { return t.plan().speeds(); })
        .def_prop_ro("shares", [](const DistributedTransform& t) { return t.plan().shares(); });
    define_calls<double>(transform);
    define_calls<float>(transform);
}

}  // namespace zonal::python
