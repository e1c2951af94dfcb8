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
#include "zonal/error.hpp"
#include "zonal/healpix.hpp"
#include "zonal/mask.hpp"

namespace zonal {
namespace masks {
namespace {

/// Pixels x from x to x_end - 1 and y from y to y_end - 1 of a face.
struct Square {
    std::int64_t face, x, y, x_end, y_end;

    std::int64_t width() const { return std::max(x_end - x, y_end - y); }
    bool is_leaf() const { return width() <= 8; }
    static_assert(8 * 8 == leaf_pixels);

    /// Four of them, or two of a square that is one pixel wide.
    std::vector<Square> parts() const {
        const std::int64_t x_half = (x + x_end + 1) / 2, y_half = (y + y_end + 1) / 2;
        std::vector<Square> result;
        for (const auto& [x0, x1] : {std::pair(x, x_half), std::pair(x_half, x_end)})
            for (const auto& [y0, y1] : {std::pair(y, y_half), std::pair(y_half, y_end)})
                if (x0 < x1 && y0 < y1) result.push_back({face, x0, y0, x1, y1});
        return result;
    }
};

/// A point, and how far from it, in chords, the farthest of some pixels lies at most.
struct Ball {
    healpix::Vector centre;
    double radius;
};

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

double chord(const healpix::Vector& a, const healpix::Vector& b) {
    return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

/// A step of one pixel in x or y turns the direction by at most 1.57 / nside: in the belt by (2/3)^2 / s^2 +
/// (pi/4)^2 s^2, s the sine of the colatitude, which is at most 1.07^2, and in the caps by at most (2/3)^2 /
/// (5/9) + (pi/2)^2 (2/3) = 1.57^2. So the rim of a square is seen well enough at points a third of it apart.
Ball ball_around(std::int64_t nside, const Square& square) {
    const auto x0 = static_cast<double>(square.x), x1 = static_cast<double>(square.x_end - 1),
               y0 = static_cast<double>(square.y), y1 = static_cast<double>(square.y_end - 1);
    Ball ball{vector_at(nside, square.face, (x0 + x1) / 2, (y0 + y1) / 2), 0};
    const auto reach = [&](double x, double y) {
        ball.radius = std::max(ball.radius, chord(ball.centre, vector_at(nside, square.face, x, y)));
    };
    for (int k = 0; k < 3; ++k) {
        const double x = (x1 - x0) * k / 3, y = (y1 - y0) * k / 3;
        reach(x0 + x, y0);
        reach(x1, y0 + y);
        reach(x1 - x, y1);
        reach(x0, y1 - y);
    }
    ball.radius += 1.58 / static_cast<double>(nside) * std::max(x1 - x0, y1 - y0) / 6;
    return ball;
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
        const double nearest = std::sqrt(squares_of(candidates, x, y, z, scratch.squares.data()));
        if (nearest - ball.radius > max_chord_ * (1 + rounding)) return false;
        const double limit = (nearest + 2 * ball.radius) * (1 + rounding);
        keep_within(candidates, scratch.squares.data(), limit * limit, kept);
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

    std::int64_t pixel_at(const Square& square, std::int64_t x, std::int64_t y) const {
        return healpix::ring_of_row_pixel(nside_, healpix::to_row_pixel(nside_, {square.face, x, y}));
    }

    /// Whether all pixels of a small square are; larger ones are not looked through.
    bool is_masked(const Square& square) const {
        if (square.width() > 64) return false;
        for (auto x = square.x; x < square.x_end; ++x)
            for (auto y = square.y; y < square.y_end; ++y)
                if (!flags_.is_masked(square.face, x, y)) return false;
        return true;
    }

    /// Those that are not masked; the others are 0.
    void set_all(const Square& square, double value) const {
        for (auto x = square.x; x < square.x_end; ++x)
            for (auto y = square.y; y < square.y_end; ++y)
                out_[pixel_at(square, x, y)] = flags_.is_masked(square.face, x, y) ? 0 : value;
    }

    /// Finds the centres of its pixels, too.
    Ball ball_of_leaf(const Square& square, Scratch& scratch) const {
        std::size_t n = 0;
        for (auto x = square.x; x < square.x_end; ++x)
            for (auto y = square.y; y < square.y_end; ++y) scratch.pixels[n++] = pixel_at(square, x, y);
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
        std::size_t k = 0;
        for (auto x = square.x; x < square.x_end; ++x)
            for (auto y = square.y; y < square.y_end; ++y, ++k) {
                const double distance =
                    scratch.nearest[k] < nearly_opposite
                        ? scratch.angles[k]
                        : least_angle(candidates, scratch.x[k], scratch.y[k], scratch.z[k]);
                out_[scratch.pixels[k]] =
                    flags_.is_masked(square.face, x, y) ? 0 : std::min(distance, max_distance_);
            }
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
