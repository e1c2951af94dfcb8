#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "zonal/device.hpp"
#include "zonal/grid.hpp"
#include "zonal/spectra/bins.hpp"
#include "zonal/spectra/decoupling.hpp"
#include "zonal/view.hpp"

/// Band powers of any number of masked maps with themselves and each other.
namespace zonal {

/// The map of T, or those of Q and U, and what the sky went through before.
struct MaskedMaps {
    View<const double, 2> maps{};      ///< [1, pixel], or Q, U as [2, pixel]
    View<const double, 1> mask{};      ///< [pixel], of any values, 0 where the sky is not seen
    std::vector<double> transfer{};    ///< beam times pixel window, [lmax_sky + 1] or longer; empty: 1
    View<const double, 1> variance{};  ///< of each pixel's white noise, [pixel]; empty: none
    std::vector<std::vector<double>>
        noise{};  ///< or N_l of unmasked maps, of TT or of EE and BB, as transfer
};

/// Maps of one sky whose noise is the same: T, or Q and U, or both in this order.
struct MaskedField {
    Grid grid;
    std::vector<MaskedMaps> parts{};
    bool masked = false;  ///< the maps have been multiplied by their masks already
};

/// The last degree of the sky that bands are told of: `given`, or a quarter above the bins' lmax, as power
/// from beyond the last band reaches it through the mask. Throws InvalidArgument for one below the bins'
/// lmax.
std::int64_t lmax_sky_of(const Bins& bins, std::optional<std::int64_t> given);

/// How bands are decoupled.
struct EstimateOptions {
    std::optional<std::int64_t> lmax_sky{};  ///< as lmax_sky_of takes it
    std::optional<bool> low_degrees{};       ///< as of DecouplingOptions
    int threads = 0;
    Device device = Device::cpu();  ///< of the transforms and of the matrices M
};

/// The spectra of parts of two fields that masks mix with each other.
struct SpectraBlock {
    std::int64_t first = 0, second = 0;  ///< the numbers of the fields
    /// TT; TE, TB; ET, BT; or EE, EB, BE, BB: the first letter is of the first field. [spectrum]
    std::vector<std::string> names{};
    Array<double, 2> pseudo{};                       ///< C~, [spectrum, l], l up to the bins' lmax
    Array<double, 2> noise{};                        ///< N~, likewise: 0 for two fields
    Array<double, 2> bands{};                        ///< K^-1 B (C~ - N~), [spectrum, band]
    std::shared_ptr<const Decoupling> decoupling{};  ///< blocks of the same masks and transfer share theirs
};

/// Whether a spectrum is another one's: BE of a field with itself is its EB.
bool is_repeated(const SpectraBlock& block, const std::string& name);

/// What estimate_bands found.
struct BandEstimate {
    std::vector<SpectraBlock> blocks{};  ///< of the fields 0 and 0, 0 and 1, ...
    Array<double, 3> mask_spectra{};     ///< W_L of all pairs of masks that differ, [mask, mask, L]
    std::vector<std::vector<std::int64_t>> mask_of{};  ///< [field][part], the number of its mask
};

/// Makes M once for each pair of masks that differ, and all spectra by one product of matrices for each
/// degree. Throws InvalidArgument, as what it calls does: masked_harmonics, white_noise_spectrum, decouple.
BandEstimate estimate_bands(const std::vector<MaskedField>& fields, const Bins& bins,
                            const EstimateOptions& options = {});
/// The memory that it takes beside the fields, its result among it.
double bytes_of_estimate(const std::vector<MaskedField>& fields, const Bins& bins,
                         const EstimateOptions& options = {});

}  // namespace zonal
