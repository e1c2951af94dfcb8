#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "radial/kernels/sum_kernel.hpp"
#include "zonal/convolution.hpp"
#include "zonal/grid.hpp"

/// Which pairs of rings are summed how, and by which task.
namespace zonal::radial {

/// A ring, and its symmetries.
struct SumRing {
    double theta, cos_theta, sin_theta, phi_0, weight;
    double cos_half, sin_half;  ///< of theta / 2
    std::int64_t n_pixels, first_pixel;
    /// Whether rotations by 90 degrees and the reflection phi -> -phi map its pixels onto each other: then
    /// pixel k + rotation lies at (k + half/2) 2 pi / n_pixels, half = 0 or 1.
    bool is_square;
    int half;
    std::int64_t rotation;
    /// The ring at pi - theta with the same pixels, as an index; the ring itself on the equator; -1: none.
    std::int64_t mirror;
};

/// The rings from north to south.
class SumRings {
  public:
    explicit SumRings(const Grid& grid);

    const SumRing& operator[](std::int64_t index) const { return rings_[static_cast<std::size_t>(index)]; }
    std::int64_t size() const { return static_cast<std::int64_t>(rings_.size()); }
    std::int64_t n_map_pixels() const { return n_map_pixels_; }
    /// Whether every ring has its mirror image.
    bool is_mirrored() const { return is_mirrored_; }
    /// Rings [first, second) with |theta' - theta| <= distance and perhaps a few more.
    std::pair<std::int64_t, std::int64_t> near(double theta, double distance) const;

  private:
    void find_mirrors();

    std::vector<SumRing> rings_;
    std::int64_t n_map_pixels_;
    bool is_mirrored_ = true;
};

/// How far ring b's first pixel is from ring a's, in half pixels, where both have equally many pixels.
struct HalfPixels {
    bool is_whole;  ///< within 4e-12 of a whole number of half pixels: shift; else the rings do not match
    std::int64_t shift;
};
HalfPixels half_pixels_between(double phi_a, double phi_b, std::int64_t n_pixels);

/// How a pair of rings is summed.
enum class PairKind {
    equal,   ///< as many pixels in both, whole half pixels apart: one filter for all pixels
    square,  ///< both with the symmetries of a square
    general
};

/// Kinds that pairs may be of, beside general: benchmarks leave some out (bench/pixel_sum_kinds.cpp).
struct UsedKinds {
    bool equal = true, square = true;
};

/// A task: consecutive output rings, by their indices. Those of an equal band have equally many pixels, whole
/// half pixels apart; of each pair of mirrored rings a square band holds the first.
struct RingBand {
    std::vector<std::int64_t> outputs;
    double cost;  ///< multiply-adds, roughly
};

class PixelSumSchedule {
  public:
    /// accuracy: that of the kernel's tables.
    PixelSumSchedule(const Grid& grid, const SumKernel& kernel, const Grid& grid_out, double accuracy,
                     UsedKinds used = {});

    const SumKernel& kernel() const { return kernel_; }
    const SumRings& inputs() const { return inputs_; }
    const SumRings& outputs() const { return outputs_; }
    /// Every output ring that is not alone is in one of these; longest tasks first.
    const std::vector<RingBand>& equal_bands() const { return equal_bands_; }
    /// Output rings that are alone or have input rings of kind square near; longest tasks first.
    const std::vector<RingBand>& square_bands() const { return square_bands_; }
    /// Output rings that have input rings of kind general near.
    const std::vector<std::int64_t>& general_rings() const { return general_rings_; }

    /// Error of weights that counts as none, in 1/sr.
    double tolerance() const { return accuracy_ * kernel_.peak(); }
    /// What one pass counts: pixel_products, uneven_products, pixel_rows and pixel_weights.
    const PixelConvolutionWork& work() const { return work_; }

    /// Whether an output ring has the symmetries of a square and no neighbour of its length, as in HEALPix's
    /// caps: a filter would serve it alone, so all its pairs are of kind square.
    bool is_alone(std::int64_t output) const { return is_alone_[static_cast<std::size_t>(output)]; }
    /// Input pixels of a kind of rings within the support of one pixel of an output ring.
    double weights_inside(std::int64_t output, PairKind kind) const {
        return pixels_inside_[static_cast<std::size_t>(output)][static_cast<std::size_t>(kind)];
    }
    PairKind kind(std::int64_t output, std::int64_t input) const;
    /// The input rings of a kind within the support of an output ring.
    std::vector<std::int64_t> near(std::int64_t output, PairKind kind) const;
    /// Whether the output ring and its mirror image are summed together.
    bool is_paired(std::int64_t output) const {
        return both_mirrored_ && outputs_[output].mirror != output && outputs_[output].mirror >= 0;
    }
    /// Whether rows of folded input hold mirrored rings beside each other.
    bool both_mirrored() const { return both_mirrored_; }
    /// The longitude that an output ring's equal band counts half pixels from.
    double reference_phi(std::int64_t output) const {
        return reference_phi_[static_cast<std::size_t>(output)];
    }
    /// The largest difference of longitudes inside, rad; negative where there is none.
    double pair_half_width(std::int64_t output, std::int64_t input) const {
        return half_width(chord_of_longitude(outputs_[output], inputs_[input]), kernel_.limit());
    }

  private:
    void find_lone_rings();
    void make_equal_bands();
    void count_pixels();
    void make_square_bands();
    void find_general_rings();
    /// What is inside the support of one pixel of an output ring.
    struct Disc {
        std::array<double, 3> pixels{};  ///< inside, over all input rings of each kind
        double rows = 0;
    };
    Disc disc(std::int64_t output) const;

    double accuracy_;
    UsedKinds used_;
    SumKernel kernel_;
    SumRings inputs_, outputs_;
    bool both_mirrored_;
    PixelConvolutionWork work_;
    std::vector<bool> is_alone_;
    std::vector<double> reference_phi_;
    std::vector<std::array<double, 3>> pixels_inside_;
    std::vector<RingBand> equal_bands_, square_bands_;
    std::vector<std::int64_t> general_rings_;
};

}  // namespace zonal::radial
