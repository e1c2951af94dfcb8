#pragma once

#include <string>
#include <vector>

#include "io/fits/fits_scan.hpp"
#include "zonal/io/map.hpp"

namespace zonal::io {

/// I_STOKES, TEMPERATURE, Q-POLARISATION, ...; none for any other name.
Stokes stokes_from_name(const std::string& name);

/// Hits (N_OBS, HITS), errors and covariances (SIGMA, II_COV); none for any other name.
Auxiliary auxiliary_from_name(const std::string& name);

/// The column with the pixel numbers of a partial sky.
bool is_pixel_name(const std::string& name);

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

/// Gives each field its Stokes parameter by name; where no name says Q or U and the file's POLAR key is T,
/// the first three that are not auxiliary are I, Q, U.
void assign_stokes(std::vector<MapField>& fields, bool polar_key);

/// The fields asked for, in that order, with options.polarized applied. Throws InvalidArgument.
std::vector<MapField> choose_fields(const std::vector<MapField>& fields, const ReadMapOptions& options);

}  // namespace zonal::io
