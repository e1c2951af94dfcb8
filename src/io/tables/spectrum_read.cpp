#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>

#include "io/fits/cards.hpp"
#include "io/fits/file_bytes.hpp"
#include "io/fits/fits_reader.hpp"
#include "io/fits/hdu_kind.hpp"
#include "io/tables/spectrum_names.hpp"
#include "io/tables/text.hpp"
#include "io/tables/text_table.hpp"
#include "zonal/error.hpp"
#include "zonal/io/spectrum.hpp"

namespace zonal::io {

namespace {

// Spectra may begin at l = 2, not somewhere far out: the multipoles below are filled with zeros.
constexpr std::int64_t largest_first_l = 100;

/// CLASS numbers its columns: "1:l 2:TT".
std::string without_number(const std::string& word) {
    const auto colon = word.find(':');
    const bool numbered = colon != std::string::npos && parse_integer(word.substr(0, colon)).has_value();
    return numbered ? word.substr(colon + 1) : word;
}

/// The header's last words, one a column. CLASS separates number and name: "1: l" also occurs.
std::vector<std::string> column_names(const FileBytes& file, const TextTable& table) {
    std::vector<std::string> names;
    for (const auto& word : table.header) {
        if (const auto name = without_number(word); !name.empty()) names.push_back(name);
    }
    if (names.size() != table.columns.size()) {
        throw IoError(
            fmt::format("{}: line {} has {} columns, the '#' line above it names {}: a line like '# l TT EE "
                        "BB TE' must name each",
                        file.path(), table.first_line, table.columns.size(), names.size()));
    }
    return names;
}

/// A single TG, TC, GC stands for TE, TB, EB: files of one map write them either way. Throws InvalidArgument
/// when a spectrum is there twice or there is none.
void settle_names(std::vector<Spectrum>& spectra) {
    if (spectra.empty()) {
        throw InvalidArgument(
            "no column has the name of a spectrum (TT, EE, TEMPERATURE, GRADIENT, G-T, ...)");
    }
    const auto count = [&](const std::string& name) {
        return std::count_if(spectra.begin(), spectra.end(),
                             [&](const Spectrum& s) { return s.name == name; });
    };
    constexpr std::array<std::array<const char*, 2>, 3> pairs{{{"ET", "TE"}, {"BT", "TB"}, {"BE", "EB"}}};
    for (const auto& [transposed, usual] : pairs) {
        if (count(usual) > 0) continue;
        for (auto& spectrum : spectra) {
            if (spectrum.name == transposed) spectrum.name = usual;
        }
    }
    for (const auto& spectrum : spectra) {
        if (count(spectrum.name) > 1) {
            throw InvalidArgument(
                fmt::format("two columns are the spectrum {} by their names", spectrum.name));
        }
    }
}

/// Spectra that begin at first_l get zeros below.
void fill_below(std::int64_t first_l, SpectrumFile& file) {
    if (first_l > largest_first_l)
        throw InvalidArgument(fmt::format("begins at l = {}: must be at most {}", first_l, largest_first_l));
    if (first_l > 0)
        file.notes.push_back(fmt::format("{}: C_l below l = {} taken as 0", file.source, first_l));
    for (auto& spectrum : file.spectra)
        spectrum.values.insert(spectrum.values.begin(), static_cast<std::size_t>(first_l), 0.0);
}

SpectrumFile read_text_spectrum(const FileBytes& file) {
    const TextTable table = read_text_table(file);
    const auto names = column_names(file, table);
    SpectrumFile result;
    result.source = file.path();
    std::int64_t first_l = 0;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (is_multipole_name(names[i])) {
            first_l = in_text(file, [&] { return first_multipole(table.columns[i]); });
            continue;
        }
        const auto spectrum = spectrum_from_name(names[i], false);
        if (!spectrum) {
            result.notes.push_back(
                fmt::format("{}: column '{}' is no known spectrum: left out", file.path(), names[i]));
            continue;
        }
        result.spectra.push_back({*spectrum, "", table.columns[i]});
    }
    in_text(file, [&] {
        settle_names(result.spectra);
        fill_below(first_l, result);
    });
    return result;
}

bool has_healpy_order(const Hdu& hdu, ClOrder order) {
    if (order != ClOrder::automatic) return order == ClOrder::healpy;
    return to_upper(hdu.header.text("CREATOR").value_or("")) == "HEALPY";
}

void note_order(const Hdu& hdu, bool healpy, ClOrder order, SpectrumFile& file) {
    const bool named = hdu.find_column("C-T") >= 0 || hdu.find_column("C-G") >= 0;
    // In files of our own there is nothing to assume.
    const bool own = to_upper(hdu.header.text("CREATOR").value_or("")) == "ZONAL";
    if (!named || own || order != ClOrder::automatic) return;
    file.notes.push_back(file.source + (healpy
                                            ? ": CREATOR = 'healpy': columns C-T and C-G taken as EB and TB"
                                            : ": columns C-T and C-G taken as TB and EB (HEALPix F90)"));
}

SpectrumFile read_table(FitsReader& reader, const Hdu& hdu, ClOrder order) {
    SpectrumFile file;
    file.source = reader.source(hdu);
    const bool healpy = has_healpy_order(hdu, order);
    note_order(hdu, healpy, order, file);
    file.precision = FilePrecision::float32;
    std::vector<int> columns;
    std::int64_t first_l = 0;
    for (std::size_t i = 0; i < hdu.columns.size(); ++i) {
        const auto& column = hdu.columns[i];
        if (is_multipole_name(column.name) && column.numeric()) {
            first_l = first_multipole(reader.read_columns(hdu, {static_cast<int>(i)}, std::nan(""))[0]);
            continue;
        }
        const auto name = spectrum_from_name(column.name, healpy);
        if (!name) {
            file.notes.push_back(
                fmt::format("{}: column '{}' is no known spectrum: left out", file.source, column.name));
            continue;
        }
        if (column.type != 'E' || hdu.type == HduType::ascii_table) file.precision = FilePrecision::float64;
        columns.push_back(static_cast<int>(i));
        file.spectra.push_back({*name, column.unit, {}});
    }
    settle_names(file.spectra);
    auto values = reader.read_columns(hdu, columns, 0);
    for (std::size_t i = 0; i < values.size(); ++i) file.spectra[i].values = std::move(values[i]);
    for (const auto& spectrum : file.spectra) {
        if (spectrum.values.empty() || spectrum.values.size() != file.spectra[0].values.size()) {
            throw InvalidArgument("its columns are empty or have different lengths");
        }
    }
    fill_below(first_l, file);
    file.cards = free_cards(hdu);
    return file;
}

/// C_l = 2 pi D_l / (l (l + 1)); l = 0 has none.
void divide_dl(SpectrumFile& file) {
    for (auto& spectrum : file.spectra) {
        if (spectrum.values[0] != 0) {
            throw IoError(
                fmt::format("{}: {}: D_0 = {}: must be 0", file.source, spectrum.name, spectrum.values[0]));
        }
        for (std::size_t l = 1; l < spectrum.values.size(); ++l) {
            const auto degree = static_cast<double>(l);
            spectrum.values[l] *= 2 * std::numbers::pi / (degree * (degree + 1));
        }
    }
}

}  // namespace

