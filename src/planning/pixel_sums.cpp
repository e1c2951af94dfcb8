#include "planning/pixel_sums.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "planning/request.hpp"
#include "radial/convolver.hpp"
#include "sht/analysis/field_math.hpp"
#include "sht/progress_part.hpp"
#include "sky/sky_patch.hpp"

namespace zonal::planning {
namespace {

using sht::part_of;

PixelConvolutionOptions pixel_options(const ConvolutionRequest& request, const ConvolutionChoice& choice) {
    PixelConvolutionOptions options;
    options.method =
        choice.method == ConvolutionMethod::pixel_sum ? PixelMethod::pixel_sum : PixelMethod::ring_fft;
    options.precision = choice.precision;
    options.accuracy = choice.accuracy;
    options.threads = request.threads;
    options.device = choice.device;
    return options;
}

/// A support of 0 leaves the kernel whole.
template <class Kernel>
Kernel cut(const Kernel& kernel, double support) {
    return support > 0 && support < kernel.support() ? kernel.truncated(support) : kernel;
}

/// Some rings of a patch as a sky of their own, with those that the kernel reaches from them.
class BandSky final : public WholeSky {
  public:
    /// input: the band's, maybe with other weights.
    BandSky(const radial::LatitudeBand& band, const Grid& input)
        : WholeSky(input), grid_(band.output.grid), pixels_(ranges_of(band.output)) {}
    const Grid& grid() const override { return grid_; }
    std::span<const PixelRange> pixels() const override { return pixels_; }

