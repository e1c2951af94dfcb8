#include <fmt/core.h>

#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "io/fits/cards.hpp"
#include "io/fits/checked_values.hpp"
#include "io/fits/fits_reader.hpp"
#include "io/fits/hdu_kind.hpp"
#include "io/tables/solution_layout.hpp"
#include "io/tables/text.hpp"
#include "zonal/error.hpp"
#include "zonal/io/solution.hpp"

namespace zonal::io {
namespace {

constexpr std::int64_t most_modes = 4096, most_fields = 999, most_subdomains = 1024;

template <class T>
T present(const std::optional<T>& value, const std::string& key) {
    if (!value) throw InvalidArgument(fmt::format("{} is missing", key));
    return *value;
}

std::string required_text(const FitsHeader& header, const std::string& key) {
    return present(header.text(key), key);
}

double required_number(const FitsHeader& header, const std::string& key) {
    return present(header.number(key), key);
}

/// Whether the text is the second of two words. Throws InvalidArgument where it is neither.
bool is_second(const FitsHeader& header, const std::string& key, const char* first, const char* second) {
    const auto text = required_text(header, key);
    if (text != first && text != second)
        throw InvalidArgument(key, fmt::format("'{}'", text),
                              fmt::format("must be '{}' or '{}'", first, second));
    return text == second;
}

gwrm::Axis read_axis(const FitsHeader& header, std::int64_t number) {
    const auto key = [number](const char* stem) { return fmt::format("{}{}", stem, number); };
    gwrm::Axis axis;
    axis.name = required_text(header, key("AXIS"));
    axis.interval = {required_number(header, key("AXLOW")), required_number(header, key("AXHIGH"))};
    axis.modes = required(header, key("AXMODES"), 0, most_modes);
    axis.subdomains = static_cast<int>(required(header, key("AXPARTS"), 1, most_subdomains));
    if (is_second(header, key("AXKIND"), "space", "parameter")) axis.kind = gwrm::Axis::Kind::parameter;
    return axis;
}

/// Index of a column of so many numbers a row.
int solution_column(const Hdu& hdu, const std::string& name, std::int64_t repeat) {
    const int index = hdu.find_column(name);
    if (index < 0) throw InvalidArgument(fmt::format("no column {}", name));
    const auto& column = hdu.columns[static_cast<std::size_t>(index)];
    if (column.repeat != repeat)
        throw InvalidArgument(
            fmt::format("column {}: {} numbers a row: must be {}", name, column.repeat, repeat));
    return index;
}

void check_tdim(const Hdu& hdu, int index, const std::vector<std::int64_t>& shape) {
    const auto key = fmt::format("TDIM{}", index + 1);
    const auto tdim = hdu.header.text(key).value_or("");
    if (!tdim.empty() && tdim != tdim_of_shape(shape))
        throw InvalidArgument(key, fmt::format("'{}'", tdim),
                              fmt::format("must be '{}'", tdim_of_shape(shape)));
}

std::vector<gwrm::Solution::Piece> read_pieces(FitsReader& reader, const Hdu& hdu,
                                               const std::vector<std::int64_t>& shape) {
    const auto size = size_of_shape(shape);
    const bool has_errors = hdu.find_column("ERRORS") >= 0;
    std::vector<int> indices{solution_column(hdu, "T_LOWER", 1), solution_column(hdu, "T_UPPER", 1),
                             solution_column(hdu, "COEFFICIENTS", size)};
    check_tdim(hdu, indices.back(), shape);
    if (has_errors) indices.push_back(solution_column(hdu, "ERRORS", shape[0]));
    const auto columns = reader.read_columns(hdu, indices, std::nan(""));
    const auto part = [](const std::vector<double>& values, std::int64_t row, std::int64_t n) {
        const auto first = values.begin() + row * n;
        return std::vector<double>(first, first + n);
    };
    std::vector<gwrm::Solution::Piece> pieces;
    pieces.reserve(static_cast<std::size_t>(hdu.rows));
    for (std::int64_t row = 0; row < hdu.rows; ++row) {
        const auto i = static_cast<std::size_t>(row);
        pieces.push_back({{columns[0][i], columns[1][i]}, part(columns[2], row, size), {}});
        if (has_errors) pieces.back().errors = part(columns[3], row, shape[0]);
    }
    return pieces;
}

Device parse_device(const std::string& text) {
    if (text == "cpu") return Device::cpu();
    const auto index = text.starts_with("cuda:") ? parse_integer(text.substr(5)) : std::nullopt;
    if (!index || *index < 0 || *index > std::numeric_limits<int>::max())
        throw InvalidArgument("DEVICE", fmt::format("'{}'", text), "must be 'cpu' or 'cuda:0'");
    return Device::cuda(static_cast<int>(*index));
}

gwrm::SolveReport read_report(const Hdu& hdu) {
    gwrm::SolveReport report;
    report.intervals = hdu.rows;
    report.rejected = optional_count(hdu.header, "REJECTED", 0);
    report.iterations = optional_count(hdu.header, "STEPS", 0);
    report.linear_iterations = optional_count(hdu.header, "GMRES", 0);
    report.residual = hdu.header.number("RESIDUAL").value_or(0);
    report.device = parse_device(hdu.header.text("DEVICE").value_or("cpu"));
    return report;
}

gwrm::Solution read_series(FitsReader& reader, const Hdu& hdu) {
    const auto& header = hdu.header;
    required(header, "ZONALSOL", solution_version, solution_version);
    if (const auto convention = required_text(header, "CHEBCONV"); convention != "plain")
        throw InvalidArgument("CHEBCONV", fmt::format("'{}'", convention), "must be 'plain'");
    std::vector<std::string> names;
    const auto n_fields = required(header, "N_FIELDS", 1, most_fields);
    for (std::int64_t i = 1; i <= n_fields; ++i)
        names.push_back(required_text(header, fmt::format("FIELD{}", i)));
    std::vector<gwrm::Axis> axes;
    const auto n_axes = required(header, "N_AXES", 0, 2);
    for (std::int64_t i = 1; i <= n_axes; ++i) axes.push_back(read_axis(header, i));
    const auto time_modes = required(header, "TMODES", 0, most_modes);
    auto pieces = read_pieces(reader, hdu, solution_shape(n_fields, axes, time_modes));
    return {std::move(names), std::move(axes), time_modes, std::move(pieces), read_report(hdu)};
}

SolutionFile read_file(FitsReader& reader, const Hdu& hdu) {
    const auto& header = hdu.header;
    SolutionFile file{read_series(reader, hdu)};
    file.problem = header.text("PROBLEM").value_or("");
    for (int i = 1; header.has(fmt::format("PARAM{}", i)); ++i)
        file.parameters.push_back({required_text(header, fmt::format("PARAM{}", i)),
                                   required_number(header, fmt::format("PVALUE{}", i))});
    if (is_second(header, "HIGHMODE", "projection", "tau")) file.highest_mode = HighestMode::tau;
    file.tolerance = required_number(header, "TOL");
    for (auto& card : free_cards(hdu))
        if (!is_solution_key(card.key)) file.cards.push_back(std::move(card));
    return file;
}

}  // namespace

SolutionFile read_solution(const std::string& path) {
    FitsReader reader(path);
    const Hdu& hdu =
        reader.select("", "solution of an initial-value problem (table SOLUTION)",
                      [](const Hdu& candidate) { return kind_of(candidate) == FileKind::solution; });
    return reader.in(hdu, [&] { return read_file(reader, hdu); });
}

}  // namespace zonal::io
