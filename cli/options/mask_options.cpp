#include "options/mask_options.hpp"

#include <array>
#include <utility>

#include "engine/job_sky.hpp"
#include "options/options.hpp"
#include "shell/error.hpp"
#include "zonal/io/parts.hpp"

namespace zonal::cli {

void add_mask_options(CLI::App& app, MaskOptions& options, MaskModes modes) {
    const OptionGroup group(app, "Mask");
    const bool all = modes == MaskModes::all;
    group.text("--mask", options.file, "FILE",
               "map from 0 (masked) to 1 that multiplies all fields, of the map's nside");
    group.text("--mask-field", options.field, "NAME|N", "column of that file, by name or by number from 0",
               "0");
    Choices<MaskMode> choices{{"zero", MaskMode::zero}, {"error", MaskMode::error}};
    if (all) choices.insert(choices.begin() + 1, {"renormalize", MaskMode::renormalize});
    group.choice("--mask-mode", options.mode, choices,
                 all ? "UNSEEN and masked pixels count as 0, or as 0 with the result "
                       "divided by the smoothed mask, or are an error"
                     : "UNSEEN and masked pixels count as 0 or are an error",
                 "zero");
    if (!all) return;
    group.number("--mask-threshold", options.threshold, {1e-12, 1},
                 "renormalize: UNSEEN where the smoothed mask is below this", "0.1");
    group.flag("--fill-masked", options.fill_masked,
               "keep the smoothed values of pixels that were UNSEEN or masked, instead of UNSEEN");
}

void add_unseen_options(CLI::App& app, MaskOptions& options, const std::string& filled) {
    const OptionGroup group(app, "Mask");
    group.choice<MaskMode>("--mask-mode", options.mode,
                           {{"zero", MaskMode::zero}, {"error", MaskMode::error}},
                           "UNSEEN pixels count as 0 or are an error", "zero");
    group.flag("--fill-masked", options.fill_masked, filled);
}

Array<double, 1> read_mask(const MaskOptions& options, const SkyMap& map, Session& session) {
    constexpr std::array<const char*, 3> modes{"zero", "renormalize", "error"};
    if (!options.file.empty() || options.mode != MaskMode::zero)
        session.report["mask_mode"] = modes.at(static_cast<std::size_t>(options.mode));
    if (options.mode == MaskMode::renormalize && options.threshold > 0)
        session.report["mask_threshold"] = options.threshold;
    if (options.file.empty()) {
        if (options.field != "0") throw UsageError("--mask-field: needs --mask");
        return {};
    }
    session.report["mask"] = options.file;
    return read_mask_file(options.file, options.field, map, session);
}

Array<double, 1> read_mask_file(const std::string& file, const std::string& field, const SkyMap& map,
                                Session& session) {
    std::vector<std::string> notes;
    const auto sky = DistributedSky::of(map);
    auto mask =
        sky ? io::read_mask_part(file, map, *sky, notes, field) : io::read_mask(file, map, notes, field);
    session.note(notes);
    return mask;
}

void check_known(const MaskOptions& options, const SkyMap& map, View<const double, 1> mask,
                 const Session& session) {
    if (options.mode != MaskMode::error) return;
    const auto check = [&] {
        Array<double, 2> known(map.rows().extents());
        find_known(map, mask, known.view());
        require_all_known(map, std::as_const(known).view());
    };
    with_error<IoError>([&] { session.together("a mask", check); },  // of the pixels
                        map.header().source + ": ", " (--mask-mode error)");
}

}  // namespace zonal::cli
