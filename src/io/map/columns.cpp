#include "io/map/columns.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "io/tables/text.hpp"
#include "zonal/error.hpp"

namespace zonal::io {
namespace {

constexpr std::array stokes_order{Stokes::I, Stokes::Q, Stokes::U};

std::string list(const std::vector<MapField>& fields) {
    std::string text;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        text += fmt::format("{}{} '{}'", i == 0 ? "" : ", ", i, fields[i].name);
    }
    return text;
}

/// The column that is I (or T), Q or U of the sky, whatever its name; nullptr where none is.
const MapField* find_stokes(const std::vector<MapField>& fields, const std::string& wanted) {
    const std::string letter = to_upper(wanted);
    const Stokes stokes = letter == "I" || letter == "T" ? Stokes::I
                          : letter == "Q"                ? Stokes::Q
                          : letter == "U"                ? Stokes::U
                                                         : Stokes::none;
    if (stokes == Stokes::none) return nullptr;
    const MapField* found = nullptr;
    for (const auto& field : fields) {
        if (field.stokes != stokes) continue;
        if (found)
            throw InvalidArgument(
                fmt::format("field '{}': several are {} by their names: give a name or number of {}", wanted,
                            letter, list(fields)));
        found = &field;
    }
    return found;
}

const MapField& find_field(const std::vector<MapField>& fields, const std::string& wanted) {
    if (const auto number = parse_integer(wanted)) {
        if (*number >= 0 && *number < static_cast<std::int64_t>(fields.size())) return fields[*number];
        throw InvalidArgument(fmt::format("field {}: must be one of {}", wanted, list(fields)));
    }
    const MapField* found = nullptr;
    for (const auto& field : fields) {
        if (!equal_ignoring_case(trim(field.name), trim(wanted))) continue;
        if (found)
            throw InvalidArgument(
                fmt::format("field '{}' occurs twice: give a number of {}", wanted, list(fields)));
        found = &field;
    }
    if (!found) found = find_stokes(fields, trim(wanted));
    if (!found) throw InvalidArgument(fmt::format("field '{}': must be one of {}", wanted, list(fields)));
    return *found;
}

/// The caller says that the fields are polarized: their names decide where they can, else their position.
void force_polarized(std::vector<MapField>& fields) {
    const auto has = [&](Stokes stokes) {
        return std::any_of(fields.begin(), fields.end(),
                           [&](const auto& field) { return field.stokes == stokes; });
    };
    if (has(Stokes::Q) && has(Stokes::U)) return;
    if (fields.size() < 2) {
        throw InvalidArgument(
            fmt::format("polarized fields: 2 (Q, U) or 3 (I, Q, U) are needed, {} is there", fields.size()));
    }
    for (auto& field : fields) field.stokes = Stokes::none;
    const std::size_t skip = fields.size() == 2 ? 1 : 0;
    for (std::size_t i = 0; i + skip < 3; ++i) fields[i].stokes = stokes_order[i + skip];
}

void check_unique(const std::vector<MapField>& fields) {
    for (const auto stokes : stokes_order) {
        const auto is_stokes = [&](const MapField& field) { return field.stokes == stokes; };
        if (std::count_if(fields.begin(), fields.end(), is_stokes) > 1 && stokes != Stokes::I) {
            throw InvalidArgument(
                fmt::format("two fields are the Stokes parameter {} by their names: choose fields among {}",
                            stokes == Stokes::Q ? "Q" : "U", list(fields)));
        }
    }
}

}  // namespace

void assign_stokes(std::vector<MapField>& fields, bool polar_key) {
    bool named = false;
    std::vector<MapField*> data;
    for (auto& field : fields) {
        field.auxiliary = auxiliary_from_name(field.name);
        const bool is_field = field.auxiliary == Auxiliary::none;
        field.stokes = is_field ? stokes_from_name(field.name) : Stokes::none;
        named = named || field.stokes == Stokes::Q || field.stokes == Stokes::U;
        if (is_field && field.numeric) data.push_back(&field);
    }
    if (!polar_key || named || data.size() < 3) return;
    for (auto* field : data) field->stokes = Stokes::none;
    for (std::size_t i = 0; i < 3; ++i) data[i]->stokes = stokes_order[i];
}

