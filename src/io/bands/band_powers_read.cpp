#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "io/bands/band_powers_layout.hpp"
#include "io/fits/cards.hpp"
#include "io/fits/checked_values.hpp"
#include "io/fits/fits_reader.hpp"
#include "io/fits/hdu_kind.hpp"
#include "io/tables/text.hpp"
#include "zonal/error.hpp"
#include "zonal/io/band_powers.hpp"

namespace zonal::io {
namespace {

constexpr std::int64_t most_degrees = 10'000'000;  // more than any mask's spectrum has

template <class T>
T required_value(const std::optional<T>& value, const char* key) {
    if (!value) throw InvalidArgument(fmt::format("{} is missing", key));
    return *value;
}

/// The columns of one table, each found by its name and read when it is asked for.
class NamedTable {
  public:
    NamedTable(FitsReader& reader, const Hdu& hdu) : reader_(reader), hdu_(hdu) {}

    std::vector<double> numbers(const std::string& name) const {
        return std::move(reader_.read_columns(hdu_, {number_of(name)}, std::nan(""))[0]);
    }
    std::vector<std::int64_t> integers(const std::string& name) const {
        return reader_.read_integers(hdu_, number_of(name));
    }
    /// Fills one row of an array.
    void fill(const std::string& name, View<double, 1> values) const {
        const auto found = numbers(name);
        std::copy_n(found.begin(), values.size(), values.data());
    }
    bool has(const std::string& name) const { return hdu_.find_column(name) >= 0; }
    const Hdu& hdu() const { return hdu_; }

  private:
    int number_of(const std::string& name) const {
        const int number = hdu_.find_column(name);
        if (number < 0) reader_.fail(hdu_, fmt::format("no column {}", name));
        if (hdu_.columns[static_cast<std::size_t>(number)].repeat != 1)
            reader_.fail(hdu_, fmt::format("column {}: must have one number a row", name));
        return number;
    }

    FitsReader& reader_;
    const Hdu& hdu_;
};

/// Does the work for one file.
class BandPowersReader {
    template <class Read>
    auto in(const NamedTable& table, const Read& read) const {
        return reader_.in(table.hdu(), read);
    }

  public:
    explicit BandPowersReader(const std::string& path)
        : reader_(path),
          bands_(reader_, reader_.select("", "band powers of masked skies (table BANDS)",
                                         [](const Hdu& hdu) { return kind_of(hdu) == FileKind::bands; })),
          pseudo_(reader_, reader_.select("PSEUDO", "", {})),
          masks_(reader_, reader_.select("MASK", "", {})) {}

    BandPowersFile read() {
        BandPowersFile file{in(bands_, [&] { return bins(); })};
        lmax_sky_ = in(bands_, [&] {
            return required(bands_.hdu().header, "LMAX_SKY", file.bins.lmax(), most_degrees);
        });
        in(masks_, [&] { read_masks(file.estimate); });
        make_blocks(file.estimate.blocks);
        const auto spectra = named_spectra(file.estimate.blocks);
        for (std::size_t i = 0; i < spectra.size(); ++i) read_spectrum(spectra[i], file);
        for (std::size_t i = 0; i < decouplings_.size(); ++i)
            repeat_eb(file.estimate.blocks[i], decouplings_[i]->windows);
        read_covariance(std::ssize(spectra) * file.bins.size(), file);
        in(bands_, [&] { read_cards(file); });
        return file;
    }

  private:
    Bins bins() {
        const auto first = bands_.integers("L_MIN"), last = bands_.integers("L_MAX");
        const auto weights = pseudo_.numbers("WEIGHT");
        std::vector<Band> bands;
        bands.reserve(first.size());
        for (std::size_t b = 0; b < first.size(); ++b) {
            if (first[b] < 0 || last[b] < first[b] || last[b] >= std::ssize(weights))
                throw InvalidArgument(
                    fmt::format("band {}: l = {} to {}: must be among the {} degrees of "
                                "PSEUDO",
                                b, first[b], last[b], weights.size()));
            bands.push_back({first[b], {weights.begin() + first[b], weights.begin() + last[b] + 1}});
        }
        const bool is_dl = required_value(bands_.hdu().header.logical("DL"), "DL");
        return Bins(std::move(bands), is_dl ? BandsOf::d_l : BandsOf::c_l);
    }

