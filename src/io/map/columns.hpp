#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/fits/fits_scan.hpp"
#include "io/map/column_names.hpp"
#include "zonal/io/map.hpp"

namespace zonal::io {

/// One column or image plane of a map file before its data are read.
struct MapField {
    std::string name{};
    std::string unit{};
    FilePrecision precision = FilePrecision::float32;
    Stokes stokes = Stokes::none;
    Auxiliary auxiliary = Auxiliary::none;
    bool numeric = true;
    int source = 0;  ///< index of the table's column or the image's plane
};

/// Whether the caller says which columns are I, Q, U, so that nothing is assumed.
inline bool settles_polarization(const ReadMapOptions& options) {
    return options.polarized.has_value() || !options.fields.empty();
}

/// Gives each field what its name says, then its Stokes parameter. Names decide first: those that say it
/// alone, then the one pair that shares the rest of its names. Where they are silent, a POLAR key that is T
/// makes the first three fields that are not auxiliary I, Q, U, unless their names contradict it. notes: says
/// what was assumed where options do not settle it.
void assign_stokes(std::vector<MapField>& fields, std::optional<bool> polar_key,
                   const ReadMapOptions& options, std::vector<std::string>& notes);

/// The fields asked for, in that order, with options.polarized applied. notes: names what looks like Q and U
/// and is taken as scalars. Throws InvalidArgument.
std::vector<MapField> choose_fields(const std::vector<MapField>& fields, const ReadMapOptions& options,
                                    std::vector<std::string>& notes);

}  // namespace zonal::io
