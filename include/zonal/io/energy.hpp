#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "zonal/angle.hpp"

/// Energies of photons are in MeV.
namespace zonal::io {

/// eV to TeV.
inline constexpr std::array<NamedUnit, 5> energy_names = {
    {{{"eV"}, 1e-6}, {{"keV"}, 1e-3}, {{"MeV"}, 1.0}, {{"GeV"}, 1e3}, {{"TeV"}, 1e6}}};

/// The size in MeV of the unit with this name; nothing for other names.
inline std::optional<double> energy_unit(std::string_view name) {
    return size_of_unit(energy_names, name);
}

}  // namespace zonal::io
