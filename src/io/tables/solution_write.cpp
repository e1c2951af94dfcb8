#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "io/fits/cards.hpp"
#include "io/fits/fits_writer.hpp"
#include "io/tables/solution_layout.hpp"
#include "zonal/error.hpp"
#include "zonal/io/solution.hpp"

namespace zonal::io {
namespace {

/// A name that stands in one card, with its comment, as it is.
HeaderCard name_card(const std::string& key, const std::string& name, const std::string& comment) {
    const auto quotes = std::count(name.begin(), name.end(), '\'');  // doubled in the file
    const bool ascii = std::all_of(name.begin(), name.end(), [](char c) { return c >= ' ' && c <= '~'; });
    if (name.empty() || std::ssize(name) + quotes > 40 || !ascii || name.front() == ' ' || name.back() == ' ')
        throw InvalidArgument(key, fmt::format("'{}'", name),
                              "must be 1 to 40 characters of ASCII without blanks at the ends");
    return {key, name, comment};
}

void add_axis(std::vector<HeaderCard>& cards, const gwrm::Axis& axis, std::size_t number) {
    const auto key = [number](const char* stem) { return fmt::format("{}{}", stem, number); };
    const bool space = axis.kind == gwrm::Axis::Kind::space;
    cards.push_back(name_card(key("AXIS"), axis.name, "name of the axis"));
    cards.push_back({key("AXKIND"), std::string(space ? "space" : "parameter"), "what it is of"});
    cards.push_back({key("AXLOW"), axis.interval.lower, "lower end"});
    cards.push_back({key("AXHIGH"), axis.interval.upper, "upper end"});
    cards.push_back({key("AXMODES"), axis.modes, "highest Chebyshev mode"});
    cards.push_back({key("AXPARTS"), std::int64_t{axis.subdomains}, "equal subdomains"});
}

/// The largest of all fields at t1; NaN or infinite where there is none.
double largest_error(const gwrm::Solution& solution) {
    double largest = solution.error(0);
    for (int field = 1; field < solution.n_fields(); ++field)
        largest = std::max(largest, solution.error(field));
    return largest;
}

void add_report(std::vector<HeaderCard>& cards, const gwrm::SolveReport& report) {
    cards.push_back({"REJECTED", report.rejected, "intervals that had to be shorter"});
    cards.push_back({"STEPS", report.iterations, "of the root solver"});
    cards.push_back({"GMRES", report.linear_iterations, "steps of GMRES"});
    cards.push_back({"RESIDUAL", report.residual, "largest coefficient after the last step"});
    cards.push_back({"DEVICE", to_string(report.device), "that has solved"});
}

std::vector<HeaderCard> solution_cards(const SolutionFile& file) {
    const auto& solution = file.solution;
    if (file.highest_mode == HighestMode::kept)
        throw InvalidArgument("highest_mode", "must be projection or tau");
    const bool tau = file.highest_mode == HighestMode::tau;
    std::vector<HeaderCard> cards{{"ZONALSOL", solution_version, "version of this layout"},
                                  {"CHEBCONV", std::string("plain"), "a_0 + a_1 T_1 + .."}};
    if (!file.problem.empty()) cards.push_back(name_card("PROBLEM", file.problem, ""));
    for (std::size_t i = 0; i < file.parameters.size(); ++i) {
        cards.push_back(name_card(fmt::format("PARAM{}", i + 1), file.parameters[i].name, "of the problem"));
        cards.push_back({fmt::format("PVALUE{}", i + 1), file.parameters[i].value, "its value"});
    }
    cards.push_back({"N_FIELDS", std::int64_t{solution.n_fields()}, "unknown fields"});
    for (std::size_t i = 0; i < solution.names().size(); ++i)
        cards.push_back(name_card(fmt::format("FIELD{}", i + 1), solution.names()[i], "name of the field"));
    cards.push_back({"TMODES", solution.time_modes(), "highest Chebyshev mode in time"});
    cards.push_back({"N_AXES", std::ssize(solution.axes()), "beside time"});
    for (std::size_t i = 0; i < solution.axes().size(); ++i) add_axis(cards, solution.axes()[i], i + 1);
    cards.push_back({"HIGHMODE", std::string(tau ? "tau" : "projection"), "of the integral"});
    cards.push_back({"TOL", file.tolerance, "tolerance that was asked for"});
    if (const double error = largest_error(solution); std::isfinite(error))
        cards.push_back({"ESTERROR", error, "estimated error at the end"});
    add_report(cards, solution.report());
    for (const auto& card : file.cards)
        if (is_solution_key(card.key))
            throw InvalidArgument(fmt::format("header key {}: is set by the writer itself", card.key));
    cards.insert(cards.end(), file.cards.begin(), file.cards.end());
    check_cards(cards);
    return cards;
}

}  // namespace

void write_solution(const std::string& path, const SolutionFile& file, const WriteOptions& options) {
    const auto& solution = file.solution;
    const auto& pieces = solution.pieces();
    if (pieces.empty()) throw InvalidArgument("solution", "has no time interval");
    const auto shape = solution_shape(solution.n_fields(), solution.axes(), solution.time_modes());
    const std::int64_t size = size_of_shape(shape), n_errors = std::ssize(pieces[0].errors);
    // CFITSIO computes the widths of some rows in 32 bits.
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max() / 16;
    if (size > most)
        throw InvalidArgument(
            "solution",
            fmt::format(
                "{} coefficients in an interval: must be at most {}, what a row of a FITS table holds", size,
                most));
    const auto cards = solution_cards(file);
    std::vector<WriteColumn> columns{{"T_LOWER", "D", "", "time interval"}, {"T_UPPER", "D", "", "its end"}};
    if (n_errors > 0)
        columns.push_back({"ERRORS", fmt::format("{}D", n_errors), "", "[field], estimated at the end"});
    columns.push_back({"COEFFICIENTS", fmt::format("{}D", size), "", "[field, subdomain, k_0, ..]"});
    FitsWriter writer(path, options);
    writer.begin_table("SOLUTION", std::ssize(pieces), columns);
    const int last = static_cast<int>(columns.size()) - 1;
    writer.write_card({fmt::format("TDIM{}", last + 1), tdim_of_shape(shape), ""});
    writer.write_cards(cards);
    for (std::int64_t row = 0; row < std::ssize(pieces); ++row) {
        const auto& piece = pieces[static_cast<std::size_t>(row)];
        writer.write_column(0, row, &piece.time.lower, 1);
        writer.write_column(1, row, &piece.time.upper, 1);
        if (n_errors > 0) writer.write_column(2, row * n_errors, piece.errors.data(), n_errors);
        writer.write_column(last, row * size, piece.coefficients.data(), size);
    }
    writer.commit();
}

}  // namespace zonal::io
