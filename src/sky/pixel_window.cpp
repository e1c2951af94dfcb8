#include "zonal/sky/pixel_window.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <vector>

#include "core/constants.hpp"
#include "core/parallel.hpp"
#include "grids/latitude_nodes.hpp"
#include "zonal/error.hpp"

namespace zonal {
namespace {

/// With s = sin^2(gamma / 2), P_l(cos gamma) = sum_k (-1)^k s^k prod_{j<k} (l(l+1) - j(j+1)) / (k!)^2, and
/// d^l_22 = (1 - s)^2 2F1(2 - l, l + 3; 1; s). The corners of a pixel lie at most 2.8 / nside apart, so that
/// for l = 4 nside the terms are at most 31^k / (k!)^2: below 1e-20 from k = 30 on.
constexpr int n_terms = 32;

/// Points of the Gauss-Legendre rule on each side of half a pixel: six leave an error of 2e-8, eight 1e-11.
constexpr int n_nodes = 8;

/// Means over pairs of points in a pixel of (nside^2 s)^k, and of that times the polarisation's factor.
struct Moments {
    std::array<double, n_terms> temperature{};
    std::array<double, n_terms> polarization{};

    void add(const Moments& other, double weight) {
        for (std::size_t k = 0; k < n_terms; ++k) {
            temperature[k] += weight * other.temperature[k];
            polarization[k] += weight * other.polarization[k];
        }
    }
};

/// A place for a pixel in the northern quarter of a face column that begins at the pole: i rings of pixels
/// from it, d pixels' widths east of the middle. Real pixels have whole numbers; the sums over pixels below
/// take others too.
struct Place {
    double i = 0;
    double d = 0;
    double weight = 0;
};

/// A node of a sum over consecutive integers that a few nodes stand for.
struct SumNode {
    double at = 0;
    double weight = 0;
};

/// Nodes for the sum over `count` consecutive integers, of which `first` is the first: their mean at three
/// points is exact up to the fifth degree. The second and fourth moments of a block of B integers about its
/// middle are (B^2 - 1) / 12 and (B^2 - 1)(3 B^2 - 7) / 240. count: 3 or more, and need not be whole.
void append_block(double first, double count, std::vector<SumNode>& nodes) {
    const double middle = first + (count - 1) / 2;
    const double square = (3 * count * count - 7) / 20;
    const double outer = (count * count - 1) / 24 / square;
    nodes.push_back({middle, count * (1 - 2 * outer)});
    nodes.push_back({middle - std::sqrt(square), count * outer});
    nodes.push_back({middle + std::sqrt(square), count * outer});
}

/// Nodes for the sum over rings first .. last: each of the first 16, and then blocks of a fifth of their
/// distance from the pole, up to a sixteenth of all.
std::vector<SumNode> nodes_of_rings(std::int64_t first, std::int64_t last) {
    std::vector<SumNode> nodes;
    for (auto i = first; i <= last;) {
        const auto block = std::min({i / 5, std::max<std::int64_t>(last / 16, 3), last + 1 - i});
        if (block > 3)
            append_block(static_cast<double>(i), static_cast<double>(block), nodes);
        else
            nodes.push_back({static_cast<double>(i), 1});
        i += block > 3 ? block : 1;
    }
    return nodes;
}

/// Adds the pixels of the cap's ring i (of a quarter of it), each as the pixel that it mirrors.
void append_cap_ring(const SumNode& ring, std::vector<Place>& places) {
    const int n_blocks = std::clamp(static_cast<int>(ring.at / 4), 1, 8);
    std::vector<SumNode> nodes;
    if (ring.at == std::floor(ring.at) && ring.at <= 32)
        for (int j = 1; j <= static_cast<int>(ring.at); ++j) nodes.push_back({static_cast<double>(j), 1});
    else
        for (int block = 0; block < n_blocks; ++block)
            append_block(1 + ring.at / n_blocks * block, ring.at / n_blocks, nodes);
    for (const auto& node : nodes) {
        const double d = 2 * node.at - 1 - ring.at;
        if (std::abs(d) < 1e-9 * ring.at)
            places.push_back({ring.at, 0, ring.weight * node.weight});
        else if (d > 0)
            places.push_back({ring.at, d, 2 * ring.weight * node.weight});
    }
}

/// The pixels of a quarter of the northern hemisphere and half of the equator, whose weights are 3 nside^2 in
/// sum.
std::vector<Place> places_of_pixels(std::int64_t nside) {
    std::vector<Place> places;
    for (const auto& ring : nodes_of_rings(1, nside - 1)) append_cap_ring({ring.at, 2 * ring.weight}, places);
    // The pixels of the ring at |z| = 2/3 have their northern half in the cap.
    append_cap_ring({static_cast<double>(nside), 2}, places);
    for (const auto& ring : nodes_of_rings(nside + 1, 2 * nside - 1))
        places.push_back({ring.at, 0, 2 * static_cast<double>(nside) * ring.weight});
    places.push_back({2 * static_cast<double>(nside), 0, static_cast<double>(nside)});
    return places;
}

/// A point of a pixel and its share of the pixel's area. Differences between points are made from offsets
/// from the pixel's centre, so that they are precise for pixels of any size.
struct Point {
    double tau = 0;          ///< distance from the pole in rings, less that of the centre; not beyond the cap
    double delta = 0;        ///< widths east of the middle, less those of the centre
    double z_offset = 0;     ///< z less that of the centre
    double z = 0, sine = 0;  ///< of the colatitude
    double half = 0;         ///< colatitude / 2
    double weight = 0;
    std::complex<double> from_centre{};  ///< see transport
};

class Pixel {
  public:
    Pixel(double nside, const Place& place) : nside_(nside), i_(std::min(place.i, nside)), d_(place.d) {
        const auto nodes = unit_nodes();
        const double z = z_of(place.i, 0);
        for (int half = 0; half < 2; ++half)
            for (const auto& row : nodes)
                for (const auto& column : nodes) {
                    // Duffy's map of a triangle: it takes the pole, where longitudes meet, to an edge.
                    const double depth = half == 0 ? row.at - 1 : 1 - row.at;
                    points_.push_back(point(place, depth, row.at * (2 * column.at - 1),
                                            row.at * row.weight * column.weight));
                }
        Point centre = point(place, 0, 0, 0);
        centre.z = z;
        for (auto& p : points_) p.from_centre = transport(p, centre);
    }

