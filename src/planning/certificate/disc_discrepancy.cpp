#include "planning/certificate/disc_discrepancy.hpp"

#include <algorithm>
#include <cmath>
#include <deque>

#include "core/constants.hpp"

namespace zonal::planning {
namespace {

using core::pi;

/// A ring, counted from the north, and how far the weights of all rings up to about it miss their area.
struct Band {
    double theta;
    double pixel;   ///< sr, of one pixel
    double before;  ///< sum of the weights of the rings before
    double whole;   ///< sum of the weights of this ring
    double missed;  ///< the most by which sums miss the area between the rings on either side
};

std::vector<Band> bands_of(const Grid& grid) {
    std::vector<Band> bands;
    for (const Ring& ring : grid.rings())
        bands.push_back({ring.theta, ring.weight, 0, ring.weight * static_cast<double>(ring.n_pixels), 0});
    std::sort(bands.begin(), bands.end(), [](const Band& a, const Band& b) { return a.theta < b.theta; });
    const auto area = [](const Band& band) { return 4 * pi * std::pow(std::sin(band.theta / 2), 2); };
    double sum = 0;
    for (std::size_t i = 0; i < bands.size(); ++i) {
        Band& band = bands[i];
        band.before = sum;
        sum += band.whole;
        band.missed = std::max(area(band) - band.before, sum - area(band));
        // A disc may end just before the next ring, or begin just after the last.
        if (i + 1 < bands.size()) band.missed = std::max(band.missed, area(bands[i + 1]) - sum);
        if (i > 0) band.missed = std::max(band.missed, band.before - area(bands[i - 1]));
    }
    return bands;
}

/// Returns the largest share of a ring that a disc of radius t around colatitude theta covers; 1 if it covers
/// a whole ring.
double largest_share(double theta, double t) {
    if (theta <= t || pi - theta <= t) return 1;
    return std::asin(std::min(1.0, std::sin(t) / std::sin(theta))) / pi;
}

/// Returns the bound for discs of radius t. Each ring that the edge crosses has up to a pixel too many or too
/// few. The share of a ring within the disc rises and falls once from ring to ring, and the rings' weights
/// add up to the area but for `missed`.
double bound_at(const std::vector<Band>& bands, double t) {
    double most = 0, edge_pixels = 0;
    std::deque<std::size_t> highest;  // indices of the largest `missed` in the window, descending
    std::size_t first = 0, last = 0;
    for (const Band& centre : bands) {
        for (; last < bands.size() && bands[last].theta <= centre.theta + t; ++last) {
            edge_pixels += bands[last].pixel;
            while (!highest.empty() && bands[highest.back()].missed <= bands[last].missed) highest.pop_back();
            highest.push_back(last);
        }
        for (; bands[first].theta < centre.theta - t; ++first) {
            edge_pixels -= bands[first].pixel;
            if (highest.front() == first) highest.pop_front();
        }
        most =
            std::max(most, edge_pixels + 2 * largest_share(centre.theta, t) * bands[highest.front()].missed);
    }
    return most;
}

}  // namespace

DiscDiscrepancy::DiscDiscrepancy(const Grid& grid)
    : pixel_(std::sqrt(4 * pi / static_cast<double>(grid.n_pixels()))),
      is_healpix_(grid.healpix_nside_of_rings() > 0) {
    if (!is_healpix_) tabulate(grid);
}

void DiscDiscrepancy::tabulate(const Grid& grid) {
    const auto bands = bands_of(grid);
    constexpr int per_octave = 8;
    for (double t = pixel_ / 4; t < pi; t *= std::exp2(1.0 / per_octave)) angle_.push_back(t);
    angle_.push_back(pi);
    double most = 0;
    for (const double t : angle_) bound_.push_back(most = std::max(most, bound_at(bands, t)));
}

// Counts of all discs around all pixels at nside 1 to 33 and 64 and around a sample at nside 128 are within
// this (docs/decisions/certificate.md). It grows as r^0.6 for the lattice, and as r where the edge of
// a disc runs along rings or, near great circles, through rows of centres. No two centres are closer than 0.8
// pixels. The antipode of a centre is a centre, too, and the disc around it holds the rest of the pixels.
double DiscDiscrepancy::on_healpix(double theta) const {
    constexpr double lattice = 3.7, power = 0.6, along_rings = 0.68, along_great_circles = 1.8, near = 0.3;
    const double r = std::min(theta, pi - theta) / pixel_;
    const double along = std::abs(theta - pi / 2) < near ? along_great_circles : along_rings;
    return std::max({1.0, lattice * std::pow(r, power), along * r}) * pixel_ * pixel_;
}

double DiscDiscrepancy::over(double theta) const {
    if (is_healpix_) return on_healpix(theta);
    const auto above = std::lower_bound(angle_.begin(), angle_.end(), theta);
    return bound_[std::min(static_cast<std::size_t>(above - angle_.begin()), bound_.size() - 1)];
}

// The bound rises up to pi / 2 and falls beyond it, but for a step near great circles.
double DiscDiscrepancy::over(double first, double last) const {
    const double most = std::max(over(first), over(last));
    return first < pi / 2 && last > pi / 2 ? std::max(most, over(pi / 2)) : most;
}

double DiscDiscrepancy::under(double first, double last) const {
    const double most = std::max(under(first), under(last));
    return first < pi / 2 && last > pi / 2 ? std::max(most, under(pi / 2)) : most;
}

double DiscDiscrepancy::under(double theta) const {
    constexpr double alone = 0.75;  // pixels: up to here the disc holds no centre but its own
    if (is_healpix_ && theta < alone * pixel_) return std::max(0.0, pi * theta * theta - pixel_ * pixel_);
    return std::min(over(theta), 4 * pi * std::pow(std::sin(theta / 2), 2));
}

}  // namespace zonal::planning
