#include "zonal/masks/distance.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <deque>
#include <memory>
#include <utility>

#include "core/constants.hpp"
#include "core/interruption.hpp"
#include "core/parallel.hpp"
#include "grids/batch/pixel_kernels.hpp"
#include "grids/healpix_pixel.hpp"
#include "masks/face_flags.hpp"
#include "masks/nearest.hpp"
#include "masks/square.hpp"
#include "zonal/error.hpp"
#include "zonal/healpix.hpp"
#include "zonal/mask.hpp"

namespace zonal {
namespace masks {
namespace {

/// A point, and how far from it, in chords, the farthest of some pixels lies at most.
struct Ball {
    healpix::Vector centre;
    double radius;
};

std::int64_t row_of(std::int64_t nside, const healpix::FacePixel& pixel) {
    return healpix::to_row_pixel(nside, pixel).i;
}

/// The unit vector at x, y of a face: the centres of pixels have whole numbers.
healpix::Vector vector_at(std::int64_t nside, std::int64_t face, double x, double y) {
    const auto n = static_cast<double>(nside), quarter = static_cast<double>(face % 4);
    const std::int64_t row_of_faces = face / 4;
    const double row = static_cast<double>(row_of_faces + 2) * n - x - y - 1;
    double z, phi;
    if (row >= n && row <= 3 * n) {
        z = 4.0 / 3 - 2 * row / (3 * n);
        phi = core::pi / (4 * n) * ((2 * quarter + (face / 4 == 1 ? 0 : 1)) * n + x - y);
    } else {
        const double from_pole = std::min(row, 4 * n - row), t = from_pole / n;
        z = (1 - t * t / 3) * (row < n ? 1 : -1);
        phi = core::pi / 2 * (quarter + (row < n ? n - 0.5 - y : x + 0.5) / from_pole);
    }
    const double s = std::sqrt((1 - z) * (1 + z));
    return {s * std::cos(phi), s * std::sin(phi), z};
}

/// A step of one pixel turns the direction by at most 1.07 / nside in the belt, where it is sqrt((2/3)^2 /
/// s^2 + (pi/4)^2 s^2) / nside, s the sine of the colatitude, which is sqrt(5/9) or more. In the caps steps
/// in x and in y turn it by at most sqrt((2/3)^2 / (5/9) + (pi/2)^2 (2/3) f^2) / nside with f from 0 to 1 for
/// one and 1 - f for the other, together by at most 2.46 / nside. From the centre of a square to a corner it
/// is half its width in both.
Ball ball_around(std::int64_t nside, const Square& square) {
    const auto middle = [](std::int64_t first, std::int64_t end) {
        return static_cast<double>(first + end - 1) / 2;
    };
    const auto first_row = row_of(nside, {square.face, square.x_end - 1, square.y_end - 1});
    const auto last_row = row_of(nside, {square.face, square.x, square.y});
    const double of_step = first_row >= nside && last_row <= 3 * nside ? 1.071 : 1.2301;
    return {vector_at(nside, square.face, middle(square.x, square.x_end), middle(square.y, square.y_end)),
            of_step * static_cast<double>(square.width() - 1) / static_cast<double>(nside)};
}

/// Squares of chords from which on asin(chord / 2) multiplies rounding by 6 and more: the sum of vectors that
/// are nearly opposite is exact there.
constexpr double nearly_opposite = 3.9;

/// The least angle to many points that all are nearly opposite.
double least_angle(const Points& points, double x, double y, double z) {
    double sum = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(points.size); ++i) {
        const double a = points.x[i] + x, b = points.y[i] + y, c = points.z[i] + z;
        sum = std::max(sum, a * a + b * b + c * c);
    }
    return core::pi - 2 * std::asin(std::min(1.0, std::sqrt(sum) / 2));
}

/// Candidates of a branch of the tree, for each depth below it, and what is computed for one square.
struct Scratch {
    std::deque<Points> kept;  // which stay where they are when there are more of them
    core::AlignedVector<double> squares;
    alignas(64) std::array<std::int64_t, leaf_pixels> pixels{};
    alignas(64) std::array<double, leaf_pixels> x{}, y{}, z{}, nearest{}, angles{};
};

class Distances {
  public:
    Distances(const FaceFlags& flags, double max_distance, const View<double, 1>& out)
        : flags_(flags),
          nside_(flags.nside()),
          max_distance_(std::min(max_distance, core::pi)),
          max_chord_(2 * std::sin(max_distance_ / 2)),
          out_(out) {}

