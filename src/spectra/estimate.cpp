#include "zonal/spectra/estimate.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "spectra/couplings.hpp"
#include "spectra/masked_sky.hpp"
#include "zonal/alm.hpp"
#include "zonal/error.hpp"
#include "zonal/sht.hpp"
#include "zonal/spectra/pseudo_spectra.hpp"

namespace zonal {
namespace {

/// A part of a field, the number of its mask, and where its spectra are among those of all.
struct PlacedPart {
    std::int64_t field;
    const MaskedMaps* part;
    std::int64_t mask, row;
    bool polarized() const { return part->maps.extent(0) == 2; }
    std::string letters() const { return polarized() ? "EB" : "T"; }
};

bool same_values(const View<const double, 1>& one, const View<const double, 1>& other) {
    if (one.extent(0) != other.extent(0)) return false;
    for (std::int64_t p = 0; p < one.extent(0); ++p)
        if (one[p] != other[p]) return false;
    return true;
}

/// Those that differ.
class DistinctMasks {
  public:
    std::int64_t number_of(const Grid& grid, const View<const double, 1>& mask) {
        for (std::size_t i = 0; i < masks_.size(); ++i)
            if (masks_[i].first == grid && same_values(masks_[i].second, mask))
                return static_cast<std::int64_t>(i);
        masks_.emplace_back(grid, mask);
        return std::ssize(masks_) - 1;
    }
    std::int64_t size() const { return std::ssize(masks_); }
    auto begin() const { return masks_.begin(); }
    auto end() const { return masks_.end(); }

  private:
    std::vector<std::pair<Grid, View<const double, 1>>> masks_;
};

class Estimator {
  public:
    Estimator(const std::vector<MaskedField>& fields, const Bins& bins, const EstimateOptions& options)
        : fields_(fields), bins_(bins), options_(options), lmax_sky_(lmax_sky_of(bins, options.lmax_sky)) {
        for (std::int64_t i = 0; i < std::ssize(fields); ++i) place(i);
        mask_spectra_ = spectra_of_masks();
        pseudo_ = spectra_of_maps();
    }

    BandEstimate estimate() {
        BandEstimate found;
        for (const PlacedPart& x : parts_)
            for (const PlacedPart& y : parts_) {
                const bool is_swapped = x.field == y.field && x.polarized() && !y.polarized();
                if (x.field <= y.field && !is_swapped) found.blocks.push_back(block(x, y));
            }
        // By pairs of fields; parts of a pair stay in their order.
        std::stable_sort(found.blocks.begin(), found.blocks.end(), [](const auto& one, const auto& other) {
            return std::tie(one.first, one.second) < std::tie(other.first, other.second);
        });
        found.mask_of.resize(fields_.size());
        for (const PlacedPart& part : parts_)
            found.mask_of[static_cast<std::size_t>(part.field)].push_back(part.mask);
        found.mask_spectra = std::move(mask_spectra_);
        return found;
    }

  private:
    /// Says of errors which of several fields they are about.
    template <class Work>
    auto of_field(std::int64_t field, const Work& work) const {
        try {
            return work();
        } catch (const InvalidArgument& error) {
            if (fields_.size() == 1) throw;
            auto facts = error.facts();
            facts.origin = fmt::format("fields[{}]: {}", field, facts.origin);
            throw InvalidArgument(facts);
        }
    }

    void place(std::int64_t field) {
        const MaskedField& given = fields_[static_cast<std::size_t>(field)];
        for (const MaskedMaps& part : given.parts)
            of_field(field, [&] { masked::check_mask(given.grid, part.mask); });
        const bool is_both = given.parts.size() == 2 && given.parts[0].maps.extent(0) == 1 &&
                             given.parts[1].maps.extent(0) == 2;
        if (given.parts.size() != 1 && !is_both)
            throw InvalidArgument(fmt::format("fields[{}]", field), "must be T, Q and U, or T and Q and U");
        for (const MaskedMaps& part : given.parts) {
            parts_.push_back({field, &part, masks_.number_of(given.grid, part.mask), n_rows_});
            n_rows_ += part.maps.extent(0);
        }
    }

