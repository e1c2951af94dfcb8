#include "zonal/io/psf.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "io/fits/fits_reader.hpp"
#include "io/tables/text.hpp"
#include "zonal/error.hpp"

namespace zonal::io {
namespace {

/// All values of a column in the first of units, or those of `usual` where the file states none.
std::vector<double> read_in_units(FitsReader& reader, const Hdu& hdu, const std::string& name,
                                  const Units& units, const std::string& usual) {
    const int index = hdu.find_column(name);
    if (index < 0) throw InvalidArgument(fmt::format("no column {}", name));
    const auto& column = hdu.columns[static_cast<std::size_t>(index)];
    const double factor = unit_factor(name, column.unit, units, usual);
    auto values = reader.read_columns(hdu, {index}, std::nan("")).front();
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] *= factor;
        if (!(values[i] >= 0) || !std::isfinite(values[i]))
            throw InvalidArgument(
                fmt::format("column {}: value {} at {}: must be 0 or positive", name, values[i], i));
    }
    return values;
}

void check_ascending(const std::vector<double>& values, const char* name) {
    if (values.size() < 2) throw InvalidArgument(fmt::format("column {}: needs 2 rows at least", name));
    const auto bad = std::adjacent_find(values.begin(), values.end(), std::greater_equal<>());
    if (bad != values.end())
        throw InvalidArgument(
            fmt::format("column {}: does not ascend at {}", name, bad - values.begin() + 1));
}

std::vector<double> read_theta(FitsReader& reader) {
    const Hdu& hdu = reader.select("THETA", "table of angles", [](const Hdu&) { return true; });
    return reader.in(hdu, [&] {
        auto theta = read_in_units(reader, hdu, "Theta", angle_units(), "deg");
        check_ascending(theta, "Theta");
        if (theta.front() != 0 || theta.back() > std::numbers::pi)
            throw InvalidArgument("column Theta: must be from 0 to 180 degrees at most");
        return theta;
    });
}

}  // namespace

PsfTable read_psf(const std::string& path) {
    FitsReader reader(path);
    PsfTable psf;
    psf.theta = read_theta(reader);
    const Hdu& hdu = reader.select("PSF", "table of point-spread functions", [](const Hdu&) { return true; });
    psf.source = reader.source(hdu);
    reader.in(hdu, [&] {
        psf.energy = read_in_units(reader, hdu, "Energy", energy_units(), "MeV");
        check_ascending(psf.energy, "Energy");
        if (psf.energy.front() <= 0) throw InvalidArgument("column Energy: must be positive");
        const auto values = read_in_units(reader, hdu, "Psf", density_units(), "sr-1");
        const std::size_t n = psf.theta.size();
        if (values.size() != psf.energy.size() * n)
            throw InvalidArgument(fmt::format("column Psf: {} values for {} energies and {} angles",
                                              values.size(), psf.energy.size(), n));
        for (auto row = values.begin(); row != values.end(); row += static_cast<std::ptrdiff_t>(n))
            psf.values.emplace_back(row, row + static_cast<std::ptrdiff_t>(n));
    });
    return psf;
}

std::vector<double> psf_at_energy(const PsfTable& psf, double energy) {
    // The tables' own ends are rounded: 2 TeV is 1999999.999999999 MeV.
    constexpr double rounding = 1e-12;
    const double first = psf.energy.front(), last = psf.energy.back();
    if (!(energy >= first * (1 - rounding) && energy <= last * (1 + rounding)))
        throw InvalidArgument(
            "energy", fmt::format("{} MeV", energy),
            fmt::format("must be from {:.12g} to {:.12g} MeV, the range of {}", first, last, psf.source));
    const auto above = std::upper_bound(psf.energy.begin() + 1, psf.energy.end() - 1, energy);
    const auto k = static_cast<std::size_t>(above - psf.energy.begin()) - 1;
    const double t = std::log(energy / psf.energy[k]) / std::log(psf.energy[k + 1] / psf.energy[k]);
    std::vector<double> profile(psf.theta.size());
    for (std::size_t i = 0; i < profile.size(); ++i) {
        const double low = psf.values[k][i], high = psf.values[k + 1][i];
        profile[i] = low > 0 && high > 0 ? low * std::pow(high / low, t) : low + t * (high - low);
    }
    return profile;
}

double EnergyBand::geometric_mean() const {
    return std::sqrt(minimum) * std::sqrt(maximum);
}

std::vector<EnergyBand> read_energy_bands(const std::string& path) {
    FitsReader reader(path);
    const Hdu& hdu = reader.select("EBOUNDS", "table of energy bands", [](const Hdu&) { return true; });
    return reader.in(hdu, [&] {
        const auto low = read_in_units(reader, hdu, "E_MIN", energy_units(), "keV");
        const auto high = read_in_units(reader, hdu, "E_MAX", energy_units(), "keV");
        std::vector<EnergyBand> bands;
        for (std::size_t i = 0; i < low.size(); ++i) {
            if (i >= high.size() || !(low[i] > 0 && low[i] < high[i]))
                throw InvalidArgument(fmt::format("band {}: E_MIN must be positive and below E_MAX", i));
            bands.push_back({low[i], high[i]});
        }
        if (bands.empty()) throw InvalidArgument("has no bands");
        return bands;
    });
}

}  // namespace zonal::io
