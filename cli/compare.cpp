#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "common_options.hpp"
#include "error.hpp"
#include "options.hpp"
#include "sky_map.hpp"
#include "subcommands.hpp"
#include "zonal/mask.hpp"

namespace zonal::cli {
namespace {

struct CompareOptions {
    std::string first;
    std::string second;
    MapInput input;
};

/// How two fields differ, over the pixels that both have.
Json difference(View<const double, 1> a, View<const double, 1> b) {
    std::int64_t n_pixels = 0, n_unseen_in_one = 0, where = -1;
    double largest = 0, sum_of_squares = 0, scale = 0;
    for (std::int64_t p = 0; p < a.extent(0); ++p) {
        const bool in_a = !is_unseen_value(a[p]), in_b = !is_unseen_value(b[p]);
        if (in_a != in_b) ++n_unseen_in_one;
        if (!in_a || !in_b) continue;
        const double delta = std::abs(a[p] - b[p]);
        if (n_pixels == 0 || delta > largest) {
            largest = delta;
            where = p;
        }
        sum_of_squares += delta * delta;
        scale = std::max(scale, std::abs(b[p]));
        ++n_pixels;
    }
    const double rms = n_pixels == 0 ? 0 : std::sqrt(sum_of_squares / static_cast<double>(n_pixels));
    Json result = {
        {"max_difference", largest}, {"at_ring_pixel", where}, {"rms_difference", rms}, {"scale", scale}};
    result["max_relative"] = scale > 0 ? Json(largest / scale) : Json();
    result["pixels"] = n_pixels;
    result["unseen_in_one"] = n_unseen_in_one;
    return result;
}

/// The pixels are the same, in whichever order the files have them.
bool same_pixels(const io::Pixelisation& a, const io::Pixelisation& b) {
    const auto* healpix_a = std::get_if<io::HealpixPixels>(&a);
    const auto* healpix_b = std::get_if<io::HealpixPixels>(&b);
    if (healpix_a && healpix_b) return healpix_a->nside == healpix_b->nside;
    return a == b;
}

void run(const CompareOptions& options, Session& session) {
    const SkyMap first(options.first, options.input, session);
    const SkyMap second(options.second, options.input, session);
    const auto &pixels = first.header().pixelisation, &other_pixels = second.header().pixelisation;
    if (!same_pixels(pixels, other_pixels))
        throw UsageError(fmt::format("{} ({}) and {} ({}): the pixels must be the same", options.first,
                                     to_string(pixels), options.second, to_string(other_pixels)));
    const std::int64_t n_rows = first.rows().extent(0);
    if (second.rows().extent(0) != n_rows)
        throw UsageError(fmt::format("{} has {} columns and {} has {}: choose by --field", options.first,
                                     n_rows, options.second, second.rows().extent(0)));
    session.report["first"] = options.first;
    session.report["second"] = options.second;
    auto& columns = session.report["columns"] = Json::array();
    for (std::int64_t row = 0; row < n_rows; ++row) {
        Json column = {{"name", first.row_name(row)}};
        column.update(difference(first.rows()[row], second.rows()[row]));
        columns.push_back(std::move(column));
    }
}

}  // namespace

void add_compare(CLI::App& root, Session& session, Action& action) {
    auto& app =
        add_subcommand(root, session, "compare",
                       "Says how two maps differ: largest and rms difference of each column, and the largest "
                       "relative to the scale, the second map's largest value.",
                       "zonal compare smoothed.fits expected.fits");
    const auto options = std::make_shared<CompareOptions>();
    add_argument(app, "FIRST", options->first, "map");
    add_argument(app, "SECOND", options->second, "map with the same pixels, in either order");
    add_map_input(app, options->input);
    app.callback(
        [options, &action] { action = [options](Session& run_session) { run(*options, run_session); }; });
}

}  // namespace zonal::cli