    Moments moments() const {
        Moments sums;
        Batch batch;
        for (std::size_t a = 0; a < points_.size(); ++a)
            for (std::size_t b = 0; b <= a; ++b) {
                const double weight = (a == b ? 1 : 2) * points_[a].weight * points_[b].weight;
                batch.add(square_of_half_sine(points_[a], points_[b]), weight, turn(points_[a], points_[b]));
                if (batch.is_full()) batch.flush(nside_ * nside_, sums);
            }
        batch.flush(nside_ * nside_, sums);
        return sums;
    }

  private:
    /// Pairs of points, worked on side by side.
    struct Batch {
        static constexpr std::size_t width = 16;
        std::array<double, width> s{}, temperature{}, polarization{};
        std::size_t n = 0;

        bool is_full() const { return n == width; }
        void add(double square, double weight, double factor) {
            s[n] = square;
            temperature[n] = weight;
            polarization[n] = weight * factor * (1 - square) * (1 - square);
            ++n;
        }
        void flush(double scale, Moments& sums) {
            for (; n < width; ++n) s[n] = temperature[n] = polarization[n] = 0;
            for (auto& value : s) value *= scale;
            for (std::size_t k = 0; k < n_terms; ++k) {
                double t = 0, p = 0;
                for (std::size_t lane = 0; lane < width; ++lane) {
                    t += temperature[lane];
                    p += polarization[lane];
                    temperature[lane] *= s[lane];
                    polarization[lane] *= s[lane];
                }
                sums.temperature[k] += t;
                sums.polarization[k] += p;
            }
            n = 0;
        }
    };

    static const std::vector<SumNode>& unit_nodes() {
        static const auto nodes = [] {
            std::vector<SumNode> rule;
            for (const auto& node : grids::gauss_legendre_nodes(n_nodes)) {
                rule.push_back({(1 - node.cos_theta) / 2, node.weight / 2});
                rule.push_back({(1 + node.cos_theta) / 2, node.weight / 2});
            }
            return rule;
        }();
        return nodes;
    }

    double z_of(double i, double tau) const {
        const double t = i + tau;
        return t <= nside_ ? 1 - t * t / (3 * nside_ * nside_) : 4.0 / 3 - 2 * t / (3 * nside_);
    }

