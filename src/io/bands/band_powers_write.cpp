#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "io/bands/band_powers_layout.hpp"
#include "io/fits/cards.hpp"
#include "io/fits/fits_writer.hpp"
#include "zonal/error.hpp"
#include "zonal/io/band_powers.hpp"
#include "zonal/spectrum.hpp"

namespace zonal::io {
namespace {

struct BandColumn {
    WriteColumn description;
    std::vector<double> values;
};

class BandPowersWriter {
  public:
    BandPowersWriter(const std::string& path, const BandPowersFile& file, const WriteOptions& options)
        : file_(file), spectra_(named_spectra(file.estimate.blocks)), writer_(path, options) {}

    void write() {
        write_bands();
        write_pseudo();
        write_masks();
        for (const auto& spectrum : spectra_) write_windows(spectrum);
        if (const auto& covariance = file_.covariance; covariance.size() > 0)
            write_image("COVARIANCE", covariance.view());
        writer_.commit();
    }

  private:
    void write_bands() {
        std::vector<std::int64_t> first, last;
        for (const Band& band : file_.bins.bands()) {
            first.push_back(band.first);
            last.push_back(band.last());
        }
        std::vector<BandColumn> columns{{{"L_EFF", "D", "", "mean degree"}, file_.bins.effective_degrees()}};
        for (const auto& spectrum : spectra_)
            columns.push_back(column("", spectrum, spectrum.block->bands.view()[spectrum.number]));
        if (file_.covariance.size() > 0)
            for (std::size_t i = 0; i < spectra_.size(); ++i) columns.push_back(errors_of(i));
        std::vector<WriteColumn> descriptions{{"L_MIN", "K", "", "first degree"},
                                              {"L_MAX", "K", "", "last degree"}};
        for (const auto& each : columns) descriptions.push_back(each.description);
        writer_.begin_table("BANDS", file_.bins.size(), descriptions);
        writer_.write_cards(band_cards());
        writer_.write_column(0, 0, first.data(), file_.bins.size());
        writer_.write_column(1, 0, last.data(), file_.bins.size());
        write_columns(2, columns);
    }

    std::vector<HeaderCard> band_cards() const {
        double condition = 0;
        for (const auto& block : file_.estimate.blocks)
            condition = std::max(condition, block.decoupling->condition);
        const std::int64_t lmax_sky = file_.estimate.blocks[0].decoupling->windows.extent(3) - 1;
        std::vector<HeaderCard> cards{
            {"DL", file_.bins.of() == BandsOf::d_l, "bands are of D_l = l(l+1)/2pi C_l"},
            {"LMAX_SKY", lmax_sky, "last degree of the windows"},
            {"CONDITIO", condition, "largest condition of K"}};
        for (std::size_t i = 0; i < file_.units.size(); ++i)
            if (!file_.units[i].empty())
                cards.push_back({fmt::format("UNIT{}", i), file_.units[i], fmt::format("of field {}", i)});
        const auto others = without_keys(file_.cards, {"EXTNAME", "DL", "LMAX_SKY", "CONDITIO"});
        cards.insert(cards.end(), others.begin(), others.end());
        return cards;
    }

    void write_pseudo() {
        const auto degrees = file_.bins.lmax() + 1;
        std::vector<std::int64_t> l(static_cast<std::size_t>(degrees));
        std::iota(l.begin(), l.end(), 0);
        std::vector<double> weights(l.size());
        for (const Band& band : file_.bins.bands())
            std::copy(band.weights.begin(), band.weights.end(), weights.begin() + band.first);
        std::vector<BandColumn> columns{
            {{"WEIGHT", "D", "", "of the degree in its band"}, std::move(weights)}};
        for (const auto& spectrum : spectra_)
            columns.push_back(column("", spectrum, spectrum.block->pseudo.view()[spectrum.number]));
        for (const auto& spectrum : spectra_)
            columns.push_back(column("NOISE_", spectrum, spectrum.block->noise.view()[spectrum.number]));
        std::vector<WriteColumn> descriptions{{"L", "K", "", "degree"}};
        for (const auto& each : columns) descriptions.push_back(each.description);
        writer_.begin_table("PSEUDO", degrees, descriptions);
        writer_.write_column(0, 0, l.data(), degrees);
        write_columns(1, columns);
    }

