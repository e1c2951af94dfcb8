#include <algorithm>

#include "commands/recipe.hpp"
#include "zonal/sky/comparison.hpp"

namespace zonal::cli {
namespace {

struct CompareOptions {
    std::string first;
    std::string second;
    MapInput input;
    double limit = -1;  ///< below 0: none
};

Json to_json(const FieldDifference& column) {
    return {{"name", column.name},
            {"max_difference", column.largest},
            {"at_ring_pixel", column.at_pixel},
            {"rms_difference", column.rms},
            {"scale", column.scale},
            {"max_relative", column.scale > 0 ? Json(column.relative()) : Json()},
            {"pixels", column.n_pixels},
            {"unseen_in_one", column.n_unseen_in_one}};
}

/// How a column's difference is beyond --limit; empty where it is not.
std::string excess(const FieldDifference& column, double limit) {
    if (column.n_unseen_in_one > 0)
        return fmt::format("column {}: {} pixels are UNSEEN in one map only", column.name,
                           column.n_unseen_in_one);
    if (column.n_pixels == 0)
        return fmt::format("column {}: no pixel holds a value in both maps", column.name);
    if (column.largest > limit * column.scale)
        return fmt::format(
            "column {}: differs by {:.3g} at ring pixel {}, {} of the scale {:.3g}, --limit is {}",
            column.name, column.largest, column.at_pixel,
            column.scale > 0 ? fmt::format("{:.3g}", column.relative()) : "infinitely much", column.scale,
            limit);
    return {};
}

/// Adds the verdict to the report. Throws NegativeVerdict where a column differs too much.
void judge(const CompareOptions& options, const std::vector<FieldDifference>& columns, Session& session) {
    std::string problem;
    double largest = 0;
    for (const auto& column : columns) {
        if (problem.empty()) problem = excess(column, options.limit);
        if (column.scale > 0) largest = std::max(largest, column.relative());
    }
    auto& report = session.report;
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

void run(CompareOptions& options, Session& session) {
    const auto read = [&](const std::string& path) {
        return read_sky_map(path, options.input, session, Columns::fields, Extent::own_pixels);
    };
    const auto first = read(options.first), second = read(options.second);
    const auto columns = compare(first, second);
    session.report["first"] = options.first;
    session.report["second"] = options.second;
    session.report["columns"] = Json::array();
    for (const auto& column : columns) session.report["columns"].push_back(to_json(column));
    if (options.limit >= 0) judge(options, columns, session);
}

void declare(CLI::App& app, CompareOptions& options) {
    add_argument(app, "FIRST", options.first, "map");
    add_argument(app, "SECOND", options.second, "map with the same pixels, in either order");
    OptionGroup(app, "Verdict")
        .number("--limit", options.limit, {0, 1e300},
                "exit status 1 if a column's largest difference exceeds this times its scale, or a pixel is "
                "UNSEEN in one map only");
    add_map_input(app, options.input);
}

}  // namespace

void add_compare(CLI::App& root, Session& session, Action& action) {
    add_command<CompareOptions>(root, session, action, "compare",
                                "Compares two maps: largest and rms difference of each column, and the "
                                "largest relative to the scale, which is the second map's largest value.",
                                "zonal compare smoothed.fits expected.fits --limit 1e-6", declare, run);
}

}  // namespace zonal::cli
