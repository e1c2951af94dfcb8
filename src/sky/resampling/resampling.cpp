#include "zonal/sky/resampling.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "zonal/error.hpp"

namespace zonal {
namespace {

/// The pixels of a partial sky have other numbers in another order or grid.
void keep_partial(const SkyMap& from, SkyMap& to) {
    if (from.header().partial() && !to.header().partial()) to.make_partial_sky();
}

}  // namespace

ResampledMap resample(const SkyMap& map, const Pixelization& pixels, const MapAnalysisOptions& options) {
    ResampledMap result{SkyMap(map, pixels), options.lmax, {}};
    auto& out = result.map;
    if (result.lmax < 0)
        result.lmax = std::min(default_smoothing_lmax(map.grid()), default_smoothing_lmax(out.grid()));
    if (map.header().polarized() && result.lmax < 2)
        throw InvalidArgument("lmax", result.lmax,
                              fmt::format("must be at least 2 for the Q and U of {}", map.header().source));
    const SmoothingOptions smoothing{.lmax = result.lmax,
                                     .iterations = options.tolerance > 0 ? 0 : options.iterations,
                                     .tolerance = options.tolerance,
                                     .max_iterations = options.max_iterations,
                                     .ring_weights = options.ring_weights,
                                     .pixel_weights = options.pixel_weights,
                                     .threads = options.threads,
                                     .device = options.device,
                                     .progress = options.progress};
    const auto beam = uniform_beam(std::vector<double>(static_cast<std::size_t>(result.lmax) + 1, 1.0));
    for (const auto& group : map.groups()) {
        auto report = smooth<double>(map.grid(), map.rows(group), group.fields, {}, beam, out.grid(),
                                     out.rows(group), smoothing);
        if (!report.note.empty()) result.notes.push_back(std::move(report.note));
    }
    keep_partial(map, out);
    return result;
}

SkyMap reorder(SkyMap map, const Pixelization& pixels) {
    if (!same_pixels(map.header().pixelization, pixels))
        throw InvalidArgument("pixels", to_string(pixels),
                              fmt::format("must be those of {}, {}", map.header().source,
                                          to_string(map.header().pixelization)));
    set_pixels(map.header(), pixels);
    return map;
}

}  // namespace zonal
