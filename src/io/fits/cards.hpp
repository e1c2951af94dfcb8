#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "io/fits/fits_scan.hpp"
#include "zonal/io/header.hpp"

namespace zonal::io {

/// Keys that describe the table, its pixels or the file itself (TFORM1, NSIDE, CHECKSUM, CREATOR, ...):
/// writers set them, so they are neither handed on by readers nor accepted from callers.
bool is_reserved_key(const std::string& key);

/// The value of COORDSYS: "G", "E", "C"; "" for unknown.
const char* coordsys_key(CoordinateSystem system);

/// The HDU's value cards that are not reserved.
std::vector<HeaderCard> free_cards(const Hdu& hdu);

/// The EXTNAME among the cards, else the fallback.
std::string extension_name(const std::vector<HeaderCard>& cards, const std::string& fallback);
/// The cards but those of these keys, which the caller writes itself.
std::vector<HeaderCard> without_keys(const std::vector<HeaderCard>& cards,
                                     std::initializer_list<const char*> keys);

/// Throws InvalidArgument for keys that are reserved or not FITS keys, and for values that FITS cannot hold.
void check_cards(const std::vector<HeaderCard>& cards);

}  // namespace zonal::io
