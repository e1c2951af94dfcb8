#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"
#include "spectra/bands.hpp"
#include "zonal/grid.hpp"
#include "zonal/spectra/band_covariance.hpp"
#include "zonal/spectra/bins.hpp"
#include "zonal/spectra/decoupling.hpp"
#include "zonal/spectra/estimate.hpp"

namespace zonal::python {
namespace {

BandsOf bands_of(bool dl) {
    return dl ? BandsOf::d_l : BandsOf::c_l;
}

Bins bins_of_rows(const HostArrayOfRank<const double, 2>& weights, bool dl) {
    const auto rows = view_of<2>(weights);
    std::vector<Band> bands;
    for (std::int64_t b = 0; b < rows.extent(0); ++b) {
        Band band;
        std::int64_t end = rows.extent(1);
        while (end > 0 && rows(b, end - 1) == 0) --end;
        while (band.first < end && rows(b, band.first) == 0) ++band.first;
        for (std::int64_t l = band.first; l < end; ++l) band.weights.push_back(rows(b, l));
        bands.push_back(std::move(band));
    }
    return Bins(std::move(bands), bands_of(dl));
}

/// weights: [degree], of all bands.
Bins bins_of_ranges(const std::vector<std::int64_t>& first, const std::vector<std::int64_t>& last,
                    const std::vector<double>& weights, bool dl) {
    std::vector<Band> bands;
    bands.reserve(first.size());
    for (std::size_t b = 0; b < first.size(); ++b)
        bands.push_back({first[b], {weights.begin() + first[b], weights.begin() + last[b] + 1}});
    return Bins(std::move(bands), bands_of(dl));
}

auto weights_of_bins(const Bins& bins) {
    Array<double, 2> rows({bins.size(), bins.lmax() + 1});
    for (std::int64_t b = 0; b < bins.size(); ++b) {
        const Band& band = bins.bands()[static_cast<std::size_t>(b)];
        for (std::int64_t l = band.first; l <= band.last(); ++l)
            rows(b, l) = band.weights[static_cast<std::size_t>(l - band.first)];
    }
    return array_of<2>(std::move(rows));
}

auto degrees_of_bins(const Bins& bins, bool last) {
    std::vector<std::int64_t> degrees;
    for (const Band& band : bins.bands()) degrees.push_back(last ? band.last() : band.first);
    return to_numpy(std::move(degrees));
}

template <int N>
auto array_over(const Array<double, N>& values, nb::handle owner) {
    std::vector<std::size_t> shape;
    for (const auto extent : values.extents()) shape.push_back(static_cast<std::size_t>(extent));
    return nb::ndarray<nb::numpy, double>(const_cast<double*>(values.data()), shape.size(), shape.data(),
                                          owner);
}

using Vector = HostArrayOfRank<const double, 1>;
/// Maps, mask, transfer, variance, and N_l.
using Part = std::tuple<HostArrayOfRank<const double, 2>, Vector, std::vector<double>, std::optional<Vector>,
                        std::vector<std::vector<double>>>;
/// Grid, parts, and whether they are masked.
using Field = std::tuple<Grid, std::vector<Part>, bool>;

MaskedField field_of(const Field& given) {
    const auto& [grid, parts, masked] = given;
    MaskedField field{grid, {}, masked};
    for (const auto& [maps, mask, transfer, variance, noise] : parts)
        field.parts.push_back({view_of<2>(maps), view_of<1>(mask), transfer,
                               variance ? view_of<1>(*variance) : View<const double, 1>(), noise});
    return field;
}

/// [value, value] of the bands of an estimate that repeat no other ones, or empty where no theory is given.
Array<double, 2> covariance_of(const std::vector<MaskedField>& fields, const BandEstimate& estimate,
                               const std::optional<View<const double, 3>>& theory,
                               const CovarianceOptions& options, CovarianceReport& report) {
    if (!theory) return Array<double, 2>({0, 0});
    std::int64_t n_values = 0;
    for (const auto& block : estimate.blocks) n_values += block.bands.size();
    Array<double, 2> covariance({n_values, n_values});
    report = band_covariance(fields, estimate, *theory, covariance.view(), options);
    return distinct_covariance(estimate, std::as_const(covariance).view());
}

using Blocks = nb::typed<nb::list, nb::any>;
/// Blocks, W_L, the number of each part's mask, notes, the covariance of the bands for the theory [3, 3, l]
/// of T, E and B, and what it left out of the sky.
std::tuple<Blocks, nb::ndarray<nb::numpy, double>, std::vector<std::vector<std::int64_t>>,
           std::vector<std::string>, nb::ndarray<nb::numpy, double>,
           std::tuple<std::int64_t, std::int64_t, double>>
estimated(const std::vector<Field>& given, const Bins& bins, std::int64_t lmax_sky,
          std::optional<bool> low_degrees, const std::optional<HostArrayOfRank<const double, 3>>& theory,
          std::int64_t exact_lmax, int threads, const std::string& device) {
    std::vector<MaskedField> fields;
    for (const auto& one : given) fields.push_back(field_of(one));
    std::optional<View<const double, 3>> c_l;
    if (theory) c_l = view_of<3>(*theory);
    CovarianceReport report;
    Array<double, 2> covariance;
    const Device on = parse_device(device);
    auto found = without_gil([&] {
        auto made = estimate_bands(fields, bins, {lmax_sky, low_degrees, threads, on});
        covariance = covariance_of(fields, made, c_l, {exact_lmax, -1, threads}, report);
        return made;
    });
    Blocks blocks;
    std::vector<std::string> notes;
    for (auto& block : found.blocks) {
        const auto& note = block.decoupling->note;
        if (!note.empty() && std::find(notes.begin(), notes.end(), note) == notes.end())
            notes.push_back(note);
        blocks.append(block_of(block));
    }
    return {blocks,
            array_of<3>(std::move(found.mask_spectra)),
            found.mask_of,
            notes,
            array_of<2>(std::move(covariance)),
            {report.exact_lmax, report.exact_sky_lmax, report.lost_share}};
}

}  // namespace

nb::tuple block_of(SpectraBlock& block) {
    auto* const shared = new std::shared_ptr<const Decoupling>(block.decoupling);
    const nb::capsule owner(
        shared, [](void* p) noexcept { delete static_cast<std::shared_ptr<const Decoupling>*>(p); });
    const auto& matrix = block.decoupling->matrix;
    return nb::make_tuple(nb::make_tuple(block.first, block.second), nb::tuple(nb::cast(block.names)),
                          array_of<2>(std::move(block.pseudo)), array_of<2>(std::move(block.noise)),
                          array_of<2>(std::move(block.bands)),
                          matrix.size() > 0 ? nb::cast(array_over(matrix, owner)) : nb::none(),
                          array_over(block.decoupling->windows, owner), block.decoupling->condition,
                          block.decoupling->low_degrees);
}

void bind_band_powers(nb::module_& module) {
    nb::class_<Bins>(module, "Bins")
        .def_static("linear", [](std::int64_t width, std::int64_t lmin, std::int64_t lmax,
                                 bool dl) { return Bins::linear(width, lmin, lmax, bands_of(dl)); })
        .def_static("edges", [](const std::vector<std::int64_t>& edges,
                                bool dl) { return Bins::edges(edges, bands_of(dl)); })
        .def_static("logarithmic", [](std::int64_t n, std::int64_t lmin, std::int64_t lmax,
                                      bool dl) { return Bins::logarithmic(n, lmin, lmax, bands_of(dl)); })
        .def_static("of_weights", &bins_of_rows)
        .def_static("of_ranges", &bins_of_ranges)
        .def("weighted", &Bins::weighted)
        .def_prop_ro("size", &Bins::size)
        .def_prop_ro("lmax", &Bins::lmax)
        .def_prop_ro("dl", [](const Bins& bins) { return bins.of() == BandsOf::d_l; })
        .def("weights", &weights_of_bins)
        .def("degrees", &degrees_of_bins)
        .def("effective_degrees", [](const Bins& bins) { return to_numpy(bins.effective_degrees()); })
        .def("binned", [](const Bins& bins, const HostArrayOfRank<const double, 1>& c_l) {
            return to_numpy(bins.binned(view_of<1>(c_l)));
        });
    module.def("lmax_sky_of", &lmax_sky_of, nb::arg(), nb::arg().none());
    module.def("estimate_bands", &estimated);
}

}  // namespace zonal::python