    Array<double, 3> spectra_of_masks() const {
        const AlmLayout layout(bins_.lmax() + lmax_sky_);
        Array<std::complex<double>, 2> alm({masks_.size(), layout.size()});
        std::int64_t row = 0;
        for (const auto& [grid, mask] : masks_) {
            const View<const double, 2> map(mask.data(), {1, mask.extent(0)}, {0, mask.stride(0)});
            masked_harmonics(grid, map, {}, layout.lmax(), alm.view().slice(row++, 1), options_.threads,
                             options_.device);
        }
        return cross_spectra(layout, alm.view(), options_.threads);
    }

    Array<double, 3> spectra_of_maps() const {
        const AlmLayout layout(bins_.lmax());
        Array<std::complex<double>, 2> alm({n_rows_, layout.size()});
        for (const PlacedPart& one : parts_) {
            const MaskedField& field = fields_[static_cast<std::size_t>(one.field)];
            auto mask = one.part->mask;
            std::vector<double> seen;  // what lies under the mask of a masked map does not matter either
            if (field.masked) {
                for (std::int64_t p = 0; p < mask.extent(0); ++p) seen.push_back(mask[p] != 0 ? 1 : 0);
                mask = {seen.data(), {std::ssize(seen)}};
            }
            of_field(one.field, [&] {
                masked_harmonics(field.grid, one.part->maps, mask, layout.lmax(),
                                 alm.view().slice(one.row, one.part->maps.extent(0)), options_.threads,
                                 options_.device);
            });
        }
        return cross_spectra(layout, alm.view(), options_.threads);
    }

    SpectraBlock block(const PlacedPart& x, const PlacedPart& y) {
        SpectraBlock found{x.field, y.field};
        const std::int64_t degrees = bins_.lmax() + 1;
        const auto kind = x.polarized() && y.polarized()   ? SpectraKind::spin22
                          : x.polarized() || y.polarized() ? SpectraKind::spin02
                                                           : SpectraKind::spin00;
        found.pseudo = Array<double, 2>({n_spectra(kind), degrees});
        std::int64_t s = 0;
        for (std::size_t a = 0; a < x.letters().size(); ++a)
            for (std::size_t b = 0; b < y.letters().size(); ++b, ++s) {
                found.names.push_back({x.letters()[a], y.letters()[b]});
                for (std::int64_t l = 0; l < degrees; ++l)
                    found.pseudo(s, l) = pseudo_(x.row + static_cast<std::int64_t>(a),
                                                 y.row + static_cast<std::int64_t>(b), l);
            }
        found.noise = x.part == y.part ? of_field(x.field, [&] { return noise_of(x); })
                                       : Array<double, 2>({n_spectra(kind), degrees});
        auto difference = found.pseudo;
        for (std::int64_t i = 0; i < difference.size(); ++i) difference.data()[i] -= found.noise.data()[i];
        found.decoupling = decoupling_of(kind, x, y);
        found.bands = band_powers(*found.decoupling, difference.view());
        return found;
    }

    /// beam times pixel window of both.
    std::vector<double> transfer_of(const MaskedMaps& x, const MaskedMaps& y) const {
        std::vector<double> product(static_cast<std::size_t>(lmax_sky_ + 1), 1.0);
        for (const auto* transfer : {&x.transfer, &y.transfer}) {
            if (transfer->empty()) continue;
            if (transfer->size() < product.size())
                throw InvalidArgument("transfer", fmt::format("ends at l = {}: must reach lmax_sky = {}",
                                                              std::ssize(*transfer) - 1, lmax_sky_));
            for (std::size_t l = 0; l < product.size(); ++l) product[l] *= (*transfer)[l];
        }
        return product;
    }

    std::shared_ptr<const Decoupling> decoupling_of(SpectraKind kind, const PlacedPart& x,
                                                    const PlacedPart& y) {
        const auto transfer = transfer_of(*x.part, *y.part);
        auto& kept = decouplings_[{kind, std::min(x.mask, y.mask), std::max(x.mask, y.mask), transfer}];
        if (!kept)
            kept = std::make_shared<Decoupling>(
                bands::decoupled(bins_, kind, couplings(kind, x.mask, y.mask),
                                 {lmax_sky_, transfer, options_.low_degrees, options_.threads}));
        return kept;
    }

