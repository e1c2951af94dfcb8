#include "options/mask_options.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "options/options.hpp"
#include "shell/error.hpp"

namespace zonal::cli {
namespace {

void require_same_sky(const SkyMap& mask, const SkyMap& map) {
    const auto& mask_header = mask.header();
    const auto& map_header = map.header();
    const bool both_healpix = mask.nside() > 0 && map.nside() > 0;
    const bool fits =
        both_healpix ? mask.nside() == map.nside() : mask_header.pixelization == map_header.pixelization;
    if (!fits)
        throw IoError(fmt::format("{}: {}: the map has {}; zonal udgrade makes masks of another nside",
                                  mask_header.source, to_string(mask_header.pixelization),
                                  to_string(map_header.pixelization)));
    const auto unknown = io::CoordinateSystem::unknown;
    if (mask_header.coordinates != unknown && map_header.coordinates != unknown &&
        mask_header.coordinates != map_header.coordinates)
        throw IoError(fmt::format("{}: coordinates are {}, the map's are {}", mask_header.source,
                                  to_string(mask_header.coordinates), to_string(map_header.coordinates)));
}

}  // namespace

void add_mask_options(CLI::App& app, MaskOptions& options, MaskModes modes) {
    const auto group = "Mask";
    add_text(app, "--mask", options.file, "FILE",
             "map from 0 (masked) to 1 that multiplies all fields; its first column, of the map's nside")
        ->group(group);
    std::vector<std::pair<std::string, MaskMode>> choices = {{"zero", MaskMode::zero},
                                                             {"error", MaskMode::error}};
    if (modes == MaskModes::all) choices.insert(choices.begin() + 1, {"renormalize", MaskMode::renormalize});
    add_choice<MaskMode>(app, "--mask-mode", options.mode, choices,
                         modes == MaskModes::all
                             ? "UNSEEN and masked pixels count as 0, or as 0 with the result "
                               "divided by the smoothed mask, or are an error"
                             : "UNSEEN and masked pixels count as 0 or are an error")
        ->default_str("zero")
        ->group(group);
    if (modes != MaskModes::all) return;
    add_number(app, "--mask-threshold", options.threshold, {1e-12, 1},
               "renormalize: UNSEEN where the smoothed mask is below this")
        ->default_str("0.1")
        ->group(group);
    app.add_flag("--fill-masked", options.fill_masked,
                 "keep the smoothed values of pixels that were UNSEEN or masked, instead of UNSEEN")
        ->group(group);
}

Array<double, 1> read_mask(const MaskOptions& options, const SkyMap& map, Session& session) {
    constexpr std::array<const char*, 3> modes{"zero", "renormalize", "error"};
    if (!options.file.empty() || options.mode != MaskMode::zero)
        session.report["mask_mode"] = modes.at(static_cast<std::size_t>(options.mode));
    if (options.mode == MaskMode::renormalize && options.threshold > 0)
        session.report["mask_threshold"] = options.threshold;
    if (options.file.empty()) return {};
    session.report["mask"] = options.file;
    MapInput input;
    input.fields = {"0"};
    input.polarized = false;
    auto mask = read_sky_map(options.file, input, session);
    require_same_sky(mask, map);
    Array<double, 1> values({mask.grid().n_pixels()});
    const auto row = mask.rows()[0];
    for (std::int64_t pixel = 0; pixel < row.size(); ++pixel) {
        if (is_unseen_value(row[pixel])) row[pixel] = 0;
        if (row[pixel] < 0 || row[pixel] > 1)
            throw IoError(fmt::format("{}: pixel {} (ring order) is {}: a mask must be from 0 to 1",
                                      mask.header().source, pixel, row[pixel]));
        values(pixel) = row[pixel];
    }
    return values;
}

void check_known(const MaskOptions& options, const SkyMap& map, View<const double, 1> mask) {
    if (options.mode == MaskMode::error) masked_copy(options, map, mask);
}

SkyMap masked_copy(const MaskOptions& options, const SkyMap& map, View<const double, 1> mask) {
    SkyMap copy(map);
    Array<double, 2> known(map.rows().extents());
    apply_mask(options, map.header().source, mask, copy, known.view());
    return copy;
}

void apply_mask(const MaskOptions& options, const std::string& source, View<const double, 1> mask,
                SkyMap& map, View<double, 2> weights) {
    try {
        zonal::apply_mask(map, mask, options.mode, weights);
    } catch (const InvalidArgument& error) {  // of the pixels
        throw IoError(fmt::format("{}: {} (--mask-mode error)", source, error.what()));
    }
}

}  // namespace zonal::cli