    /// Whether a candidate may be near enough; those that may be the nearest are kept.
    bool keep(const Ball& ball, const Points& candidates, Scratch& scratch, Points& kept) const {
        scratch.squares.resize(candidates.x.size());
        const auto& [x, y, z] = ball.centre;
        const auto nearest = squares_of(candidates, x, y, z, scratch.squares.data());
        const double distance = std::sqrt(scratch.squares[static_cast<std::size_t>(nearest)]);
        const double radius = ball.radius * (1 + rounding);
        if (distance - radius > max_chord_ * (1 + rounding)) return false;
        keep_candidates(candidates, scratch.squares.data(), nearest, radius, kept);
        return true;
    }

    void fill(const Square& square, const Points& candidates, std::size_t depth, Scratch& scratch,
              const core::InterruptionPoll& poll) const {
        if (square.width() >= 64) poll();
        if (is_masked(square)) return set_all(square, 0);
        if (scratch.kept.size() <= depth) scratch.kept.resize(depth + 8);
        if (candidates.size == 0) return set_all(square, max_distance_);
        const auto ball = square.is_leaf() ? ball_of_leaf(square, scratch) : ball_around(nside_, square);
        if (!keep(ball, candidates, scratch, scratch.kept[depth])) return set_all(square, max_distance_);
        if (square.is_leaf()) return fill_leaf(square, scratch.kept[depth], scratch);
        for (const auto& part : square.parts()) fill(part, scratch.kept[depth], depth + 1, scratch, poll);
    }

  private:
    static constexpr double rounding = 1e-14;

    /// Whether all pixels of a small square are; larger ones are not looked through.
    bool is_masked(const Square& square) const {
        if (square.width() > 64) return false;
        for (auto x = square.x; x < square.x_end; ++x)
            if (!flags_.are_masked(square.face, x, square.y, square.y_end)) return false;
        return true;
    }

    /// Sets a square that has no pixel of the rim. Either all of its pixels are masked, and get 0, or none
    /// is.
    void set_all(const Square& square, double value) const {
        const double all = flags_.is_masked(square.face, square.x, square.y) ? 0 : value;
        for_each_run(nside_, square, [&](std::int64_t pixel, std::int64_t, std::int64_t, std::int64_t n) {
            for (auto k = pixel; k < pixel + n; ++k) out_[k] = all;
        });
    }

    /// Finds the centres of its pixels, too.
    Ball ball_of_leaf(const Square& square, Scratch& scratch) const {
        std::size_t n = 0;
        for_each_run(nside_, square,
                     [&](std::int64_t pixel, std::int64_t, std::int64_t, std::int64_t length) {
                         for (std::int64_t k = 0; k < length; ++k) scratch.pixels[n++] = pixel + k;
                     });
        std::fill(scratch.pixels.begin() + static_cast<std::ptrdiff_t>(n), scratch.pixels.end(),
                  scratch.pixels[0]);
        healpix::pix2vec_block(nside_, healpix::Order::ring, scratch.pixels.data(), scratch.x.data(),
                               scratch.y.data(), scratch.z.data(), leaf_pixels);
        const auto [x, y, z] =
            vector_at(nside_, square.face, static_cast<double>(square.x + square.x_end - 1) / 2,
                      static_cast<double>(square.y + square.y_end - 1) / 2);
        double farthest = 0;
        for (std::size_t k = 0; k < n; ++k) {
            const double a = scratch.x[k] - x, b = scratch.y[k] - y, c = scratch.z[k] - z;
            farthest = std::max(farthest, a * a + b * b + c * c);
        }
        return {{x, y, z}, std::sqrt(farthest)};
    }

    /// candidates: what is kept for the ball of the leaf, which was found last.
    void fill_leaf(const Square& square, const Points& candidates, Scratch& scratch) const {
        nearest_squares(candidates, scratch.x.data(), scratch.y.data(), scratch.z.data(),
                        scratch.nearest.data(), scratch.angles.data());
        std::size_t i = 0;
        for_each_run(nside_, square, [&](std::int64_t pixel, std::int64_t x, std::int64_t y, std::int64_t n) {
            for (std::int64_t k = 0; k < n; ++k, ++i) {
                const double distance =
                    scratch.nearest[i] < nearly_opposite
                        ? scratch.angles[i]
                        : least_angle(candidates, scratch.x[i], scratch.y[i], scratch.z[i]);
                out_[pixel + k] =
                    flags_.is_masked(square.face, x + k, y - k) ? 0 : std::min(distance, max_distance_);
            }
        });
    }