    /// Made once for two masks, whatever the beams are.
    const Array<double, 4>& couplings(SpectraKind kind, std::int64_t mask, std::int64_t other) {
        const auto [first, second] = std::minmax(mask, other);
        auto& kept = couplings_[{kind, first, second}];
        if (kept.size() == 0)
            kept = bands::couplings_of(kind, mask_spectra_.view()[first][second], lmax_sky_, options_.threads,
                                       options_.device);
        return kept;
    }

    /// N~ of a part with itself.
    Array<double, 2> noise_of(const PlacedPart& x) {
        const std::int64_t degrees = bins_.lmax() + 1, last = x.polarized() ? 3 : 0;  // TT, or EE and BB
        Array<double, 2> noise({last + 1, degrees});
        if (x.part->variance.size() > 0 && !x.part->noise.empty())
            throw InvalidArgument("variance, noise",
                                  "are both given, and both say what noise adds: give one");
        if (x.part->variance.size() > 0) {
            const Grid& grid = fields_[static_cast<std::size_t>(x.field)].grid;
            const double level = white_noise_spectrum(grid, x.part->mask, x.part->variance);
            for (std::int64_t l = x.polarized() ? 2 : 0; l < degrees; ++l)
                noise(0, l) = noise(last, l) = level;
        } else if (!x.part->noise.empty())
            add_mixed(x, noise);
        return noise;
    }

    /// M N, of TT, or of EE and BB.
    void add_mixed(const PlacedPart& x, Array<double, 2>& noise) {
        const std::int64_t n_given = x.polarized() ? 2 : 1, last = noise.extent(0) - 1;
        if (std::ssize(x.part->noise) != n_given)
            throw InvalidArgument("noise", std::ssize(x.part->noise),
                                  fmt::format("must be {} spectra: of TT, or of EE and BB", n_given));
        for (const auto& spectrum : x.part->noise) {
            if (std::ssize(spectrum) <= lmax_sky_)
                throw InvalidArgument("noise", fmt::format("ends at l = {}: must reach lmax_sky = {}",
                                                           std::ssize(spectrum) - 1, lmax_sky_));
            for (std::int64_t l = 0; l <= lmax_sky_; ++l)
                if (const double value = spectrum[static_cast<std::size_t>(l)];
                    !(value >= 0) || !std::isfinite(value))
                    throw InvalidArgument(fmt::format("noise[{}]", l), value,
                                          "must be a finite number, 0 or more");
        }
        const auto& matrices =
            couplings(x.polarized() ? SpectraKind::spin22 : SpectraKind::spin00, x.mask, x.mask);
        for (std::int64_t to = 0; to < n_given; ++to)
            for (std::int64_t from = 0; from < n_given; ++from)
                for (std::int64_t l = 0; l <= bins_.lmax(); ++l)
                    for (std::int64_t p = 0; p <= lmax_sky_; ++p)
                        noise(to * last, l) +=
                            matrices(0, to == from ? 0 : 1, l, p) *
                            x.part->noise[static_cast<std::size_t>(from)][static_cast<std::size_t>(p)];
    }

    const std::vector<MaskedField>& fields_;
    const Bins& bins_;
    const EstimateOptions options_;
    const std::int64_t lmax_sky_;
    std::int64_t n_rows_ = 0;
    std::vector<PlacedPart> parts_;
    DistinctMasks masks_;
    Array<double, 3> mask_spectra_, pseudo_;
    std::map<std::tuple<SpectraKind, std::int64_t, std::int64_t>, Array<double, 4>> couplings_;
    std::map<std::tuple<SpectraKind, std::int64_t, std::int64_t, std::vector<double>>,
             std::shared_ptr<const Decoupling>>
        decouplings_;
};

/// The memory of the estimate: that of its transforms, and then that of its matrices.
class Footprint {
  public:
    Footprint(const Bins& bins, const EstimateOptions& options)
        : lmax_(bins.lmax()),
          lmax_sky_(lmax_sky_of(bins, options.lmax_sky)),
          n_bands_(bins.size()),
          threads_(options.threads),
          device_(resolve_device(options.device)) {}