  private:
    Grid grid_;
    std::vector<PixelRange> pixels_;
};

}  // namespace

// Rings of a patch that follow each other, with their neighbours, without which they would be summed in
// another way than on the whole sky (PixelSumSchedule::is_alone), and with the rings within reach: until a
// band has as many pixels as the patch, or a 64th of the sky.
std::vector<PixelSums::Band> PixelSums::bands_of(const SkyPatch& patch, double support) {
    const Grid& whole = patch.whole_grid();
    const auto enough = std::max(whole.n_pixels() / 64, patch.grid().n_pixels());
    std::vector<Band> bands;
    std::vector<std::int64_t> own, outputs;
    std::int64_t n_pixels = 0;
    for (const auto ring : patch.rings()) {
        n_pixels += whole.rings()[static_cast<std::size_t>(ring)].n_pixels;
        own.push_back(ring);
        for (auto one = std::max<std::int64_t>(0, ring - 1); one <= std::min(ring + 1, whole.n_rings() - 1);
             ++one)
            if (outputs.empty() || one > outputs.back()) outputs.push_back(one);
        if (n_pixels < enough && ring != patch.rings().back()) continue;
        bands.push_back({{radial::pack_rings(whole, radial::rings_within(whole, support, whole, outputs)),
                          radial::pack_rings(whole, outputs), static_cast<double>(n_pixels)},
                         ranges_of(radial::pack_rings(whole, own))});
        own.clear();
        outputs.clear();
        n_pixels = 0;
    }
    return bands;
}

template <class T>
void PixelSums::put(const Band& band, View<const T, 2> result, View<T, 2> all) const {
    const auto own = on_pixels(result, ranges_of(band.rings.output), band.own, 0);
    copy_pixels(copies_between(band.own, part_.pixels()), own.view(), all);
}

PixelSums::PixelSums(const ConvolutionRequest& request, const ConvolutionChoice& choice,
                     const ConvolutionOptions& options, const SkyPart& part)
    : request_(request), choice_(choice), options_(options), part_(part) {
    const bool has_spin = request.polarization.has_value(),
               renormalizes = options.mask.mode == MaskMode::renormalize;
    const auto sums = pixel_options(request, choice);
    const bool needs_scalar = !has_spin || renormalizes;
    const double of_scalar = needs_scalar ? cut(request.kernel, choice.support).support() : 0,
                 of_spin = has_spin ? cut(*request.polarization, choice.support).support() : 0;
    if (const auto* patch = part.patch()) {
        bands_ = bands_of(*patch, std::max(of_scalar, of_spin));
        return;
    }
    const double support = std::max(of_scalar, of_spin);
    halo_ = part.halo(support);
    part.together("a plan of sums over pixels", [&] {
        if (has_spin) spin_.emplace(part, halo_, cut(*request.polarization, choice.support), sums);
        if (!needs_scalar) return;
        const auto kernel = cut(request.kernel, choice.support);
        if (options.keep_counts) columns_.emplace(grid(), kernel, part.halo_share(support).grid, sums);
        if (options.keep_counts)
            scalar_.emplace(part, halo_, kernel, sums, radial::unweighted);
        else
            scalar_.emplace(part, halo_, kernel, sums);
    });
    part.together("memory of sums over pixels", [&] {
        if (spin_)
            spin_->make(of_spin_, request.n_maps);
        else if (!renormalizes)
            scalar_->make(of_scalar_, request.n_maps);
    });
}

template <class T, class Work>
void PixelSums::in_bands(View<const T, 2> maps, View<T, 2> convolved, const Progress& progress,
                         const Work& work) const {
    const auto own = part_.pixels();
    double all = 0, done = 0;
    for (const auto& band : bands_) all += band.rings.cost;
    auto options = options_;
    options.keep_counts = false;  // their shares are taken before
    for (const Band& one : bands_) {
        const radial::LatitudeBand& band = one.rings;
        const auto in = ranges_of(band.input), out = ranges_of(band.output);
        auto result = on_pixels(View<const T, 2>(convolved), own, out, 0);
        {
            const auto here = on_pixels(maps, own, in, 0);
            const BandSky sky(band,
                              options_.keep_counts ? radial::unweighted(band.input.grid) : band.input.grid);
            PixelSums sums(request_, choice_, options, sky);
            work(sums, here.view(), result.view(), part_of(progress, done / all, (done + band.cost) / all));
        }
        done += band.cost;
        put(one, std::as_const(result).view(), convolved);
    }
}

template <class T>
Array<T, 2> PixelSums::shares_of(View<const T, 2> counts) const {
    if (bands_.empty()) return columns_->divide<T>(counts, part_);
    Array<T, 2> shares(counts.extents());
    const auto kernel = cut(request_.kernel, choice_.support);
    for (const auto& band : bands_) {
        const BandSky sky(band.rings, band.rings.input.grid);
        const auto of_band = on_pixels(counts, part_.pixels(), sky.pixels(), 0);
        const radial::ColumnSums columns(sky.grid(), kernel, sky.whole_grid(),
                                         pixel_options(request_, choice_));
        const auto divided = columns.divide<T>(of_band.view(), sky);
        put(band, divided.view(), shares.view());
    }
    return shares;
}

template <class T>
void PixelSums::convolve(View<const T, 2> maps, View<T, 2> convolved, const Progress& progress) {
    Array<T, 2> shares;
    if (options_.keep_counts) part_.together("shares of counts", [&] { shares = shares_of(maps); });
    if (options_.keep_counts) maps = std::as_const(shares).view();
    if (!bands_.empty())
        return in_bands(maps, convolved, progress, [](PixelSums& sums, auto in, auto out, const auto& part) {
            sums.convolve<T>(in, out, part);
        });
    HaloMemory memory;
    if (spin_)
        spin_->convolve<T>(as_pairs(maps), as_pairs(convolved), of_spin_, memory, progress);
    else
        scalar_->convolve<T>(maps, convolved, of_scalar_, memory, progress);
}

double PixelSums::scratch_bytes(std::int64_t n_rows) const {
    constexpr std::int64_t bytes_of_value = sizeof(double);
    const auto n_maps = n_rows / planning::n_components(request_);
    if (!bands_.empty()) {
        std::int64_t most = 0;
        for (const auto& band : bands_)
            most = std::max(most, band.rings.input.grid.n_pixels() + band.rings.output.grid.n_pixels());
        const auto shares = options_.keep_counts ? grid().n_pixels() : 0;
        return static_cast<double>(n_rows * (shares + most) * bytes_of_value);
    }
    const auto workspace = [&](const auto& plan, std::int64_t n) {
        return !plan || choice_.device.kind() == Device::Kind::cuda ? 0 : plan->workspace_bytes(n);
    };
    // Counts over their columns' sums, and these
    const auto shares =
        options_.keep_counts
            ? (n_rows + (choice_.method == ConvolutionMethod::pixel_sum ? 1 : 0)) * grid().n_pixels()
            : 0;
    const auto sums =
        shares * bytes_of_value + (spin_ ? workspace(spin_, n_maps) : workspace(scalar_, n_maps));
    if (options_.mask.mode != MaskMode::renormalize) return static_cast<double>(sums);
    const auto reached = halo_->outer() ? halo_->outer()->in.n_pixels() : 0;
    const auto masks = (n_maps + 1) * (2 * grid().n_pixels() + reached);
    return static_cast<double>(std::max(sums, masks * bytes_of_value + workspace(scalar_, n_maps + 1)));
}

template <class T>
void PixelSums::divide_by_shares(View<const T, 2> known, View<T, 2> convolved,
                                 const Progress& progress) const {
    if (!bands_.empty())
        return in_bands(known, convolved, progress, [](PixelSums& sums, auto in, auto out, const auto& part) {
            sums.divide_by_shares<T>(in, out, part);
        });
    const auto n_components = planning::n_components(request_);
    const auto n_pixels = convolved.extent(1), n_maps = convolved.extent(0) / n_components;
    Array<T, 2> masks({n_maps + 1, known.extent(1)}), shares({n_maps + 1, n_pixels});
    for (std::int64_t map = 0; map < n_maps; ++map)
        std::copy_n(known[n_components * map].data(), known.extent(1), masks.view()[map].data());
    std::fill_n(masks.view()[n_maps].data(), known.extent(1), T(1));
    HaloMemory memory;
    Scalars::Workspaces workspaces;
    scalar_->convolve<T>(std::as_const(masks).view(), shares.view(), workspaces, memory, progress);
    for (std::int64_t row = 0; row < convolved.extent(0); ++row)
        for (std::int64_t pixel = 0; pixel < n_pixels; ++pixel) {
            convolved(row, pixel) =
                sht::over_share(convolved(row, pixel), shares(row / n_components, pixel),
                                options_.mask.threshold * std::abs(shares(n_maps, pixel)));
        }
}

template void PixelSums::convolve(View<const float, 2>, View<float, 2>, const Progress&);
template void PixelSums::convolve(View<const double, 2>, View<double, 2>, const Progress&);
template void PixelSums::divide_by_shares(View<const float, 2>, View<float, 2>, const Progress&) const;
template void PixelSums::divide_by_shares(View<const double, 2>, View<double, 2>, const Progress&) const;

}  // namespace zonal::planning