    void write_masks() {
        const auto& spectra = file_.estimate.mask_spectra;
        std::vector<BandColumn> columns;
        std::vector<WriteColumn> descriptions;
        for (std::int64_t i = 0; i < spectra.extent(0); ++i)
            for (std::int64_t j = i; j < spectra.extent(1); ++j) {
                const auto values = spectra.view()[i][j];
                descriptions.push_back({mask_column(i, j), "D", "", "spectrum of masks"});
                columns.push_back({descriptions.back(), {values.data(), values.data() + values.size()}});
            }
        writer_.begin_table("MASK", spectra.extent(2), descriptions);
        for (std::size_t i = 0; i < file_.estimate.mask_of.size(); ++i) write_mask_numbers(i);
        write_columns(0, columns);
    }

    void write_mask_numbers(std::size_t field) {
        const auto& numbers = file_.estimate.mask_of[field];
        const auto i = static_cast<std::int64_t>(field);
        const auto has_t = std::any_of(spectra_.begin(), spectra_.end(), [i](const auto& spectrum) {
            return spectrum.name == "TT" && spectrum.block->first == i && spectrum.block->second == i;
        });
        const std::string letters = numbers.size() == 2 ? "TP" : has_t ? "T" : "P";
        for (std::size_t k = 0; k < numbers.size(); ++k)
            writer_.write_card(
                {mask_key(letters[k], i), numbers[k], fmt::format("mask of {} of field {}", letters[k], i)});
    }

    /// Those by which the bands' own spectrum and others add to them.
    void write_windows(const NamedSpectrum& spectrum) {
        const auto& windows = spectrum.block->decoupling->windows;
        std::vector<std::int64_t> sources;
        for (std::int64_t source = 0; source < windows.extent(2); ++source) {
            const auto adds = [&](std::int64_t b) {
                const double* const of_band = &windows(spectrum.number, b, source, 0);
                return std::any_of(of_band, of_band + windows.extent(3),
                                   [](double value) { return value != 0; });
            };
            bool any = source == spectrum.number;
            for (std::int64_t b = 0; b < windows.extent(1); ++b) any = any || adds(b);
            if (any) sources.push_back(source);
        }
        for (const std::int64_t source : sources) {
            Array<double, 2> image({windows.extent(1), windows.extent(3)});
            for (std::int64_t b = 0; b < image.extent(0); ++b)
                std::copy_n(&windows(spectrum.number, b, source, 0), image.extent(1), &image(b, 0));
            write_image(spectrum.window_label(source), image.view(),
                        {{"CONDITIO", spectrum.block->decoupling->condition, "condition of K"},
                         {"LOWDEG", spectrum.block->decoupling->low_degrees, "l < 2 have bands of their own"},
                         {"NWINDOWS", std::ssize(sources), "images of windows of this spectrum"}});
        }
    }

    void write_image(const std::string& name, View<const double, 2> values,
                     const std::vector<HeaderCard>& cards = {}) {
        writer_.begin_image(name, {values.extent(1), values.extent(0)});
        writer_.write_cards(cards);
        for (std::int64_t row = 0; row < values.extent(0); ++row)
            writer_.write_image(row * values.extent(1), values[row].data(), values.extent(1));
    }

    void write_columns(int first, const std::vector<BandColumn>& columns) {
        for (std::size_t i = 0; i < columns.size(); ++i)
            writer_.write_column(first + static_cast<int>(i), 0, columns[i].values.data(),
                                 std::ssize(columns[i].values));
    }

    BandColumn column(const std::string& prefix, const NamedSpectrum& spectrum,
                      View<const double, 1> values) const {
        return {{prefix + spectrum.label(), "D", unit_of(spectrum), ""},
                {values.data(), values.data() + values.size()}};
    }