    void add_maps(const Grid& grid, bool is_polarized) {
        add_transform(grid, lmax_, is_polarized ? 2 : 0);
        coefficients_ += 16.0 * static_cast<double>((is_polarized ? 2 : 1) * AlmLayout(lmax_).size());
    }
    void add_mask(const Grid& grid) {
        add_transform(grid, lmax_ + lmax_sky_, 0);
        mask_coefficients_ += 16.0 * static_cast<double>(AlmLayout(lmax_ + lmax_sky_).size());
    }
    /// One matrix for TT and TE each, two for EE; that many more, and one of EE, while K is solved for.
    void add_spectra(std::pair<bool, std::int64_t> x, std::pair<bool, std::int64_t> y) {
        const auto [first, second] = std::minmax(x.second, y.second);
        const int spin = (x.first ? 1 : 0) + (y.first ? 1 : 0);
        if (!kinds_.insert({spin, first, second}).second) return;
        const auto degrees = static_cast<double>(lmax_sky_ + 1);
        const double square = 8 * degrees * degrees, n_matrices = spin == 2 ? 2 : 1,
                     n_spectra = spin == 2 ? 4 : spin + 1;
        const double rows = 8 * static_cast<double>(n_bands_) * (degrees + static_cast<double>(lmax_ + 1));
        matrices_ += n_matrices * square + n_spectra * n_spectra * rows;
        solving_ = std::max(solving_, (spin == 2 ? 3 : 1) * square + 3 * n_matrices * rows);
    }
    double bytes() const {
        return workspace_ +
               std::max({products_ + mask_coefficients_, products_ + coefficients_, matrices_ + solving_});
    }

  private:
    /// All transforms use one workspace, which is kept.
    void add_transform(const Grid& grid, std::int64_t lmax, int spin) {
        products_ = std::max(products_, (spin == 2 ? 16.0 : 8.0) * static_cast<double>(grid.n_pixels()));
        if (device_.kind() == Device::Kind::cuda) return;  // whose workspace is not in the host's memory
        const auto plan =
            kept_plan(grid, {.lmax = lmax, .spin = spin, .threads = threads_, .device = device_});
        workspace_ = std::max(workspace_, static_cast<double>(plan->workspace_bytes()));
    }

    const std::int64_t lmax_, lmax_sky_, n_bands_;
    const int threads_;
    const Device device_;
    std::set<std::tuple<int, std::int64_t, std::int64_t>> kinds_;  ///< parts of spin 2, and two masks
    double products_ = 0, coefficients_ = 0, mask_coefficients_ = 0, workspace_ = 0, matrices_ = 0,
           solving_ = 0;
};

}  // namespace

std::int64_t lmax_sky_of(const Bins& bins, std::optional<std::int64_t> given) {
    const std::int64_t lmax_sky = given.value_or(bins.lmax() + bins.lmax() / 4);
    if (lmax_sky < bins.lmax())
        throw InvalidArgument("lmax_sky", lmax_sky,
                              fmt::format("must be {} or more, where the bins end", bins.lmax()));
    return lmax_sky;
}

bool is_repeated(const SpectraBlock& block, const std::string& name) {
    return name == "BE" && block.first == block.second;
}

BandEstimate estimate_bands(const std::vector<MaskedField>& fields, const Bins& bins,
                            const EstimateOptions& options) {
    if (fields.empty()) throw InvalidArgument("fields", "are none: give one or more");
    return Estimator(fields, bins, options).estimate();
}

double bytes_of_estimate(const std::vector<MaskedField>& fields, const Bins& bins,
                         const EstimateOptions& options) {
    Footprint footprint(bins, options);
    DistinctMasks masks;
    std::vector<std::pair<bool, std::int64_t>> parts;  // whether of spin 2, and the number of its mask
    for (const auto& field : fields)
        for (const auto& part : field.parts) {
            const bool is_polarized = part.maps.extent(0) == 2;
            footprint.add_maps(field.grid, is_polarized);
            parts.emplace_back(is_polarized, masks.number_of(field.grid, part.mask));
        }
    for (const auto& mask : masks) footprint.add_mask(mask.first);
    for (const auto& x : parts)
        for (const auto& y : parts) footprint.add_spectra(x, y);
    return footprint.bytes();
}

}  // namespace zonal
