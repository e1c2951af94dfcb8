#include "radial/pixel_sum/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/interruption.hpp"

namespace zonal::radial {
namespace {

/// Output rings of an equal band: its input rings are read (outputs + rings of the support) / outputs times.
constexpr std::size_t equal_band_rings = 32;

/// Output rings of a square band at most, and bytes of their sums (16 images of 8 bytes) at most, so that
/// these stay in the second-level cache.
constexpr std::size_t square_band_rings = 16;
constexpr double square_band_bytes = 1 << 20;

double of_kind(const std::array<double, 3>& pixels, PairKind kind) {
    return pixels[static_cast<std::size_t>(kind)];
}

void sort_longest_first(std::vector<RingBand>& bands) {
    std::stable_sort(bands.begin(), bands.end(),
                     [](const RingBand& a, const RingBand& b) { return a.cost > b.cost; });
}

}  // namespace

PixelSumSchedule::PixelSumSchedule(const Grid& grid, const SumKernel& kernel, const Grid& grid_out,
                                   double accuracy, UsedKinds used)
    : accuracy_(accuracy),
      used_(used),
      kernel_(kernel),
      inputs_(grid),
      outputs_(grid_out),
      both_mirrored_(inputs_.is_mirrored() && outputs_.is_mirrored()) {
    find_lone_rings();
    make_equal_bands();
    count_pixels();
    make_square_bands();
    find_general_rings();
}

PairKind PixelSumSchedule::kind(std::int64_t output, std::int64_t input) const {
    const SumRing &out = outputs_[output], &in = inputs_[input];
    if (used_.equal && out.n_pixels == in.n_pixels && !is_alone(output) &&
        half_pixels_between(reference_phi(output), in.phi_0, in.n_pixels).is_whole)
        return PairKind::equal;
    return used_.square && out.is_square && in.is_square ? PairKind::square : PairKind::general;
}

std::vector<std::int64_t> PixelSumSchedule::near(std::int64_t output, PairKind kind) const {
    std::vector<std::int64_t> found;
    const auto [first, end] = inputs_.near(outputs_[output].theta, kernel_.theta_end());
    for (std::int64_t input = first; input < end; ++input)
        if (this->kind(output, input) == kind && pair_half_width(output, input) >= 0) found.push_back(input);
    return found;
}

PixelSumSchedule::Disc PixelSumSchedule::disc(std::int64_t output) const {
    Disc disc;
    const auto [first, end] = inputs_.near(outputs_[output].theta, kernel_.theta_end());
    for (std::int64_t input = first; input < end; ++input) {
        const double width = pair_half_width(output, input);
        if (width < 0) continue;
        disc.pixels[static_cast<std::size_t>(kind(output, input))] +=
            1 + width * static_cast<double>(inputs_[input].n_pixels) / std::numbers::pi;
        ++disc.rows;
    }
    return disc;
}

void PixelSumSchedule::find_lone_rings() {
    const auto has_length = [&](std::int64_t output, std::int64_t n_pixels) {
        return output >= 0 && output < outputs_.size() && outputs_[output].n_pixels == n_pixels;
    };
    for (std::int64_t output = 0; output < outputs_.size(); ++output) {
        const std::int64_t n = outputs_[output].n_pixels;
        is_alone_.push_back(outputs_[output].is_square && !has_length(output - 1, n) &&
                            !has_length(output + 1, n));
    }
}

void PixelSumSchedule::make_equal_bands() {
    for (std::int64_t output = 0; output < outputs_.size(); ++output) {
        const SumRing& ring = outputs_[output];
        reference_phi_.push_back(ring.phi_0);
        if (is_alone(output)) continue;
        const bool fits = [&] {
            if (equal_bands_.empty()) return false;
            const RingBand& band = equal_bands_.back();
            const SumRing& first = outputs_[band.outputs.front()];
            return band.outputs.size() < equal_band_rings && first.n_pixels == ring.n_pixels &&
                   half_pixels_between(first.phi_0, ring.phi_0, ring.n_pixels).is_whole;
        }();
        if (!fits) equal_bands_.push_back({{}, 0});
        equal_bands_.back().outputs.push_back(output);
        reference_phi_.back() = outputs_[equal_bands_.back().outputs.front()].phi_0;
    }
}

void PixelSumSchedule::count_pixels() {
    const core::InterruptionPoll poll;
    for (std::int64_t output = 0; output < outputs_.size(); ++output) {
        poll();
        const Disc one = disc(output);
        pixels_inside_.push_back(one.pixels);
        double sum = 0;
        for (const double pixels : one.pixels) sum += pixels;
        const auto n_pixels = static_cast<double>(outputs_[output].n_pixels);
        const double uneven = sum - of_kind(one.pixels, PairKind::equal);
        work_.pixel_products += n_pixels * sum;
        work_.uneven_products += n_pixels * uneven;
        work_.longest_sum = std::max(work_.longest_sum, uneven);
        work_.pixel_rows += n_pixels * one.rows;
        work_.pixel_weights += sum;
    }
    for (RingBand& band : equal_bands_)
        for (const std::int64_t output : band.outputs)
            band.cost += static_cast<double>(outputs_[output].n_pixels) *
                         (1 + of_kind(pixels_inside_[static_cast<std::size_t>(output)], PairKind::equal));
    sort_longest_first(equal_bands_);
}

void PixelSumSchedule::make_square_bands() {
    std::int64_t before = -2;
    double bytes = 0;
    for (std::int64_t output = 0; output < outputs_.size(); ++output) {
        if (both_mirrored_ && outputs_[output].mirror < output) continue;
        const double pixels = of_kind(pixels_inside_[static_cast<std::size_t>(output)], PairKind::square);
        if (pixels == 0 && !is_alone(output)) continue;
        const double ring_bytes = 16. * static_cast<double>(outputs_[output].n_pixels);
        const bool fits = before == output - 1 && square_bands_.back().outputs.size() < square_band_rings &&
                          bytes + ring_bytes <= square_band_bytes;
        if (!fits) {
            square_bands_.push_back({{}, 0});
            bytes = 0;
        }
        square_bands_.back().outputs.push_back(output);
        square_bands_.back().cost += static_cast<double>(outputs_[output].n_pixels) * pixels;
        bytes += ring_bytes;
        before = output;
    }
    sort_longest_first(square_bands_);
}

void PixelSumSchedule::find_general_rings() {
    for (std::int64_t output = 0; output < outputs_.size(); ++output)
        if (of_kind(pixels_inside_[static_cast<std::size_t>(output)], PairKind::general) > 0)
            general_rings_.push_back(output);
}

namespace {

SumRing sum_ring(const Ring& ring) {
    SumRing out{};
    out.theta = ring.theta;
    out.cos_theta = ring.cos_theta;
    out.sin_theta = ring.sin_theta;
    out.phi_0 = ring.phi_0;
    out.weight = ring.weight;
    out.cos_half = std::cos(ring.theta / 2);
    out.sin_half = std::sin(ring.theta / 2);
    out.n_pixels = ring.n_pixels;
    out.first_pixel = ring.first_pixel;
    out.mirror = -1;
    const HalfPixels from_zero = half_pixels_between(0, ring.phi_0, ring.n_pixels);
    if (ring.n_pixels % 4 != 0 || !from_zero.is_whole) return out;
    out.is_square = true;
    out.half = static_cast<int>(((from_zero.shift % 2) + 2) % 2);
    const std::int64_t turn = (out.half - from_zero.shift) / 2 % ring.n_pixels;
    out.rotation = turn < 0 ? turn + ring.n_pixels : turn;
    return out;
}

bool mirror_each_other(const SumRing& a, const SumRing& b) {
    return a.cos_theta == -b.cos_theta && a.sin_theta == b.sin_theta && a.n_pixels == b.n_pixels &&
           a.is_square && b.is_square && a.half == b.half;
}

}  // namespace

HalfPixels half_pixels_between(double phi_a, double phi_b, std::int64_t n_pixels) {
    const double shift = (phi_b - phi_a) * static_cast<double>(n_pixels) / std::numbers::pi;
    const double whole = std::round(shift);
    return {std::abs(shift - whole) <= 4e-12, static_cast<std::int64_t>(whole)};
}

SumRings::SumRings(const Grid& grid) : n_map_pixels_(grid.n_pixels()) {
    for (const Ring& ring : grid.rings()) rings_.push_back(sum_ring(ring));
    std::stable_sort(rings_.begin(), rings_.end(),
                     [](const SumRing& a, const SumRing& b) { return a.theta < b.theta; });
    find_mirrors();
}

// Mirrored rings stand at mirrored places: rings of one colatitude would not, and are taken for unmirrored.
void SumRings::find_mirrors() {
    for (std::int64_t index = 0; index < size(); ++index) {
        SumRing& ring = rings_[static_cast<std::size_t>(index)];
        const std::int64_t other = size() - 1 - index;
        if (mirror_each_other(ring, (*this)[other]))
            ring.mirror = other;
        else
            is_mirrored_ = false;
    }
}

std::pair<std::int64_t, std::int64_t> SumRings::near(double theta, double distance) const {
    const double margin = distance * (1 + 1e-9) + 1e-14;
    const auto below = [](const SumRing& ring, double value) { return ring.theta < value; };
    const auto first = std::lower_bound(rings_.begin(), rings_.end(), theta - margin, below);
    const auto end = std::lower_bound(first, rings_.end(), std::nextafter(theta + margin, 4.0), below);
    return {first - rings_.begin(), end - rings_.begin()};
}

}  // namespace zonal::radial
