#include "sht/rings/ring_bands_cuda.cuh"

#include <algorithm>
#include <limits>

namespace zonal::sht::cuda {
namespace {

/// Shares of the pixels up to the end of each band. On HEALPix at nside 2048, lmax 4096 the bands of the
/// adjoint then end with whole jobs of the Legendre stage (Tiles::large_adjoint).
constexpr double shares[] = {0.1875, 0.36, 0.58, 0.83, 1};
/// A last band with less than this would not be worth its launches.
constexpr double least_share = 0.05;
/// Rings that one call of the FFT library takes: enough to fill the device. Among rings of one length bands
/// end after a multiple of it, as there is one plan to make then, and not one for each band.
constexpr std::int64_t rings_at_once = 256;

std::vector<ElementRange> pixels_of(const Grid& grid, const RingPairs& pairs, PairRange range) {
    std::vector<ElementRange> rings, ranges;
    for (std::int64_t p = range.first; p < range.end; ++p)
        for (const std::int64_t ring : {pairs.pairs[p].north, pairs.pairs[p].south})
            if (ring >= 0)
                rings.push_back({grid.rings()[ring].first_pixel,
                                 grid.rings()[ring].first_pixel + grid.rings()[ring].n_pixels});
    std::sort(rings.begin(), rings.end(), [](auto a, auto b) { return a.first < b.first; });
    for (const ElementRange ring : rings)
        if (!ranges.empty() && ranges.back().end == ring.first)
            ranges.back().end = ring.end;
        else
            ranges.push_back(ring);
    return ranges;
}

}  // namespace

std::vector<std::int64_t> RingBands::ends(const Grid& grid, const RingPairs& pairs) {
    const std::int64_t n_pairs = pairs.n_pairs();
    const auto length = [&](std::int64_t p) {
        const RingPair pair = pairs.pairs[p];
        return grid.rings()[pair.north >= 0 ? pair.north : pair.south].n_pixels;
    };
    std::vector<std::int64_t> ends;
    std::int64_t pixels = 0, alike = 0;
    for (std::int64_t p = 0; p + 1 < n_pairs && ends.size() + 1 < std::size(shares); ++p) {
        pixels += (pairs.pairs[p].north >= 0 ? length(p) : 0) + (pairs.pairs[p].south >= 0 ? length(p) : 0);
        alike = p > 0 && length(p) == length(p - 1) ? alike + 1 : 1;
        if (length(p) == length(p + 1) && alike % rings_at_once != 0) continue;
        const double share = static_cast<double>(pixels) / static_cast<double>(grid.n_pixels());
        if (share >= shares[ends.size()] && share < 1 - least_share) ends.push_back(p + 1);
    }
    ends.push_back(n_pairs);
    return ends;
}

RingBands::RingBands(const Grid& grid, const RingPairs& pairs, const FourierLayout& layout,
                     const ThetaResampling* resampling, const std::vector<std::int64_t>& ends)
    : grid_(grid), pairs_(pairs), layout_(layout) {
    const std::size_t count = ends.size();
    jobs_.resize(2 * count);
    for (std::size_t k = 0; k < count; ++k) {
        const PairRange range{k == 0 ? 0 : ends[k - 1], ends[k]};
        bands_.push_back({range, pixels_of(grid, pairs, range)});
        jobs_[k] = jobs_[count + k] = {range.first, range.end};
    }
    // Also those in no ring, which a transform may have to leave as they are.
    if (count == 1) bands_.front().pixels = {{0, grid.n_pixels()}};
    if (resampling != nullptr) cut_resampling(*resampling);
    jobs_[count - 1].last = jobs_.back().last = std::numeric_limits<std::int64_t>::max();
}

void RingBands::cut_resampling(const ThetaResampling& resampling) {
    constexpr std::int64_t per_tile = BandProduct::tile_targets;
    const BandProduct &interpolation = resampling.interpolation(), &adjoint = resampling.adjoint();
    int arrived = 0;  // tiles of the adjoint
    for (std::size_t k = 0; k < bands_.size(); ++k) {
        Band& band = bands_[k];
        band.interpolation = {static_cast<int>(band.pairs.first / per_tile),
                              static_cast<int>((band.pairs.end + per_tile - 1) / per_tile)};
        if (k > 0) jobs_[k].above = jobs_[k - 1].last = interpolation.first_source(band.interpolation.first);
        band.adjoint.first = arrived;
        while (arrived < adjoint.n_tiles() && adjoint.end_source(arrived) <= band.pairs.end) ++arrived;
        band.adjoint.end = arrived;
        jobs_[bands_.size() + k] = {per_tile * band.adjoint.first, per_tile * band.adjoint.end};
    }
}

void RingBands::make_rings() const {
    std::call_once(made_, [&] {
        if (count() == 1) {
            stages_.push_back(std::make_unique<const RingStage>(grid_, pairs_, layout_.origin()));
            return;
        }
        RunTransformsBySize transforms;
        for (const Band& band : bands_)
            stages_.push_back(std::make_unique<const RingStage>(grid_, pairs_, layout_.origin(), band.pairs,
                                                                rings_at_once, transforms));
    });
}

RingScratchSizes RingBands::scratch_sizes() const {
    RingScratchSizes most;
    for (const auto& stage : stages_) {
        const RingScratchSizes sizes = stage->scratch_sizes();
        most.buffer = std::max(most.buffer, sizes.buffer);
        most.library_bytes = std::max(most.library_bytes, sizes.library_bytes);
    }
    return most;
}

}  // namespace zonal::sht::cuda
