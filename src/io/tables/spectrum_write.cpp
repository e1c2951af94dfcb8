#include <fmt/core.h>

#include <algorithm>

#include "io/fits/cards.hpp"
#include "io/fits/fits_writer.hpp"
#include "io/tables/spectrum_names.hpp"
#include "zonal/error.hpp"
#include "zonal/io/spectrum.hpp"

namespace zonal::io {
namespace {

constexpr const char* comments[] = {"temperature C(l)",
                                    "E (gradient) C(l)",
                                    "B (curl) C(l)",
                                    "T E cross C(l)",
                                    "T B cross C(l)",
                                    "E B cross C(l)",
                                    "E T cross C(l): E of the first map",
                                    "B T cross C(l): B of the first map",
                                    "B E cross C(l): B of the first map"};

/// Position in the F90 order.
std::size_t position(const Spectrum& spectrum) {
    const auto found = std::find(spectrum_codes.begin(), spectrum_codes.end(), spectrum.name);
    if (found == spectrum_codes.end()) {
        throw InvalidArgument(
            fmt::format("spectrum '{}': must be TT, EE, BB, TE, TB, EB, ET, BT or BE", spectrum.name));
    }
    return static_cast<std::size_t>(found - spectrum_codes.begin());
}

/// The spectra in F90's order, checked.
std::vector<const Spectrum*> sorted(const SpectrumFile& file) {
    std::vector<const Spectrum*> spectra;
    for (const auto& spectrum : file.spectra) {
        if (spectrum.values.empty() || spectrum.values.size() != file.spectra[0].values.size()) {
            throw InvalidArgument(fmt::format("spectrum {}: {} values, lmax + 1 = {} expected", spectrum.name,
                                              spectrum.values.size(), file.spectra[0].values.size()));
        }
        spectra.push_back(&spectrum);
    }
    std::sort(spectra.begin(), spectra.end(), [](auto* a, auto* b) { return position(*a) < position(*b); });
    const bool complete = spectra.size() == 4 || spectra.size() == 6 || spectra.size() == 9;
    for (std::size_t i = 0; i < spectra.size(); ++i) {
        if (spectra.size() > 1 && (!complete || position(*spectra[i]) != i)) {
            throw InvalidArgument(
                "spectra",
                "must be a single one, or the first 4, 6 or 9 of TT, EE, BB, TE, TB, EB, ET, BT, BE");
        }
    }
    if (spectra.empty()) throw InvalidArgument("spectra", "none to write");
    return spectra;
}

}  // namespace

void write_spectrum(const std::string& path, const SpectrumFile& file, const WriteOptions& options) {
    const auto spectra = sorted(file);
    check_cards(file.cards);
    const std::string format = file.precision == FilePrecision::float64 ? "D" : "E";
    std::vector<WriteColumn> columns;
    for (const auto* spectrum : spectra) {
        const auto at = position(*spectrum);
        columns.push_back({spectrum_columns[at], format, spectrum->unit, comments[at]});
    }
    FitsWriter writer(path, options);
    writer.begin_table("POWER SPECTRUM", file.lmax() + 1, columns);
    writer.write_card({"MAX-LPOL", file.lmax(), "largest l; row = l"});
    writer.write_card({"POLAR", spectra.size() > 1, "E and B are included"});
    writer.write_card({"BCROSS", spectra.size() > 4, "T B and E B are included"});
    writer.write_card({"ASYMCL", spectra.size() > 6, "XY and YX are different"});
    writer.write_cards(without_keys(file.cards, {"EXTNAME", "MAX-LPOL", "BCROSS", "ASYMCL"}));
    for (std::size_t i = 0; i < spectra.size(); ++i) {
        writer.write_column(static_cast<int>(i), 0, spectra[i]->values.data(), file.lmax() + 1);
    }
    writer.commit();
}

}  // namespace zonal::io
