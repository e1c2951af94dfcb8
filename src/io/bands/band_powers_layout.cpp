#include "io/bands/band_powers_layout.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace zonal::io {

std::string NamedSpectrum::window_label(std::int64_t source) const {
    if (source == number) return "WINDOWS " + label();
    return fmt::format("WINDOWS {}<-{}{}", name, block->names[static_cast<std::size_t>(source)], suffix);
}

std::vector<NamedSpectrum> named_spectra(const std::vector<SpectraBlock>& blocks) {
    std::vector<NamedSpectrum> spectra;
    std::set<std::string> names;
    bool is_plain = true;
    for (const auto& block : blocks)
        for (std::size_t s = 0; s < block.names.size(); ++s) {
            if (is_repeated(block, block.names[s])) continue;
            is_plain = names.insert(block.names[s]).second && is_plain;
            spectra.push_back({&block, static_cast<std::int64_t>(s), block.names[s],
                               fmt::format("_{}x{}", block.first, block.second)});
        }
    for (auto& spectrum : spectra)
        if (is_plain) spectrum.suffix.clear();
    return spectra;
}

std::string mask_key(char letter, std::int64_t field) {
    return fmt::format("MASK{}{}", letter, field);
}

std::string mask_column(std::int64_t first, std::int64_t second) {
    return fmt::format("W_{}x{}", first, second);
}

}  // namespace zonal::io
