#include "engine/smooth_parts.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "engine/smooth_auto.hpp"
#include "engine/smooth_pixels.hpp"
#include "shell/error.hpp"

namespace zonal::cli {
namespace {

/// Fields that go one way.
struct Part {
    Fields fields;
    std::vector<std::int64_t> rows;  ///< of the whole map
    SmoothOptions options;
    Json report = Json::object();
};

std::string names_of(const Part& part, const SkyMap& map) {
    std::string names;
    for (const auto row : part.rows) names += (names.empty() ? "" : ", ") + map.row_name(row);
    return names;
}

std::vector<Part> parts_of(const SmoothOptions& options, const SkyMap& map) {
    Part scalars{Fields::scalars, {}, options}, polarized{Fields::qu, {}, options};
    for (const auto& group : map.groups())
        for (std::int64_t k = 0; k < group.n_rows; ++k) {
            const bool is_scalar = group.fields == Fields::scalars || (group.fields == Fields::iqu && k == 0);
            (is_scalar ? scalars : polarized).rows.push_back(group.first_row + k);
        }
    return {std::move(scalars), std::move(polarized)};
}

/// "fields" of all parts, in the order of the map's rows, and the parts.
void report_parts(std::vector<Part>& parts, const SkyMap& map, Session& session) {
    std::vector<Json> fields(static_cast<std::size_t>(map.rows().extent(0)));
    std::string methods;
    Json reports = Json::array();
    for (auto& part : parts) {
        for (std::size_t k = 0; k < part.rows.size(); ++k)
            fields[static_cast<std::size_t>(part.rows[k])] = std::move(part.report["fields"][k]);
        part.report.erase("fields");
        const auto method = to_string(part.options.kernel.chosen_method());
        if (methods != method) methods += (methods.empty() ? "" : ", ") + method;
        Json report = {{"part", names_of(part, map)}};
        report.update(part.report);
        reports.push_back(std::move(report));
    }
    session.report["method"] = methods;
    session.report["parts"] = std::move(reports);
    session.report["fields"] = std::move(fields);
}

}  // namespace

SkyMap smoothed(const SmoothOptions& options, SkyMap& map, Session& session) {
    return options.kernel.is_pixel_method() ? smooth_pixels(options, map, session)
                                            : smooth_in_harmonic_space(options, map, session);
}

bool has_parts(const SmoothOptions& options, const SkyMap& map) {
    const auto& kernel = options.kernel;
    if (!kernel.is_planned() || (kernel.is_automatic() && !harmonic_only(options, map).empty())) return false;
    const auto& groups = map.groups();
    return groups[0].fields == Fields::iqu || (groups[0].fields == Fields::qu && groups.size() > 1);
}

std::vector<io::HeaderCard> smooth_parts(const SmoothOptions& options, SkyMap& map, Session& session) {
    auto parts = parts_of(options, map);
    if (!options.kernel.plan.empty() || !options.kernel.save_plan.empty())
        throw UsageError(
            fmt::format("--plan, --save-plan: keep one way, and {} has I and Q, U, which may go two: --field "
                        "chooses",
                        map.header().source));
    for (auto& part : parts) {  // all of them, before what may take long
        const ReportTo scope(part.report, session);
        choose_method(part.options, SkyMap(map, part.fields, part.rows), session);
    }
    std::vector<io::HeaderCard> cards;
    for (auto& part : parts) {
        const ReportTo scope(part.report, session);
        SkyMap own(map, part.fields, part.rows);
        const SkyMap result = smoothed(part.options, own, session);
        for (std::size_t k = 0; k < part.rows.size(); ++k) {
            const auto row = std::as_const(result).rows()[static_cast<std::int64_t>(k)];
            std::copy_n(row.data(), row.size(), map.rows()[part.rows[k]].data());
        }
        const bool is_first = part.fields == Fields::scalars;
        const auto more =
            is_first ? parameter_cards(part.options, session) : spin_cards(part.options, session.report);
        cards.insert(cards.end(), more.begin(), more.end());
    }
    report_parts(parts, map, session);
    if (options.mask.fill_masked) map.make_full_sky();
    return cards;
}

}  // namespace zonal::cli
