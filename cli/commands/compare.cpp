#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "commands/subcommands.hpp"
#include "options/common_options.hpp"
#include "options/map_input.hpp"
#include "options/options.hpp"
#include "shell/error.hpp"
#include "zonal/mask.hpp"

namespace zonal::cli {
namespace {

struct CompareOptions {
    std::string first;
    std::string second;
    MapInput input;
    double limit = 0;  ///< 0: none
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

/// What of a column's difference is beyond --limit; empty: nothing.
std::string excess(const Json& column, double limit) {
    const auto name = column["name"].get<std::string>();
    const double largest = column["max_difference"].get<double>(), scale = column["scale"].get<double>();
    if (column["unseen_in_one"].get<std::int64_t>() > 0)
        return fmt::format("column {}: {} pixels are UNSEEN in one map only", name,
                           column["unseen_in_one"].get<std::int64_t>());
    if (column["pixels"].get<std::int64_t>() == 0)
        return fmt::format("column {}: no pixel holds a value in both maps", name);
    if (largest > limit * scale)
        return fmt::format(
            "column {}: differs by {:.3g} at ring pixel {}, {} of the scale {:.3g}, --limit is {}", name,
            largest, column["at_ring_pixel"].get<std::int64_t>(),
            scale > 0 ? fmt::format("{:.3g}", largest / scale) : "infinitely much", scale, limit);
    return {};
}

/// Adds the verdict to the report. Throws NegativeVerdict where a column differs too much.
void judge(const CompareOptions& options, Session& session) {
    auto& report = session.report;
    std::string problem;
    double largest = 0;
    for (const auto& column : report["columns"]) {
        if (problem.empty()) problem = excess(column, options.limit);
        if (column["max_relative"].is_number())
            largest = std::max(largest, column["max_relative"].get<double>());
    }
    report["limit"] = options.limit;
    report["within_limit"] = problem.empty();
    report["verdict"] = problem.empty()
                            ? fmt::format(
                                  "equal within the limit: the columns differ by at most {:.3g} of their "
                                  "scale, {} is permitted",
                                  largest, options.limit)
                            : "different";
    if (!problem.empty())
        throw NegativeVerdict(fmt::format("{} and {}: {}", options.first, options.second, problem));
}

void run(const CompareOptions& options, Session& session) {
    const auto first = read_sky_map(options.first, options.input, session);
    const auto second = read_sky_map(options.second, options.input, session);
    const auto &pixels = first.header().pixelization, &other_pixels = second.header().pixelization;
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
    if (options.limit > 0) judge(options, session);
}

}  // namespace

void add_compare(CLI::App& root, Session& session, Action& action) {
    auto& app = add_subcommand(root, session, "compare",
                               "Compares two maps: largest and rms difference of each column, and the "
                               "largest relative to the scale, which is the second map's largest value.",
                               "zonal compare smoothed.fits expected.fits --limit 1e-6");
    const auto options = std::make_shared<CompareOptions>();
    add_argument(app, "FIRST", options->first, "map");
    add_argument(app, "SECOND", options->second, "map with the same pixels, in either order");
    add_number(app, "--limit", options->limit, {1e-300, 1e300},
               "exit status 1 if a column's largest difference exceeds this times its scale, or a pixel is "
               "UNSEEN in one map only")
        ->group("Verdict");
    add_map_input(app, options->input);
    app.callback(
        [options, &action] { action = [options](Session& run_session) { run(*options, run_session); }; });
}

}  // namespace zonal::cli
