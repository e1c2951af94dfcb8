#pragma once

// What the writer and the reader of band powers agree on.
#include <cstdint>
#include <string>
#include <vector>

#include "zonal/spectra/estimate.hpp"

namespace zonal::io {

/// Their numbers have three digits in a file.
inline constexpr std::int64_t most_fields = 1000;

/// A spectrum that repeats no other one, and what it is called in a file.
struct NamedSpectrum {
    const SpectraBlock* block;
    std::int64_t number;  ///< in the block
    std::string name;     ///< "TE"
    std::string suffix;   ///< "_0x1", or empty where no two spectra have the same name

    std::string label() const { return name + suffix; }
    /// Names the windows by which the spectrum `source` of the block adds to this one's bands.
    std::string window_label(std::int64_t source) const;
};
std::vector<NamedSpectrum> named_spectra(const std::vector<SpectraBlock>& blocks);

/// The key of the number of a mask: "MASKT0", for T of the field 0. letter: T or P.
std::string mask_key(char letter, std::int64_t field);
/// "W_0x1"
std::string mask_column(std::int64_t first, std::int64_t second);

}  // namespace zonal::io