    /// Their spectra, and which field has which.
    void read_masks(BandEstimate& estimate) {
        std::int64_t n_masks = 0;
        while (masks_.has(mask_column(n_masks, n_masks))) ++n_masks;
        if (n_masks == 0) throw InvalidArgument(fmt::format("no column {}", mask_column(0, 0)));
        estimate.mask_spectra = Array<double, 3>({n_masks, n_masks, masks_.hdu().rows});
        const auto spectra = estimate.mask_spectra.view();
        for (std::int64_t i = 0; i < n_masks; ++i)
            for (std::int64_t j = i; j < n_masks; ++j) {
                masks_.fill(mask_column(i, j), spectra[i][j]);
                std::copy_n(spectra[i][j].data(), spectra.extent(2), spectra[j][i].data());
            }
        const auto& header = masks_.hdu().header;
        for (std::int64_t field = 0; field < most_fields; ++field) {
            std::vector<std::int64_t> numbers;
            std::string letters;
            for (const char letter : std::string_view("TP")) {
                const auto key = mask_key(letter, field);
                if (!header.has(key)) continue;
                numbers.push_back(required(header, key, 0, n_masks - 1));
                letters += letter;
            }
            if (letters.empty()) break;
            estimate.mask_of.push_back(std::move(numbers));
            letters_.push_back(letters);
        }
        if (letters_.empty()) throw InvalidArgument("MASKT0 and MASKP0 are missing");
    }

    /// Those of all pairs of fields, without values.
    void make_blocks(std::vector<SpectraBlock>& blocks) {
        const auto n_fields = std::ssize(letters_);
        // A few bytes can claim very many fields.
        std::int64_t n_parts = 0;
        for (const auto& letters : letters_) n_parts += std::ssize(letters);
        if (n_parts * (n_parts + 1) / 2 > std::ssize(bands_.hdu().columns))
            reader_.fail(bands_.hdu(), fmt::format("has {} columns, too few for the spectra of {} fields",
                                                   bands_.hdu().columns.size(), n_fields));
        for (std::int64_t first = 0; first < n_fields; ++first)
            for (std::int64_t second = first; second < n_fields; ++second)
                for (const char x : letters_[static_cast<std::size_t>(first)])
                    for (const char y : letters_[static_cast<std::size_t>(second)]) {
                        const bool is_swapped = first == second && x == 'P' && y == 'T';
                        if (is_swapped) continue;
                        decouplings_.push_back(std::make_shared<Decoupling>());
                        blocks.push_back({first, second, names_of(x, y)});
                        blocks.back().decoupling = decouplings_.back();
                    }
    }

    static std::vector<std::string> names_of(char x, char y) {
        std::vector<std::string> names;
        for (const char a : std::string(x == 'T' ? "T" : "EB"))
            for (const char b : std::string(y == 'T' ? "T" : "EB")) names.push_back({a, b});
        return names;
    }

    /// Arrays of a block are made once a spectrum of it has been found in the file.
    void read_spectrum(const NamedSpectrum& spectrum, BandPowersFile& file) {
        const auto at = static_cast<std::size_t>(spectrum.block - file.estimate.blocks.data());
        auto& block = file.estimate.blocks[at];
        const auto bands = bands_.numbers(spectrum.label()), pseudo = pseudo_.numbers(spectrum.label());
        if (block.bands.size() == 0) {
            const auto n = std::ssize(block.names);
            block.bands = Array<double, 2>({n, file.bins.size()});
            block.pseudo = block.noise = Array<double, 2>({n, file.bins.lmax() + 1});
        }
        std::copy_n(bands.begin(), file.bins.size(), &block.bands(spectrum.number, 0));
        std::copy_n(pseudo.begin(), file.bins.lmax() + 1, &block.pseudo(spectrum.number, 0));
        pseudo_.fill("NOISE_" + spectrum.label(), block.noise.view()[spectrum.number]);
        read_windows(spectrum, file.bins.size(), *decouplings_[at]);
    }

