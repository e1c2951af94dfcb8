#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"
#include "zonal/grid.hpp"
#include "zonal/spectra/covariance.hpp"
#include "zonal/spectra/simulated_spectra.hpp"

namespace zonal::python {
namespace {

using ComponentPairs = std::vector<std::pair<int, int>>;
using ValueWeights = std::optional<HostArrayOfRank<const double, 3>>;

std::vector<ComponentPair> pairs_of(const ComponentPairs& pairs) {
    std::vector<ComponentPair> found;
    found.reserve(pairs.size());
    for (const auto& [first, second] : pairs) found.push_back({first, second});
    return found;
}

/// What a MaskedSky looks at.
struct SkyArrays {
    Grid grid;
    HostArrayOfRank<const double, 2> masks;
    std::vector<MaskedMap> maps;
    HostArrayOfRank<const double, 3> c_l;
    std::optional<HostArrayOfRank<const double, 2>> variances;

    MaskedSky sky() const {
        MaskedSky sky{.grid = grid, .masks = view_of<2>(masks), .maps = maps, .c_l = view_of<3>(c_l)};
        if (variances) sky.variances = view_of<2>(*variances);
        return sky;
    }
};

View<const double, 3> value_weights_of(const ValueWeights& values) {
    return values ? view_of<3>(*values) : View<const double, 3>(nullptr, {0, 0, 0});
}

void mean_spectra_of(const SkyArrays& arrays, const HostArrayOfRank<double, 3>& out, int threads) {
    without_gil([&] { mean_pseudo_spectra(arrays.sky(), view_of<3>(out), threads); });
}

/// exact_lmax, exact_sky_lmax and lost_share of the report.
using ReportParts = std::tuple<std::int64_t, std::int64_t, double>;

ReportParts report_parts_of(const CovarianceReport& report) {
    return {report.exact_lmax, report.exact_sky_lmax, report.lost_share};
}

ReportParts covariance_of_spectra(const SkyArrays& arrays, const ComponentPairs& spectra,
                                  std::int64_t exact_lmax, std::int64_t exact_sky_lmax,
                                  const HostArrayOfRank<double, 4>& out, int threads) {
    return report_parts_of(without_gil([&] {
        return pseudo_covariance(
            arrays.sky(), pairs_of(spectra), view_of<4>(out),
            {.exact_lmax = exact_lmax, .exact_sky_lmax = exact_sky_lmax, .threads = threads});
    }));
}

ReportParts covariance_of_values(const SkyArrays& arrays, const ComponentPairs& spectra,
                                 const HostArrayOfRank<const double, 3>& values, std::int64_t exact_lmax,
                                 std::int64_t exact_sky_lmax, const HostArrayOfRank<double, 2>& out,
                                 int threads) {
    return report_parts_of(without_gil([&] {
        return value_covariance(
            arrays.sky(), pairs_of(spectra), view_of<3>(values), view_of<2>(out),
            {.exact_lmax = exact_lmax, .exact_sky_lmax = exact_sky_lmax, .threads = threads});
    }));
}

std::string note_of_loss(std::int64_t exact_lmax, std::int64_t exact_sky_lmax, double lost_share,
                         const std::string& remedy) {
    return CovarianceReport{exact_lmax, exact_sky_lmax, lost_share}.note_of_loss(remedy);
}

void simulate_skies(const SkyArrays& arrays, const ComponentPairs& spectra, std::int64_t lmax,
                    const ValueWeights& values, std::uint64_t first_seed,
                    const HostArrayOfRank<double, 2>& out, int threads, nb::handle progress) {
    without_gil(progress, [&](const Progress& report) {
        simulate_spectra(arrays.sky(), pairs_of(spectra), lmax, value_weights_of(values), first_seed,
                         view_of<2>(out), threads, report);
    });
}

void covariance_of_samples(const HostArrayOfRank<const double, 2>& samples,
                           const HostArrayOfRank<double, 1>& mean,
                           const HostArrayOfRank<double, 2>& covariance, int threads) {
    without_gil(
        [&] { sample_covariance(view_of<2>(samples), view_of<1>(mean), view_of<2>(covariance), threads); });
}

std::pair<double, double> chi_squared_of(const HostArrayOfRank<const double, 1>& residual,
                                         const HostArrayOfRank<const double, 2>& covariance, double factor) {
    const auto found =
        without_gil([&] { return chi_squared(view_of<1>(residual), view_of<2>(covariance), factor); });
    return {found.value, found.p};
}

}  // namespace

void bind_covariance(nb::module_& module) {
    nb::class_<SkyArrays>(module, "MaskedSky")
        .def(
            "__init__",
            [](SkyArrays* self, const Grid& grid, const HostArrayOfRank<const double, 2>& masks,
               const ComponentPairs& spins_and_masks, const HostArrayOfRank<const double, 3>& c_l,
               const std::optional<HostArrayOfRank<const double, 2>>& variances) {
                std::vector<MaskedMap> maps;
                for (const auto& [spin, mask] : spins_and_masks) maps.push_back({spin, mask});
                new (self) SkyArrays{grid, masks, std::move(maps), c_l, variances};
            },
            nb::arg(), nb::arg().noconvert(), nb::arg(), nb::arg().noconvert(), nb::arg().noconvert().none());
    module.def("mean_pseudo_spectra", &mean_spectra_of, nb::arg(), nb::arg().noconvert(), nb::arg());
    module.def("pseudo_covariance", &covariance_of_spectra, nb::arg(), nb::arg(), nb::arg(), nb::arg(),
               nb::arg().noconvert(), nb::arg());
    module.def("value_covariance", &covariance_of_values, nb::arg(), nb::arg(), nb::arg().noconvert(),
               nb::arg(), nb::arg(), nb::arg().noconvert(), nb::arg());
    module.def("note_of_loss", &note_of_loss);
    module.def("share_of_skies", [](std::int64_t n, int part, int parts) {
        const auto share = share_of_skies(n, part, parts);
        return std::pair(share.first, share.n);
    });
    module.def("simulate_spectra", &simulate_skies, nb::arg(), nb::arg(), nb::arg(),
               nb::arg().noconvert().none(), nb::arg(), nb::arg().noconvert(), nb::arg(), nb::arg().none());
    module.def("sample_covariance", &covariance_of_samples, nb::arg().noconvert(), nb::arg().noconvert(),
               nb::arg().noconvert(), nb::arg());
    module.def("chi_squared", &chi_squared_of, nb::arg().noconvert(), nb::arg().noconvert(), nb::arg());
    module.def("hartlap_factor", &hartlap_factor);
}

}  // namespace zonal::python