    Point point(const Place& place, double tau, double delta, double weight) const {
        Point p;
        const double t = place.i + tau;
        const bool in_cap = t <= nside_;
        p.delta = delta;
        p.weight = weight;
        // z = 1 - t^2 / (3 nside^2) in the cap and 4/3 - 2 t / (3 nside) beyond it
        p.z_offset = -(2 * i_ * tau + (in_cap ? tau * tau : 0)) / (3 * nside_ * nside_);
        p.tau = place.i > nside_ ? 0 : std::min(tau, nside_ - place.i);
        p.z = z_of(place.i, tau);
        const double u = t / nside_;
        p.sine = in_cap ? u * std::sqrt((2 - u * u / 3) / 3) : std::sqrt((1 - p.z) * (1 + p.z));
        p.half = std::atan2(p.sine, p.z) / 2;
        return p;
    }

    /// phi = pi/4 (d / t + const), t the distance from the pole in rings, or nside beyond the cap.
    double phi_difference(const Point& a, const Point& b) const {
        const double numerator =
            d_ * (b.tau - a.tau) + i_ * (a.delta - b.delta) + a.delta * b.tau - b.delta * a.tau;
        return core::pi / 4 * numerator / ((i_ + a.tau) * (i_ + b.tau));
    }

    /// sin^2 of half the angle between two points: a quarter of the square of their distance.
    double square_of_half_sine(const Point& a, const Point& b) const {
        const double dz = a.z_offset - b.z_offset;
        const double ds = -dz * (a.z + b.z) / (a.sine + b.sine);
        const double turn = std::sin(phi_difference(a, b) / 2);
        return (dz * dz + ds * ds) / 4 + a.sine * b.sine * turn * turn;
    }

    /// A number whose phase is half the angle by which meridians turn along the great circle from one point
    /// to the other.
    std::complex<double> transport(const Point& a, const Point& b) const {
        const double dphi = phi_difference(a, b) / 2;
        return {std::cos(dphi) * std::cos(a.half - b.half), std::sin(dphi) * std::cos(a.half + b.half)};
    }

    /// cos(2 E), E the area of the triangle of two points and the centre: what carrying Q and U to the centre
    /// turns them.
    double turn(const Point& a, const Point& b) const {
        const auto around = transport(a, b) * std::conj(a.from_centre) * b.from_centre;
        const auto square = around * around / std::norm(around);
        return (square * square).real();
    }

    double nside_, i_, d_;
    std::vector<Point> points_;
};

Moments mean_moments(std::int64_t nside, int threads) {
    const auto places = places_of_pixels(nside);
    std::vector<Moments> found(places.size());
    core::parallel_for(static_cast<std::int64_t>(places.size()), core::resolve_threads(threads),
                       [&](std::int64_t task, int) {
                           const auto n = static_cast<std::size_t>(task);
                           found[n] = Pixel(static_cast<double>(nside), places[n]).moments();
                       });
    Moments mean;
    const double n_pixels = 3 * static_cast<double>(nside) * static_cast<double>(nside);
    for (std::size_t n = 0; n < places.size(); ++n) mean.add(found[n], places[n].weight / n_pixels);
    return mean;
}

/// b_l of moments, for a factor between terms k and k + 1 that is -(l + 1 + spin + k)(l - spin - k) / (k +
/// 1)^2.
double window_at(double l, int spin, double nside, const std::array<double, n_terms>& moments) {
    double sum = 0, coefficient = 1;
    for (int k = 0; k < n_terms; ++k) {
        sum += coefficient * moments[static_cast<std::size_t>(k)];
        const double step = (k + 1) * nside;
        coefficient *= -(l + 1 + spin + k) * (l - spin - k) / (step * step);
    }
    return std::sqrt(std::max(sum, 0.0));
}

}  // namespace

Beam healpix_pixel_window(std::int64_t nside, std::int64_t lmax, int threads) {
    if (nside < 1 || nside > std::int64_t{1} << 29)
        throw InvalidArgument("nside", nside, "must be from 1 to 2^29");
    if (lmax < 0 || lmax > 4 * nside)
        throw InvalidArgument("lmax", lmax,
                              fmt::format("must be from 0 to 4 nside = {} for a pixel window", 4 * nside));
    const auto moments = mean_moments(nside, threads);
    Beam beam;
    for (std::int64_t l = 0; l <= lmax; ++l) {
        const auto degree = static_cast<double>(l), size = static_cast<double>(nside);
        beam.temperature.push_back(window_at(degree, 0, size, moments.temperature));
        beam.gradient.push_back(l < 2 ? 0 : window_at(degree, 2, size, moments.polarization));
    }
    beam.curl = beam.gradient;
    return beam;
}

}  // namespace zonal