    const FaceFlags& flags_;
    const std::int64_t nside_;
    const double max_distance_, max_chord_;
    const View<double, 1> out_;
};

/// A square, and the candidates of the one that it is a part of.
struct Branch {
    Square square;
    std::shared_ptr<const Points> candidates;
};

/// Divides the faces until there are squares enough for threads to share.
std::vector<Branch> branches(const Distances& distances, std::int64_t nside, Points rim, int threads) {
    std::vector<Branch> result;
    const auto all = std::make_shared<const Points>(std::move(rim));
    for (std::int64_t face = 0; face < 12; ++face) result.push_back({{face, 0, 0, nside, nside}, all});
    for (int level = 0; level < 3 && !result.front().square.is_leaf(); ++level) {
        std::vector<std::vector<Branch>> parts(result.size());
        core::parallel_for(std::ssize(result), threads, [&](std::int64_t task, int) {
            const auto& branch = result[static_cast<std::size_t>(task)];
            Scratch scratch;
            const auto kept = std::make_shared<Points>();
            if (branch.candidates->size > 0)
                distances.keep(ball_around(nside, branch.square), *branch.candidates, scratch, *kept);
            // Memory goes with those that are left, not with all that were looked at.
            for (auto* values : {&kept->x, &kept->y, &kept->z}) {
                values->resize(static_cast<std::size_t>(kept->size + 8));
                values->shrink_to_fit();
            }
            for (const auto& part : branch.square.parts())
                parts[static_cast<std::size_t>(task)].push_back({part, kept});
        });
        result.clear();
        for (const auto& some : parts) result.insert(result.end(), some.begin(), some.end());
    }
    return result;
}

}  // namespace
}  // namespace masks

template <class T>
std::vector<std::uint8_t> masked_pixels(View<const T, 1> mask, int threads) {
    std::vector<std::uint8_t> result(static_cast<std::size_t>(mask.size()));
    std::atomic<std::int64_t> bad{-1};
    core::for_pieces(mask.size(), threads, [&](std::int64_t first, std::int64_t end) {
        for (auto i = first; i < end; ++i) {
            if (!std::isfinite(mask[i])) bad = i;
            result[static_cast<std::size_t>(i)] =
                mask[i] == 0 || is_unseen_value(static_cast<double>(mask[i])) ? 1 : 0;
        }
    });
    if (bad >= 0) {
        const auto pixel = bad.load();
        throw InvalidArgument("mask", fmt::format("pixel {} is {}: must be finite, 0 where it is masked",
                                                  pixel, static_cast<double>(mask[pixel])));
    }
    return result;
}

template std::vector<std::uint8_t> masked_pixels<double>(View<const double, 1>, int);
template std::vector<std::uint8_t> masked_pixels<float>(View<const float, 1>, int);

void distances_to_masked(View<const std::uint8_t, 1> masked, View<double, 1> distances, double max_distance,
                         int threads) {
    const auto nside = healpix::nside_of(masked.size());
    if (distances.size() != masked.size())
        throw InvalidArgument("distances", fmt::format("{} pixels: must be {}, those of the mask",
                                                       distances.size(), masked.size()));
    if (!(max_distance >= 0)) throw InvalidArgument("max_distance", max_distance, "must be 0 or more, rad");
    const int n_threads = core::resolve_threads(threads);
    const masks::FaceFlags flags(nside, masked, n_threads);
    const masks::Distances of_mask(flags, max_distance, distances);
    const auto branches = masks::branches(of_mask, nside, flags.rim(n_threads), n_threads);
    std::vector<masks::Scratch> scratch(static_cast<std::size_t>(n_threads));
    core::parallel_for(std::ssize(branches), n_threads, [&](std::int64_t task, int thread) {
        const auto& branch = branches[static_cast<std::size_t>(task)];
        const core::InterruptionPoll poll;
        of_mask.fill(branch.square, *branch.candidates, 0, scratch[static_cast<std::size_t>(thread)], poll);
    });
}

double bytes_of_distances(std::int64_t nside) {
    return 2 * static_cast<double>(healpix::n_pixels(nside));  // two sets of flags
}

}  // namespace zonal
