#include "zonal/spectra/band_covariance.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

#include "spectra/level_factors.hpp"
#include "zonal/error.hpp"
#include "zonal/memory.hpp"

namespace zonal {
namespace {

/// T, E or B of a field.
struct Component {
    std::size_t field;
    char letter;
    const MaskedMaps* part;
    int sky() const { return letter == 'T' ? 0 : letter == 'E' ? 1 : 2; }
    double transfer(std::int64_t l) const {
        return part->transfer.empty() ? 1 : part->transfer[static_cast<std::size_t>(l)];
    }
    double noise(std::int64_t l) const {
        if (part->noise.empty()) return 0;
        return part->noise[letter == 'B' ? 1 : 0][static_cast<std::size_t>(l)];
    }
};

/// What the maps of all fields have, for MaskedSky to view.
struct ObservedSky {
    std::vector<Component> components;
    std::vector<MaskedMap> maps;
    Array<double, 2> masks, variances;
    Array<double, 3> c_l;
    std::map<std::pair<std::size_t, char>, int> number;

    /// mask_of: [field][part], numbers of the masks that differ.
    ObservedSky(const std::vector<MaskedField>& fields, const std::vector<std::vector<std::int64_t>>& mask_of,
                std::int64_t n_masks, View<const double, 3> sky, std::int64_t lmax_sky) {
        std::vector<const MaskedMaps*> parts;
        for (std::size_t i = 0; i < fields.size(); ++i)
            for (std::size_t k = 0; k < fields[i].parts.size(); ++k) {
                const MaskedMaps& part = fields[i].parts[k];
                const bool is_polarized = part.maps.extent(0) == 2;
                maps.push_back({is_polarized ? 2 : 0, static_cast<int>(mask_of[i][k])});
                parts.push_back(&part);
                for (const char letter : std::string(is_polarized ? "EB" : "T")) {
                    number[{i, letter}] = static_cast<int>(components.size());
                    components.push_back({i, letter, &part});
                }
            }
        const auto n_pixels = fields.front().grid.n_pixels();
        const auto n_maps = std::ssize(parts), n = std::ssize(components);
        masks = Array<double, 2>({n_masks, n_pixels});
        variances = Array<double, 2>({n_maps, n_pixels});
        for (std::int64_t map = 0; map < n_maps; ++map) {
            const MaskedMaps& part = *parts[static_cast<std::size_t>(map)];
            const bool has_variance = part.variance.extent(0) > 0;
            const std::int64_t mask = maps[static_cast<std::size_t>(map)].mask;
            for (std::int64_t p = 0; p < n_pixels; ++p) {
                masks(mask, p) = part.mask[p];
                variances(map, p) = has_variance && part.mask[p] != 0 ? part.variance[p] : 0;
            }
        }
        c_l = Array<double, 3>({n, n, lmax_sky + 1});
        for (std::int64_t a = 0; a < n; ++a)
            for (std::int64_t b = 0; b < n; ++b) {
                const Component& x = components[static_cast<std::size_t>(a)];
                const Component& y = components[static_cast<std::size_t>(b)];
                for (std::int64_t l = 0; l <= lmax_sky; ++l)
                    c_l(a, b, l) = sky(x.sky(), y.sky(), l) * (x.transfer(l) * y.transfer(l)) +
                                   (a == b ? x.noise(l) : 0);
            }
    }
};

void check(const std::vector<MaskedField>& fields, const BandEstimate& estimate, View<const double, 3> theory,
           std::int64_t lmax_sky, std::int64_t n_values, View<double, 2> covariance) {
    if (fields.size() != estimate.mask_of.size())
        throw InvalidArgument("fields", std::ssize(fields),
                              fmt::format("must be the {} of the estimate", estimate.mask_of.size()));
    for (const MaskedField& field : fields)
        if (!(field.grid == fields.front().grid))
            throw InvalidArgument("fields", "must be on one grid for a covariance");
    if (theory.extent(0) != 3 || theory.extent(1) != 3 || theory.extent(2) <= lmax_sky)
        throw InvalidArgument(
            "theory", fmt::format("shape [{}, {}, {}]", theory.extent(0), theory.extent(1), theory.extent(2)),
            fmt::format("must be [3, 3, {}], of T, E and B up to lmax_sky = {}", lmax_sky + 1, lmax_sky));
    masked::check_levels("theory", theory);
    masked::require_covariance("theory", theory);
    if (covariance.extent(0) != n_values || covariance.extent(1) != n_values)
        throw InvalidArgument("covariance",
                              fmt::format("shape [{}, {}]", covariance.extent(0), covariance.extent(1)),
                              fmt::format("must be [{}, {}]", n_values, n_values));
}

}  // namespace

CovarianceReport band_covariance(const std::vector<MaskedField>& fields, const BandEstimate& estimate,
                                 View<const double, 3> theory, View<double, 2> covariance,
                                 const CovarianceOptions& options) {
    if (estimate.blocks.empty()) throw InvalidArgument("estimate", "must have bands");
    const auto& first = *estimate.blocks.front().decoupling;
    const std::int64_t n_bands = first.matrix.extent(1), degrees = first.matrix.extent(3);
    const std::int64_t lmax_sky = first.windows.extent(3) - 1;
    std::int64_t n_spectra = 0;
    for (const SpectraBlock& block : estimate.blocks) n_spectra += std::ssize(block.names);
    check(fields, estimate, theory, lmax_sky, n_spectra * n_bands, covariance);
    require_memory(8 * static_cast<double>(n_spectra * n_bands) * static_cast<double>(n_spectra * degrees),
                   fmt::format("the covariance of {} bands", n_spectra * n_bands));
    const ObservedSky sky(fields, estimate.mask_of, estimate.mask_spectra.extent(0), theory, lmax_sky);
    Array<double, 3> values({n_spectra * n_bands, n_spectra, degrees});
    std::fill_n(values.data(), values.size(), 0.0);
    std::vector<ComponentPair> pairs;
    for (const SpectraBlock& block : estimate.blocks) {
        const auto begin = std::ssize(pairs), count = std::ssize(block.names);
        const auto& matrix = block.decoupling->matrix;
        for (std::int64_t s = 0; s < count; ++s) {
            const std::string& name = block.names[static_cast<std::size_t>(s)];
            pairs.push_back({sky.number.at({static_cast<std::size_t>(block.first), name[0]}),
                             sky.number.at({static_cast<std::size_t>(block.second), name[1]})});
            for (std::int64_t b = 0; b < n_bands; ++b)
                for (std::int64_t t = 0; t < count; ++t)
                    std::copy_n(&matrix(s, b, t, 0), degrees,
                                &values((begin + s) * n_bands + b, begin + t, 0));
        }
    }
    const MaskedSky observed{fields.front().grid, sky.masks.view(), sky.maps, sky.c_l.view(),
                             sky.variances.view()};
    return value_covariance(observed, pairs, values.view(), covariance, options);
}

double bytes_of_band_covariance(const std::vector<MaskedField>& fields, const BandEstimate& estimate,
                                const CovarianceOptions& options) {
    const auto& first = *estimate.blocks.at(0).decoupling;
    const auto square = [](std::int64_t n) { return static_cast<double>(n) * static_cast<double>(n); };
    double n_spectra = 0, n_maps = 0, n_components = 0;
    for (const SpectraBlock& block : estimate.blocks) n_spectra += static_cast<double>(block.names.size());
    for (const MaskedField& field : fields)
        for (const MaskedMaps& part : field.parts) {
            ++n_maps;
            n_components += static_cast<double>(part.maps.extent(0));
        }
    const auto n_masks = static_cast<double>(estimate.mask_spectra.extent(0));
    const auto map = static_cast<double>(fields.at(0).grid.n_pixels());
    const std::int64_t degrees = first.matrix.extent(3);
    const double n_values = n_spectra * static_cast<double>(first.matrix.extent(1));
    const double values = n_values * (n_values + n_spectra * static_cast<double>(degrees));
    // One after the other: mean spectra, the exact part with the noise of all maps, and the narrow kernels of
    // all products of masks. The latter two transform masks.
    const std::int64_t modes = options.exact_lmax + 1;
    const double means = 4 * square(first.windows.extent(3)),
                 exact = n_maps * map + square(modes * modes) * n_components * n_components,
                 narrow = n_masks * (n_masks + 1) / 2 * map + square(degrees);
    const double transform = 2 * static_cast<double>(fields.at(0).grid.n_rings()) *
                             static_cast<double>(estimate.mask_spectra.extent(2));
    return 8 * ((n_masks + n_maps) * map + values + std::max({means, exact + transform, narrow + transform}));
}

Array<double, 2> distinct_covariance(const BandEstimate& estimate, View<const double, 2> covariance) {
    std::vector<std::int64_t> kept;
    std::int64_t n_values = 0;
    for (const SpectraBlock& block : estimate.blocks)
        for (const std::string& name : block.names)
            for (std::int64_t b = 0; b < block.bands.extent(1); ++b, ++n_values)
                if (!is_repeated(block, name)) kept.push_back(n_values);
    if (covariance.extent(0) != n_values || covariance.extent(1) != n_values)
        throw InvalidArgument("covariance",
                              fmt::format("shape [{}, {}]", covariance.extent(0), covariance.extent(1)),
                              fmt::format("must be [{}, {}]", n_values, n_values));
    Array<double, 2> found({std::ssize(kept), std::ssize(kept)});
    for (std::size_t v = 0; v < kept.size(); ++v)
        for (std::size_t w = 0; w < kept.size(); ++w)
            found(static_cast<std::int64_t>(v), static_cast<std::int64_t>(w)) = covariance(kept[v], kept[w]);
    return found;
}

}  // namespace zonal
