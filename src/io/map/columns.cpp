#include "io/map/columns.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

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

bool is_data(const MapField& field) {
    return field.numeric && field.auxiliary == Auxiliary::none;
}

bool has_pair(const std::vector<MapField>& fields) {
    return std::any_of(fields.begin(), fields.end(), [](const MapField& field) {
        return field.stokes == Stokes::Q || field.stokes == Stokes::U;
    });
}

/// By names that say it alone: I_STOKES, Q_POLARISATION.
void assign_by_common_names(std::vector<MapField>& fields) {
    for (auto& field : fields) {
        const auto name = stokes_from_name(field.name);
        field.stokes =
            field.auxiliary == Auxiliary::none && name && name->is_common ? name->stokes : Stokes::none;
    }
}

/// By names that say it together: Q_DUST and U_DUST, which are a pair if there is one of each and no other
/// pair.
void assign_by_shared_names(std::vector<MapField>& fields) {
    std::map<std::string, std::array<std::vector<MapField*>, 4>> groups;  // by Stokes parameter
    const auto of = [](auto& group, Stokes stokes) -> auto& {
        return group[static_cast<std::size_t>(stokes)];
    };
    for (auto& field : fields)
        if (const auto name = stokes_from_name(field.name); name && is_data(field))
            of(groups[name->rest], name->stokes).push_back(&field);
    std::erase_if(groups, [&](const auto& group) {
        return of(group.second, Stokes::Q).size() != 1 || of(group.second, Stokes::U).size() != 1;
    });
    if (groups.size() != 1) return;
    auto& group = groups.begin()->second;
    for (const auto stokes : {Stokes::Q, Stokes::U}) of(group, stokes)[0]->stokes = stokes;
    if (of(group, Stokes::I).size() != 1) return;
    for (auto& field : fields) field.stokes = field.stokes == Stokes::I ? Stokes::none : field.stokes;
    of(group, Stokes::I)[0]->stokes = Stokes::I;
}

/// Whether the names of the first three say that they are others than I, Q, U.
bool contradict_their_order(const std::vector<MapField*>& data) {
    for (std::size_t i = 0; i < 3; ++i)
        if (const auto name = stokes_from_name(data[i]->name); name && name->stokes != stokes_order[i])
            return true;
    return false;
}

std::string quoted(const std::vector<std::string>& names) {
    return fmt::format("'{}'", fmt::join(names, "', '"));
}

constexpr const char* settled_by = "--pol, --no-pol or --field (pol=, field=) settles it";

}  // namespace

void assign_stokes(std::vector<MapField>& fields, std::optional<bool> polar_key,
                   const ReadMapOptions& options, std::vector<std::string>& notes) {
    const auto note = [&](std::string text) {
        if (!settles_polarization(options)) notes.push_back(std::move(text));
    };
    std::vector<MapField*> data;
    for (auto& field : fields) {
        field.auxiliary = auxiliary_from_name(field.name);
        if (is_data(field)) data.push_back(&field);
    }
    assign_by_common_names(fields);
    if (!has_pair(fields)) assign_by_shared_names(fields);
    if (has_pair(fields)) {
        if (polar_key == false)
            note(fmt::format("POLAR = F, but columns are Q and U by their names: {}", settled_by));
        return;
    }
    if (polar_key != true || data.size() < 2) return;
    if (data.size() < 3 || contradict_their_order(data)) {
        note(fmt::format(
            "POLAR = T, but the names do not say which columns are I, Q and U: taken as scalars; {}",
            settled_by));
        return;
    }
    for (std::size_t i = 0; i < 3; ++i) data[i]->stokes = stokes_order[i];
    note(fmt::format("POLAR = T: columns {} taken as I, Q, U; {}",
                     quoted({data[0]->name, data[1]->name, data[2]->name}), settled_by));
}

namespace {

/// Names the columns that look like Q and U and are taken as fields of spin 0.
void note_scalars(const std::vector<MapField>& fields, std::vector<std::string>& notes) {
    std::vector<std::string> names;
    bool is_like_q = false, is_like_u = false;
    for (const auto& field : fields) {
        const auto name = stokes_from_name(field.name);
        if (!name || name->stokes == Stokes::I || field.stokes != Stokes::none || !is_data(field)) continue;
        names.push_back(field.name);
        (name->stokes == Stokes::Q ? is_like_q : is_like_u) = true;
    }
    if (!is_like_q || !is_like_u) return;
    notes.push_back(
        fmt::format("columns {} look like Q and U, but are taken as scalars: {}", quoted(names), settled_by));
}

}  // namespace

std::vector<MapField> choose_fields(const std::vector<MapField>& fields, const ReadMapOptions& options,
                                    std::vector<std::string>& notes) {
    std::vector<MapField> chosen;
    std::set<int> sources;
    for (const auto& wanted : options.fields) {
        const auto& field = find_field(fields, wanted);
        if (!sources.insert(field.source).second)
            throw InvalidArgument(fmt::format("field '{}' is asked for twice", wanted));
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
    // The caller may have chosen one of several pairs.
    if (!options.polarized && !options.fields.empty() && !has_pair(chosen)) assign_by_shared_names(chosen);
    check_unique(chosen);
    if (!options.polarized) note_scalars(chosen, notes);
    return chosen;
}

}  // namespace zonal::io
