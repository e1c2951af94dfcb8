#pragma once

#include <memory>
#include <string>
#include <vector>

#include "zonal/distributed/map_share.hpp"
#include "zonal/distributed/sky.hpp"
#include "zonal/io/alm.hpp"
#include "zonal/io/map.hpp"
#include "zonal/sky/sky_map.hpp"
#include "zonal/view.hpp"

/// Files that no rank of a job holds whole: each rank reads and writes its part. All functions are
/// collective, and all ranks throw what goes wrong on one.
namespace zonal::io {

/// What a file of alm says of itself, and how its numbers are found.
struct AlmHeader {
    AlmFile file{};  ///< without coefficients
    std::size_t n_components = 0;
};

/// Reads a map without its pixels. Throws IoError as read_map_part does, and for another file on another
/// rank: one with other pixels or columns.
MapFile read_map_header(const std::string& path, const Communicator& ranks,
                        const ReadMapOptions& options = {});

/// Reads this rank's part of a HEALPix map, in ring order or nest: read_sky_map in parts. Files in parts must
/// be full skies and not be gzipped. Throws IoError as read_map_part does, and for another nside than sky's.
SkyMap read_sky_part(const std::string& path, const DistributedSky& sky, const ReadMapOptions& options = {});

/// Reads this rank's part of a mask, [pixel]: read_mask in parts. map: of the same sky.
Array<double, 1> read_mask_part(const std::string& path, const SkyMap& map, const DistributedSky& sky,
                                std::vector<std::string>& notes, const std::string& field = "0");

/// Reads this rank's pixels of a map, which is divided evenly among the ranks in the file's order. Pixels
/// that are no numbers are as with read_sky_map. Throws IoError as read_map_part does.
MapShare read_map_share(const std::string& path, const Communicator& ranks,
                        const ReadMapOptions& options = {});

/// Writes a full sky. The bytes of the file are those that write_map writes, dates apart. The ranks must see
/// the same folder. Throws IoError for a name that ends in .gz, and InvalidArgument for maps that are not
/// HEALPix.
void write_map_share(const std::string& path, const MapShare& map, const Communicator& ranks,
                     const WriteOptions& options = {});

/// Writes a map that lies in parts on the ranks, as write_sky_map does whole ones.
void write_sky_part(const std::string& path, const SkyMap& map, const DistributedSky& sky,
                    const WriteOptions& options = {});

/// Reads what a file of alm says of itself, lmax and mmax among it. Throws IoError as read_alm does, and for
/// another file on another rank: one with other numbers of components or coefficients.
AlmHeader read_alm_header(const std::string& path, const Communicator& ranks);

/// Reads this rank's part of the alm that are in a layout of fewer orders: read_alm in parts. What the file
/// has beyond the layout's lmax and mmax is left out. Throws IoError as read_alm does, and for gzipped files.
AlmFile read_alm_part(const std::string& path, const AlmLayout& layout, const Communicator& ranks);

/// Writes alm that lie in parts on the ranks: the bytes that write_alm writes, dates apart. Throws IoError
/// for coefficients that are NaN or infinite, and as write_map_share does.
void write_alm_part(const std::string& path, const AlmFile& alm, const Communicator& ranks,
                    const WriteOptions& options = {});

}  // namespace zonal::io