    void read_windows(const NamedSpectrum& spectrum, std::int64_t n_bands, Decoupling& decoupling) {
        const std::int64_t n = std::ssize(spectrum.block->names), degrees = lmax_sky_ + 1;
        std::int64_t found = 0, wanted = 0;
        for (std::int64_t source = 0; source < n; ++source) {
            const auto name = spectrum.window_label(source);
            if (source != spectrum.number && !has_hdu(name)) continue;  // it adds nothing, or see below
            const auto& hdu = reader_.select(name, "", {});
            const auto values = image(hdu, n_bands, degrees);
            auto& windows = decoupling.windows;
            if (windows.size() == 0) windows = Array<double, 4>({n, n_bands, n, degrees});
            for (std::int64_t b = 0; b < n_bands; ++b)
                std::copy_n(values.begin() + b * degrees, degrees, &windows(spectrum.number, b, source, 0));
            reader_.in(hdu, [&] {
                decoupling.condition = required_value(hdu.header.number("CONDITIO"), "CONDITIO");
                decoupling.low_degrees = required_value(hdu.header.logical("LOWDEG"), "LOWDEG");
                wanted = required(hdu.header, "NWINDOWS", 1, n);
            });
            ++found;
        }
        if (found != wanted)
            reader_.fail(reader_.select(spectrum.window_label(spectrum.number), "", {}),
                         fmt::format("NWINDOWS = {}: but the file has {} images of windows of this spectrum",
                                     wanted, found));
    }

    bool has_hdu(const std::string& name) const {
        return std::any_of(reader_.hdus().begin(), reader_.hdus().end(),
                           [&](const Hdu& hdu) { return equal_ignoring_case(hdu.name, name); });
    }

    /// The values of an image, which must have this shape.
    std::vector<double> image(const Hdu& hdu, std::int64_t rows, std::int64_t columns) {
        if (hdu.type != HduType::image || hdu.axes != std::vector{columns, rows})
            reader_.fail(hdu, fmt::format("must be an image of {} x {} numbers", columns, rows));
        return reader_.read_image(hdu, 0, rows * columns, std::nan(""));
    }

    /// BE of a field with itself is EB, which takes from EB what that takes from BE.
    static void repeat_eb(SpectraBlock& block, Array<double, 4>& windows) {
        if (block.names.size() != 4 || !is_repeated(block, block.names[2])) return;
        for (auto* values : {&block.bands, &block.pseudo, &block.noise})
            std::copy_n(&(*values)(1, 0), values->extent(1), &(*values)(2, 0));
        for (std::int64_t b = 0; b < windows.extent(1); ++b) {
            std::copy_n(&windows(1, b, 1, 0), windows.extent(3), &windows(2, b, 2, 0));
            std::copy_n(&windows(1, b, 2, 0), windows.extent(3), &windows(2, b, 1, 0));
        }
    }

    void read_covariance(std::int64_t n_values, BandPowersFile& file) {
        if (!has_hdu("COVARIANCE")) {
            const auto& columns = bands_.hdu().columns;
            if (std::any_of(columns.begin(), columns.end(),
                            [](const auto& column) { return column.name.rfind("ERROR_", 0) == 0; }))
                reader_.fail(bands_.hdu(),
                             "has errors of bands, but the file has no image COVARIANCE that they "
                             "come from: it was cut off, or written by another program");
            return;
        }
        const Hdu& hdu = reader_.select("COVARIANCE", "", {});
        const auto values = image(hdu, n_values, n_values);
        for (std::int64_t i = 0; i < n_values; ++i)
            for (std::int64_t j = 0; j <= i; ++j) {
                const auto at = [&](std::int64_t row, std::int64_t column) {
                    return values[static_cast<std::size_t>(row * n_values + column)];
                };
                constexpr double asymmetry = 1e-10;  // that rounding may leave, in units of the errors
                if (!(std::abs(at(i, j) - at(j, i)) <= asymmetry * std::sqrt(at(i, i) * at(j, j))))
                    reader_.fail(
                        hdu, fmt::format("elements [{0}, {1}] and [{1}, {0}] must be finite and alike", j + 1,
                                         i + 1));
            }
        file.covariance = Array<double, 2>({n_values, n_values});
        std::copy(values.begin(), values.end(), file.covariance.begin());
    }

    void read_cards(BandPowersFile& file) const {
        const auto& header = bands_.hdu().header;
        file.cards = without_keys(free_cards(bands_.hdu()), {"EXTNAME", "DL", "LMAX_SKY", "CONDITIO"});
        for (std::size_t i = 0; i < letters_.size(); ++i) {
            const auto key = fmt::format("UNIT{}", i);
            file.units.push_back(header.text(key).value_or(""));
            file.cards = without_keys(file.cards, {key.c_str()});
        }
    }

    FitsReader reader_;
    NamedTable bands_, pseudo_, masks_;
    std::int64_t lmax_sky_ = 0;
    std::vector<std::string> letters_;                      ///< of each field: T, P or TP
    std::vector<std::shared_ptr<Decoupling>> decouplings_;  ///< of each block
};

}  // namespace

BandPowersFile read_band_powers(const std::string& path) {
    return BandPowersReader(path).read();
}

}  // namespace zonal::io
