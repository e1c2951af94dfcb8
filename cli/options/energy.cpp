#include "options/energy.hpp"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

#include "options/parse.hpp"
#include "shell/error.hpp"

namespace zonal::cli {
namespace {

constexpr std::array<std::pair<std::string_view, double>, 5> energy_units = {
    {{"eV", 1e-6}, {"keV", 1e-3}, {"MeV", 1.0}, {"GeV", 1e3}, {"TeV", 1e6}}};

}  // namespace

double parse_energy(const std::string& option, const std::string& text) {
    const auto reject = [&](const std::string& reason) -> UsageError {
        return UsageError(fmt::format("{} = {}: {}", option, printable(text), reason));
    };
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || !std::isfinite(value))
        throw reject("must be an energy with a unit, such as 10GeV or 500MeV");
    std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
    while (unit.starts_with(' ')) unit.remove_prefix(1);
    if (unit.empty()) throw reject(fmt::format("an energy needs a unit: {0}MeV, {0}GeV or {0}TeV", text));
    for (const auto& [name, size] : energy_units) {
        if (unit != name) continue;
        if (!(value > 0) || !std::isfinite(value * size)) throw reject("must be above 0 and finite");
        return value * size;
    }
    throw reject(fmt::format("unit '{}': must be eV, keV, MeV, GeV or TeV", printable(std::string(unit))));
}

EnergyRange parse_energy_range(const std::string& option, const std::string& text) {
    const auto colon = text.find(':');
    if (colon == std::string::npos)
        throw UsageError(
            fmt::format("{} = {}: must be MIN:MAX, such as 50GeV:2TeV", option, printable(text)));
    const EnergyRange range{parse_energy(option + " MIN", text.substr(0, colon)),
                            parse_energy(option + " MAX", text.substr(colon + 1))};
    if (!(range.minimum < range.maximum))
        throw UsageError(fmt::format("{} = {}: MIN must be below MAX", option, printable(text)));
    return range;
}

}  // namespace zonal::cli
