#include "zonal/io/positions.hpp"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numbers>
#include <optional>
#include <utility>

#include "io/fits/cards.hpp"
#include "io/fits/fits_reader.hpp"
#include "io/fits/fits_writer.hpp"
#include "io/tables/text.hpp"
#include "io/tables/text_table.hpp"
#include "zonal/error.hpp"
#include "zonal/io/atomic_file.hpp"
#include "zonal/io/events.hpp"

namespace zonal::io {
namespace {

/// Two columns, and whether they are colatitude and longitude, or longitude and latitude.
struct Pair {
    std::string first, second;
    bool colatitudes;
};

/// A column that a file has.
struct NamedColumn {
    std::string name, unit;
};

std::size_t find_column(const std::vector<NamedColumn>& columns, const std::string& name) {
    for (std::size_t i = 0; i < columns.size(); ++i)
        if (equal_ignoring_case(columns[i].name, name)) return i;
    return columns.size();
}

std::string list_of(const std::vector<NamedColumn>& columns) {
    std::string text;
    for (const auto& column : columns) text += (text.empty() ? "" : ", ") + column.name;
    return text.empty() ? "none" : text;
}

/// The pair that is asked for. Empty where none is.
std::optional<Pair> asked_pair(const ReadPositionsOptions& options) {
    const bool by_theta = !options.theta.empty() || !options.phi.empty();
    const bool by_latitude = !options.longitude.empty() || !options.latitude.empty();
    if (by_theta && by_latitude)
        throw InvalidArgument("columns of theta and phi and of longitude and latitude exclude each other");
    if (by_theta && (options.theta.empty() || options.phi.empty()))
        throw InvalidArgument("columns of theta and of phi must both be named");
    if (by_latitude && (options.longitude.empty() || options.latitude.empty()))
        throw InvalidArgument("columns of longitude and of latitude must both be named");
    if (by_theta) return Pair{options.theta, options.phi, true};
    if (by_latitude) return Pair{options.longitude, options.latitude, false};
    return {};
}

std::optional<Pair> find_pair(const std::vector<NamedColumn>& columns, const ReadPositionsOptions& options) {
    const auto has = [&](const std::string& name) { return find_column(columns, name) < columns.size(); };
    if (auto asked = asked_pair(options)) {
        if (has(asked->first) && has(asked->second)) return asked;
        return {};
    }
    static const std::array<Pair, 6> known{{{"THETA", "PHI", true},
                                            {"LON", "LAT", false},
                                            {"L", "B", false},
                                            {"GLON", "GLAT", false},
                                            {"RA", "DEC", false},
                                            {"ELON", "ELAT", false}}};
    std::optional<Pair> found;
    for (const auto& pair : known) {
        if (!has(pair.first) || !has(pair.second)) continue;
        if (found)
            throw InvalidArgument(fmt::format("has columns {}, {} and {}, {}: name those of the positions",
                                              found->first, found->second, pair.first, pair.second));
        found = pair;
    }
    return found;
}

/// The pair, which must be there.
Pair require_pair(const std::vector<NamedColumn>& columns, const ReadPositionsOptions& options) {
    auto pair = find_pair(columns, options);
    if (pair) return *pair;
    if (const auto asked = asked_pair(options))
        throw InvalidArgument(fmt::format("has no columns {} and {}; its columns are {}", asked->first,
                                          asked->second, list_of(columns)));
    throw InvalidArgument(fmt::format(
        "has no columns of positions (THETA, PHI; LON, LAT; L, B; GLON, GLAT; RA, DEC; ELON, ELAT); its "
        "columns are {}: name those of the positions",
        list_of(columns)));
}

/// Fills theta and phi from what was given.
void set_angles(const Pair& pair, const ReadPositionsOptions& options, Positions& positions) {
    double factors[2];
    for (int i = 0; i < 2; ++i) {
        if (positions.units[i].empty()) positions.units[i] = options.unit;
        if (positions.units[i].empty())
            throw InvalidArgument(
                fmt::format("column {} states no unit: say whether it is deg or rad", positions.names[i]));
        factors[i] = unit_factor(positions.names[i], positions.units[i], angle_units(), "deg");
    }
    if (!pair.colatitudes)
        positions.coordinates = coordinates_of_columns(positions.names[0], positions.names[1]);
    const std::size_t n = positions.given[0].size();
    positions.theta.resize(n);
    positions.phi.resize(n);
    constexpr double half_turn = std::numbers::pi;
    // Degrees that end at a pole may be off by their rounding.
    constexpr double rounding = 4e-16;
    for (std::size_t i = 0; i < n; ++i) {
        const double first = positions.given[0][i] * factors[0], second = positions.given[1][i] * factors[1];
        double theta = pair.colatitudes ? first : half_turn / 2 - second;
        const double phi = pair.colatitudes ? second : first;
        if (theta < 0 && theta >= -rounding) theta = 0;
        if (theta > half_turn && theta <= half_turn * (1 + rounding)) theta = half_turn;
        if (!(theta >= 0 && theta <= half_turn) || !std::isfinite(phi))
            throw InvalidArgument(fmt::format(
                "row {}: {} = {}, {} = {}: {}", i + 1, positions.names[0], positions.given[0][i],
                positions.names[1], positions.given[1][i],
                pair.colatitudes ? "theta must be from 0 to 180 deg, and phi finite"
                                 : "a latitude must be from -90 to 90 deg, and a longitude finite"));
        positions.theta[i] = theta;
        positions.phi[i] = phi;
    }
}

/// "lon [deg] lat [deg] flux": names, and units where they are.
std::vector<NamedColumn> columns_of(const std::vector<std::string>& words) {
    std::vector<NamedColumn> columns;
    for (const auto& word : words) {
        const auto open = word.find('[');
        const std::string name = word.substr(0, open);
        if (!name.empty()) columns.push_back({name, ""});
        if (open == std::string::npos || columns.empty()) continue;
        const auto close = word.find(']', open);
        columns.back().unit =
            word.substr(open + 1, close == std::string::npos ? std::string::npos : close - open - 1);
    }
    return columns;
}

Positions read_text_positions(const FileBytes& file, const ReadPositionsOptions& options) {
    auto table = read_text_table(file);
    Positions positions;
    positions.source = file.path();
    return in_text(file, [&] {
        const auto columns = columns_of(table.header);
        if (columns.size() != table.columns.size())
            throw InvalidArgument(fmt::format(
                "has {} columns of numbers, and the '#' line above them names {}: must be as many, such as "
                "# lon [deg] lat [deg]",
                table.columns.size(), columns.size()));
        const auto pair = require_pair(columns, options);
        const std::string* const names[] = {&pair.first, &pair.second};
        for (int i = 0; i < 2; ++i) {
            const auto at = find_column(columns, *names[i]);
            positions.names[i] = columns[at].name;
            positions.units[i] = columns[at].unit;
            positions.given[i] = std::move(table.columns[at]);
        }
        set_angles(pair, options, positions);
        return std::move(positions);
    });
}

std::vector<NamedColumn> columns_of(const Hdu& hdu) {
    std::vector<NamedColumn> columns;
    for (const auto& column : hdu.columns) columns.push_back({column.name, column.unit});
    return columns;
}

Positions read_fits_positions(const std::string& path, const ReadPositionsOptions& options) {
    FitsReader reader(path);
    const Hdu& hdu = reader.select(options.hdu, "table of positions", [&](const Hdu& candidate) {
        try {
            return find_pair(columns_of(candidate), options).has_value();
        } catch (const InvalidArgument&) {
            return true;  // several: said below
        }
    });
    Positions positions;
    positions.source = reader.source(hdu);
    return reader.in(hdu, [&] {
        const auto columns = columns_of(hdu);
        const auto pair = require_pair(columns, options);
        std::vector<int> indices;
        for (const auto& name : {pair.first, pair.second}) {
            const auto at = find_column(columns, name);
            const auto& column = hdu.columns[at];
            if (!column.numeric() || column.repeat != 1)
                throw InvalidArgument(fmt::format("column {}: format {}: must be one number a row",
                                                  column.name, column.format));
            positions.names[indices.size()] = column.name;
            positions.units[indices.size()] = column.unit;
            indices.push_back(static_cast<int>(at));
        }
        auto values = reader.read_columns(hdu, indices, std::nan(""));
        for (std::size_t i = 0; i < 2; ++i) positions.given[i] = std::move(values[i]);
        set_angles(pair, options, positions);
        return std::move(positions);
    });
}

void check_table(const PositionTable& table) {
    const auto n = table.positions.size();
    if (table.names.size() != table.units.size() || table.values.extent(0) != std::ssize(table.names) ||
        table.values.extent(1) != n)
        throw InvalidArgument("values",
                              fmt::format("[{}, {}]", table.values.extent(0), table.values.extent(1)),
                              fmt::format("must be [{}, {}], a row for each name", table.names.size(), n));
}

void write_text(const std::string& path, const PositionTable& table, const WriteOptions& options) {
    AtomicFile file(path, options.overwrite);
    const char* const gap = ",";
    std::string text = "# ";
    const auto add = [&](const std::string& name, const std::string& unit, bool first) {
        if (!first) text += gap;
        // A blank in a unit would end it.
        std::string one_word = unit;
        for (char& byte : one_word)
            if (byte == ' ' || byte == ',' || byte == ';') byte = '_';
        text += one_word.empty() ? name : fmt::format("{} [{}]", name, one_word);
    };
    for (int i = 0; i < 2; ++i) add(table.positions.names[i], table.positions.units[i], i == 0);
    for (std::size_t c = 0; c < table.names.size(); ++c) add(table.names[c], table.units[c], false);
    text += "\n";
    constexpr std::size_t piece = std::size_t{1} << 20;
    for (std::int64_t i = 0; i < table.positions.size(); ++i) {
        const auto to = std::back_inserter(text);
        const auto row = static_cast<std::size_t>(i);
        fmt::format_to(to, "{}{}{}", table.positions.given[0][row], gap, table.positions.given[1][row]);
        for (std::int64_t c = 0; c < table.values.extent(0); ++c)
            fmt::format_to(to, "{}{}", gap, table.values(c, i));
        text += "\n";
        if (text.size() < piece) continue;
        file.write(text);
        text.clear();
    }
    file.write(text);
    file.commit();
}

}  // namespace

Positions read_positions(const std::string& path, const ReadPositionsOptions& options) {
    const bool is_fits = FileBytes(path).starts_like_fits();
    return is_fits ? read_fits_positions(path, options) : read_text_positions(FileBytes(path), options);
}

void write_positions(const std::string& path, const PositionTable& table, const WriteOptions& options) {
    check_table(table);
    if (path.ends_with(".csv") || path.ends_with(".CSV")) return write_text(path, table, options);
    check_cards(table.cards);
    std::vector<WriteColumn> columns;
    columns.reserve(2 + table.names.size());
    for (int i = 0; i < 2; ++i)
        columns.push_back({table.positions.names[i], "D", table.positions.units[i], "position"});
    for (std::size_t c = 0; c < table.names.size(); ++c)
        columns.push_back({table.names[c], "D", table.units[c], ""});
    FitsWriter writer(path, options);
    writer.begin_table("VALUES", table.positions.size(), columns);
    writer.write_cards(without_keys(table.cards, {"EXTNAME"}));
    const auto n = table.positions.size();
    const std::int64_t rows = std::max<std::int64_t>(writer.rows_at_once(), 1);
    for (std::int64_t first = 0; first < n; first += rows) {
        const auto count = std::min(rows, n - first);
        for (int i = 0; i < 2; ++i)
            writer.write_column(i, first, table.positions.given[i].data() + first, count);
        for (std::int64_t c = 0; c < table.values.extent(0); ++c) {
            std::vector<double> part;
            for (std::int64_t k = first; k < first + count; ++k) part.push_back(table.values(c, k));
            writer.write_column(static_cast<int>(2 + c), first, part.data(), count);
        }
    }
    writer.commit();
}

}  // namespace zonal::io
