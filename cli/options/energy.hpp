#pragma once

#include <string>

namespace zonal::cli {

/// "10GeV", "3e4 MeV", in MeV; eV, keV, MeV, GeV or TeV, above 0 and finite. Throws UsageError that names the
/// option.
double parse_energy(const std::string& option, const std::string& text);

/// From minimum to below maximum, MeV.
struct EnergyRange {
    double minimum = 0;
    double maximum = 0;
};
/// "50GeV:2TeV", ascending.
EnergyRange parse_energy_range(const std::string& option, const std::string& text);

}  // namespace zonal::cli