const Spectrum* SpectrumFile::find(const std::string& name) const {
    const auto found = std::find_if(spectra.begin(), spectra.end(),
                                    [&](const Spectrum& spectrum) { return spectrum.name == name; });
    return found == spectra.end() ? nullptr : &*found;
}

SpectrumFile read_spectrum(const std::string& path, const ReadSpectrumOptions& options) {
    auto bytes = std::make_unique<FileBytes>(path);
    SpectrumFile file;
    if (bytes->starts_like_fits()) {
        FitsReader reader(std::move(bytes));
        const auto has_spectrum = [](const Hdu& hdu) {
            return std::any_of(hdu.columns.begin(), hdu.columns.end(),
                               [](const FitsColumn& column) {
                                   return spectrum_from_name(column.name, false).has_value();
                               }) &&
                   kind_of(hdu) != FileKind::map;
        };
        const Hdu& hdu = reader.select(options.hdu, "power spectrum", has_spectrum);
        file = reader.in(hdu, [&] { return read_table(reader, hdu, options.order); });
    } else {
        if (!options.hdu.empty()) throw IoError(fmt::format("{}: text has no HDU '{}'", path, options.hdu));
        file = read_text_spectrum(*bytes);
    }
    if (options.dl) divide_dl(file);
    return file;
}

}  // namespace zonal::io
