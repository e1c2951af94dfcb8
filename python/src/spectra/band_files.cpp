#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
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
#include "files.hpp"
#include "spectra/bands.hpp"
#include "zonal/io/band_powers.hpp"

namespace zonal::python {
namespace {

template <int N>
using HostValues = HostArrayOfRank<const double, N>;
/// As block_of makes it.
using BlockTuple = std::tuple<std::pair<std::int64_t, std::int64_t>, std::vector<std::string>, HostValues<2>,
                              HostValues<2>, HostValues<2>, nb::object, HostValues<4>, double, bool>;

SpectraBlock spectra_block(const BlockTuple& given) {
    const auto& [fields, names, pseudo, noise, bands, matrix, windows, condition, low_degrees] = given;
    Decoupling decoupling;
    decoupling.windows = copy_of(view_of<4>(windows));
    decoupling.condition = condition;
    decoupling.low_degrees = low_degrees;
    return {fields.first,
            fields.second,
            names,
            copy_of(view_of<2>(pseudo)),
            copy_of(view_of<2>(noise)),
            copy_of(view_of<2>(bands)),
            std::make_shared<const Decoupling>(std::move(decoupling))};
}

/// covariance: of the bands that repeat no other ones.
void write_band_powers(const std::string& path, const Bins& bins, const std::vector<BlockTuple>& blocks,
                       const HostValues<3>& mask_spectra,
                       const std::vector<std::vector<std::int64_t>>& mask_of,
                       const std::optional<HostValues<2>>& covariance, const std::vector<std::string>& units,
                       bool overwrite) {
    reading([&] {
        io::BandPowersFile file{bins};
        file.estimate.blocks.reserve(blocks.size());
        for (const auto& block : blocks) file.estimate.blocks.push_back(spectra_block(block));
        file.estimate.mask_spectra = copy_of(view_of<3>(mask_spectra));
        file.estimate.mask_of = mask_of;
        if (covariance) file.covariance = copy_of(view_of<2>(*covariance));
        file.units = units;
        io::write_band_powers(path, file, {.overwrite = overwrite});
    });
}

/// What Bins.of_ranges takes: first and last degrees, a weight for each degree, and whether bands are of D_l.
auto ranges_of(const Bins& bins) {
    std::vector<std::int64_t> first, last;
    std::vector<double> weights(static_cast<std::size_t>(bins.lmax() + 1));
    for (const Band& band : bins.bands()) {
        first.push_back(band.first);
        last.push_back(band.last());
        std::copy(band.weights.begin(), band.weights.end(), weights.begin() + band.first);
    }
    return std::tuple(first, last, weights, bins.of() == BandsOf::d_l);
}

using Blocks = nb::typed<nb::list, nb::any>;
/// Bins as ranges_of, lmax_sky, blocks, W_L, the numbers of masks, the covariance if there is one, units.
auto read_band_powers(const std::string& path) {
    auto file = reading([&] { return io::read_band_powers(path); });
    const auto lmax_sky = file.estimate.blocks.front().decoupling->windows.extent(3) - 1;
    Blocks blocks;
    for (auto& block : file.estimate.blocks) blocks.append(block_of(block));
    std::optional<nb::ndarray<nb::numpy, double>> covariance;
    if (file.covariance.size() > 0) covariance = array_of<2>(std::move(file.covariance));
    return std::tuple(ranges_of(file.bins), lmax_sky, blocks,
                      array_of<3>(std::move(file.estimate.mask_spectra)), file.estimate.mask_of, covariance,
                      file.units);
}

}  // namespace

void bind_band_files(nb::module_& module) {
    module.def("write_band_powers", &write_band_powers, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
               nb::arg().none(), nb::arg(), nb::arg());
    module.def("read_band_powers", &read_band_powers);
}

}  // namespace zonal::python