    /// One sigma of the bands of a spectrum.
    BandColumn errors_of(std::size_t spectrum) const {
        const auto n = file_.bins.size();
        std::vector<double> sigmas;
        sigmas.reserve(static_cast<std::size_t>(n));
        for (std::int64_t b = 0; b < n; ++b) {
            const auto value = static_cast<std::int64_t>(spectrum) * n + b;
            sigmas.push_back(std::sqrt(file_.covariance(value, value)));
        }
        return column("ERROR_", spectra_[spectrum], {sigmas.data(), {n}});
    }

    std::string unit_of(const NamedSpectrum& spectrum) const {
        if (file_.units.empty()) return "";
        return product_unit(file_.units[static_cast<std::size_t>(spectrum.block->first)],
                            file_.units[static_cast<std::size_t>(spectrum.block->second)]);
    }

    const BandPowersFile& file_;
    const std::vector<NamedSpectrum> spectra_;
    FitsWriter writer_;
};

void require_fit(bool holds, const char* name, const std::string& what) {
    if (!holds) throw InvalidArgument(name, what);
}

void check_spectra_block(const SpectraBlock& block, const Bins& bins, std::int64_t lmax_sky,
                         std::int64_t n_fields) {
    using Shape = std::array<std::int64_t, 2>;
    const auto n = std::ssize(block.names), n_bands = bins.size();
    const auto& windows = block.decoupling->windows;
    require_fit(block.first >= 0 && block.first <= block.second && block.second < n_fields, "blocks",
                fmt::format("are of the fields {} and {}: must be of two of the {} of mask_of, in order",
                            block.first, block.second, n_fields));
    require_fit(
        block.bands.extents() == Shape{n, n_bands} && block.pseudo.extents() == Shape{n, bins.lmax() + 1} &&
            block.noise.extents() == block.pseudo.extents() &&
            windows.extents() == std::array<std::int64_t, 4>{n, n_bands, n, lmax_sky + 1},
        "blocks",
        fmt::format("have arrays that do not fit {} spectra in {} bands of degrees up to {}, all of the "
                    "same lmax_sky",
                    n, n_bands, bins.lmax()));
}

void check_band_powers(const BandPowersFile& file) {
    const auto& estimate = file.estimate;
    require_fit(!estimate.blocks.empty(), "estimate", "has no spectra: must have one block of them or more");
    for (const auto& block : estimate.blocks)
        require_fit(block.decoupling != nullptr, "blocks", "have no windows: decoupling must be given");
    const auto lmax_sky = estimate.blocks[0].decoupling->windows.extent(3) - 1;
    const auto n_fields = std::ssize(estimate.mask_of), n_masks = estimate.mask_spectra.extent(0);
    for (const auto& block : estimate.blocks) check_spectra_block(block, file.bins, lmax_sky, n_fields);
    require_fit(n_fields <= most_fields, "mask_of",
                fmt::format("is of {} fields: must be of {} at most", n_fields, most_fields));
    require_fit(n_masks > 0 && estimate.mask_spectra.extent(1) == n_masks, "mask_spectra",
                "must be [mask, mask, L] of one mask or more");
    for (const auto& numbers : estimate.mask_of)
        for (const auto number : numbers)
            require_fit(number >= 0 && number < n_masks, "mask_of",
                        fmt::format("has the mask {}: must be below {}", number, n_masks));
    require_fit(
        file.units.empty() || std::ssize(file.units) == n_fields, "units",
        fmt::format("are {}: must be one for each of {} fields, or none", file.units.size(), n_fields));
    const auto n_values = std::ssize(named_spectra(estimate.blocks)) * file.bins.size();
    require_fit(file.covariance.size() == 0 ||
                    file.covariance.extents() == std::array<std::int64_t, 2>{n_values, n_values},
                "covariance", fmt::format("must be [{0}, {0}], or empty", n_values));
    check_cards(file.cards);
}

}  // namespace

void write_band_powers(const std::string& path, const BandPowersFile& file, const WriteOptions& options) {
    check_band_powers(file);
    BandPowersWriter(path, file, options).write();
}

}  // namespace zonal::io