std::vector<MapField> choose_fields(const std::vector<MapField>& fields, const ReadMapOptions& options) {
    std::vector<MapField> chosen;
    for (const auto& wanted : options.fields) {
        const auto& field = find_field(fields, wanted);
        const auto same = [&](const MapField& other) { return other.source == field.source; };
        if (std::any_of(chosen.begin(), chosen.end(), same)) {
            throw InvalidArgument(fmt::format("field '{}' is asked for twice", wanted));
        }
        chosen.push_back(field);
    }
    if (options.fields.empty()) {
        std::copy_if(fields.begin(), fields.end(), std::back_inserter(chosen), [&](const MapField& field) {
            return field.numeric && (options.auxiliary || field.auxiliary == Auxiliary::none);
        });
    }
    if (chosen.empty()) {
        throw InvalidArgument(
            fmt::format("no column of data but hits and covariances, which must be named; there are {}",
                        fields.empty() ? "none" : list(fields)));
    }
    if (options.polarized == true) force_polarized(chosen);
    if (options.polarized == false) {
        for (auto& field : chosen) field.stokes = Stokes::none;
    }
    check_unique(chosen);
    return chosen;
}

namespace {

// Names that HEALPix F90/C++/IDL, healpy, WMAP and Planck give. Upper case, '-' for '_' or '-'.
constexpr std::array<std::string_view, 8> intensity{"I-STOKES", "STOKES-I", "TEMPERATURE", "INTENSITY",
                                                    "I",        "T",        "I-MAP",       "SIGNAL"};
// Behind the Q or U.
constexpr std::array<std::string_view, 5> polarisation{"", "-STOKES", "-POLARISATION", "-POLARIZATION",
                                                       "-MAP"};
constexpr std::array<std::string_view, 10> hits{
    "N-OBS", "NOBS",     "N-HITS",         "NHITS",  "HITS",
    "HIT",   "HITCOUNT", "N-OBSERVATIONS", "HITMAP", "EFFECTIVE-N-OBS"};
constexpr std::array<std::string_view, 4> errors{"SERROR", "SIGMA", "ERROR", "VARIANCE"};
// healpy's names for the six elements of the covariance of I, Q, U.
constexpr std::array<std::string_view, 6> covariance{"II", "IQ", "IU", "QQ", "QU", "UU"};

std::string canonical(const std::string& name) {
    std::string result = to_upper(trim(name));
    std::replace(result.begin(), result.end(), '_', '-');
    return result;
}

template <class Names>
bool contains(const Names& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

Stokes stokes_from_name(const std::string& name) {
    const std::string key = canonical(name);
    if (contains(intensity, key)) return Stokes::I;
    if (key.empty()) return Stokes::none;
    const std::string_view rest = std::string_view(key).substr(1);
    if (key == "STOKES-Q" || (key[0] == 'Q' && contains(polarisation, rest))) return Stokes::Q;
    if (key == "STOKES-U" || (key[0] == 'U' && contains(polarisation, rest))) return Stokes::U;
    return Stokes::none;
}

Auxiliary auxiliary_from_name(const std::string& name) {
    const std::string key = canonical(name);
    const bool covariance_name =
        key.ends_with("-COV") || key.starts_with("COV-") || key.ends_with("-COVARIANCE");
    if (contains(hits, key) || key.ends_with("-HITS")) return Auxiliary::hits;
    return contains(errors, key) || contains(covariance, key) || covariance_name || key.ends_with("-ERR") ||
                   key.ends_with("-ERROR")
               ? Auxiliary::error
               : Auxiliary::none;
}

bool is_pixel_name(const std::string& name) {
    const std::string key = canonical(name);
    return key == "PIXEL" || key == "PIX";
}

}  // namespace zonal::io
