#include "zonal/io/beam.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <map>

#include "io/fits/fits_reader.hpp"
#include "io/fits/fits_writer.hpp"
#include "io/fits/hdu_kind.hpp"
#include "io/tables/spectrum_names.hpp"
#include "io/tables/text.hpp"
#include "io/tables/text_table.hpp"
#include "zonal/error.hpp"

namespace zonal::io {
namespace {

/// What a column of a beam file is, by its name.
enum class Role { temperature, polarization, gradient, curl, multipole, error, unknown };

struct WindowColumn {
    std::string name;  ///< empty where the file gives none
    std::vector<double> values;
};

Role role_of(const std::string& name) {
    if (is_multipole_name(name)) return Role::multipole;
    std::string key = to_upper(trim(name));
    std::erase_if(key, [](char byte) { return byte == '-' || byte == '_' || byte == ' '; });
    const auto is_one_of = [&](std::initializer_list<const char*> names) {
        return std::find(names.begin(), names.end(), key) != names.end();
    };
    const auto contains = [&](const char* part) { return key.find(part) != std::string::npos; };
    if (contains("ERR") || contains("SIGMA") || contains("UNCERT") || key.starts_with("STD") ||
        key.starts_with("VAR") || (key.starts_with("DB") && key != "DB"))
        return Role::error;
    if (is_one_of({"T", "TT", "TEMPERATURE", "I", "INTENSITY"})) return Role::temperature;
    if (is_one_of({"P", "POL", "POLARIZATION", "POLARISATION"})) return Role::polarization;
    if (is_one_of({"E", "EE", "G", "GRAD", "GRADIENT", "ELECTRIC"})) return Role::gradient;
    if (is_one_of({"B", "BB", "C", "CURL", "MAGNETIC"})) return Role::curl;
    return Role::unknown;
}

void check_values(const std::vector<double>& values, std::size_t size) {
    if (values.empty() || values.size() != size)
        throw InvalidArgument("its columns are empty or have different lengths");
    const auto bad =
        std::find_if(values.begin(), values.end(), [](double value) { return !std::isfinite(value); });
    if (bad != values.end())
        throw InvalidArgument(fmt::format("value {} at l = {}: must be finite", *bad, bad - values.begin()));
}

/// Throws InvalidArgument for 0, 1, 2, ...: no window grows like that, but a column of l without a name does.
void require_no_multipoles(const WindowColumn& column) {
    if (column.values.size() < 3) return;
    for (std::size_t l = 0; l < column.values.size(); ++l)
        if (column.values[l] != static_cast<double>(l)) return;
    throw InvalidArgument(fmt::format("column '{}' is 0, 1, 2, ...: that is l and no window", column.name));
}

/// Takes l and the errors away.
std::vector<WindowColumn> window_columns(std::vector<WindowColumn> columns, std::vector<std::string>& notes) {
    std::vector<WindowColumn> windows;
    const auto size = columns.empty() ? 0 : columns[0].values.size();
    for (auto& column : columns) {
        const auto role = role_of(column.name);
        if (role == Role::multipole) {
            if (const auto first = first_multipole(column.values); first != 0)
                throw InvalidArgument(fmt::format("begins at l = {}: must begin at 0", first));
        } else if (role == Role::error && columns.size() > 1) {
            notes.push_back(fmt::format("column '{}' left out: errors are no beam", column.name));
        } else {
            check_values(column.values, size);
            require_no_multipoles(column);
            windows.push_back(std::move(column));
        }
    }
    return windows;
}

/// One column is for T, E and B; of several the names decide.
BeamFile make_window(std::vector<WindowColumn> columns, const std::string& source) {
    BeamFile window;
    window.source = source;
    const auto windows = window_columns(std::move(columns), window.notes);
    for (auto& note : window.notes) note = fmt::format("{}: {}", source, note);
    if (windows.empty()) throw InvalidArgument("no column of numbers that could be a beam");
    window.columns = static_cast<int>(windows.size());
    if (windows.size() == 1) {
        window.temperature = window.gradient = window.curl = windows[0].values;
        return window;
    }
    std::map<Role, const std::vector<double>*> by_role;
    std::string names;
    for (const auto& column : windows) {
        by_role.emplace(role_of(column.name), &column.values);
        names += fmt::format("{}'{}'", names.empty() ? "" : ", ", column.name);
    }
    const auto find = [&](std::initializer_list<Role> roles) -> const std::vector<double>* {
        for (const auto role : roles)
            if (const auto found = by_role.find(role); found != by_role.end()) return found->second;
        return nullptr;
    };
    const auto* temperature = find({Role::temperature});
    const auto* gradient = find({Role::gradient, Role::polarization});
    const auto* curl = find({Role::curl, Role::polarization, Role::gradient});
    if (by_role.size() != windows.size() || by_role.contains(Role::unknown) || !temperature || !gradient ||
        !curl)
        throw InvalidArgument(fmt::format(
            "{} columns {}: one serves T, E and B; several must have the names T, E and B, or T and P "
            "(in text a line such as '# l T E B' above the numbers)",
            windows.size(), names));
    window.temperature = *temperature;
    window.gradient = *gradient;
    window.curl = *curl;
    return window;
}

std::vector<WindowColumn> read_table_columns(FitsReader& reader, const Hdu& hdu) {
    std::vector<int> numbers;
    std::vector<WindowColumn> columns;
    for (std::size_t i = 0; i < hdu.columns.size(); ++i)
        if (hdu.columns[i].numeric()) {
            numbers.push_back(static_cast<int>(i));
            columns.push_back({hdu.columns[i].name, {}});
        }
    auto values = reader.read_columns(hdu, numbers, std::nan(""));
    for (std::size_t i = 0; i < values.size(); ++i) columns[i].values = std::move(values[i]);
    return columns;
}

/// Any table that is not plainly something else: beams have no keys and names of their own.
bool may_be_window(const Hdu& hdu) {
    const auto kind = kind_of(hdu);
    const bool map_keys = hdu.header.has("PIXTYPE") || hdu.header.has("ORDERING");
    return !hdu.columns.empty() && kind != FileKind::alm && kind != FileKind::weights &&
           kind != FileKind::solution && !map_keys;
}

BeamFile read_text_window(const FileBytes& file) {
    TextTable table = read_text_table(file);
    std::vector<WindowColumn> columns;
    for (std::size_t i = 0; i < table.columns.size(); ++i)
        columns.push_back({table.header.size() == table.columns.size() ? table.header[i] : std::string(),
                           std::move(table.columns[i])});
    // If no column is named l, the first of several holds it.
    const bool has_multipoles = std::any_of(columns.begin(), columns.end(), [](const WindowColumn& column) {
        return is_multipole_name(column.name);
    });
    if (columns.size() > 1 && !has_multipoles) columns[0].name = "l";
    return in_text(file, [&] { return make_window(std::move(columns), file.path()); });
}

}  // namespace

BeamFile read_beam(const std::string& path) {
    auto file = std::make_unique<FileBytes>(path);
    if (!file->starts_like_fits()) return read_text_window(*file);
    FitsReader reader(std::move(file));
    const Hdu& hdu = reader.select("", "table of b_l", may_be_window);
    return reader.in(hdu, [&] { return make_window(read_table_columns(reader, hdu), reader.source(hdu)); });
}

BeamFile read_pixel_window(const std::string& path, std::int64_t nside) {
    FitsReader reader(path);
    const Hdu& hdu = reader.select("", "pixel window", may_be_window);
    return reader.in(hdu, [&] {
        const auto found = hdu.header.integer("NSIDE");
        if (nside > 0 && found && *found != nside) {
            throw InvalidArgument("NSIDE", *found,
                                  fmt::format("a pixel window of nside {} is needed", nside));
        }
        const int temperature = hdu.find_column("TEMPERATURE");
        const int polarization = std::max(hdu.find_column("POLARIZATION"), hdu.find_column("POLARISATION"));
        if (temperature < 0) throw InvalidArgument("no column TEMPERATURE: not a pixel window");
        std::vector<int> numbers{temperature};
        if (polarization >= 0) numbers.push_back(polarization);
        const auto values = reader.read_columns(hdu, numbers, std::nan(""));
        std::vector<WindowColumn> columns{{"TEMPERATURE", values[0]}};
        if (polarization >= 0) columns.push_back({"POLARIZATION", values[1]});
        BeamFile window = make_window(std::move(columns), reader.source(hdu));
        if (polarization < 0)
            window.notes.push_back(window.source + ": no column POLARIZATION: T's is used for E and B");
        return window;
    });
}

void write_beam(const std::string& path, const Beam& beam, const WriteOptions& options) {
    const bool one = beam.gradient == beam.temperature && beam.curl == beam.temperature;
    std::vector<std::vector<double>> values{beam.temperature};
    if (!one) values.insert(values.end(), {beam.gradient, beam.curl});
    for (const auto& column : values) check_values(column, values[0].size());
    std::vector<WriteColumn> columns;
    constexpr const char* names[] = {"TEMPERATURE", "GRADIENT", "CURL"};
    for (std::size_t i = 0; i < values.size(); ++i)
        columns.push_back({names[i], "D", "", "beam window b(l)"});
    FitsWriter writer(path, options);
    writer.begin_table("BEAM WINDOW", beam.lmax() + 1, columns);
    writer.write_card({"MAX-LPOL", beam.lmax(), "largest l; row = l"});
    for (std::size_t i = 0; i < values.size(); ++i) {
        writer.write_column(static_cast<int>(i), 0, values[i].data(), beam.lmax() + 1);
    }
    writer.commit();
}

}  // namespace zonal::io
