#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "radial/chord_table.hpp"
#include "radial/ring_pair.hpp"
#include "zonal/convolution.hpp"
#include "zonal/grid.hpp"

/// Which rings meet in a ring-FFT convolution and how, for both backends.
///
/// Between two rings the kernel is a real, even function of the difference of their longitudes,
///   k(x) = sum_m k_m exp(i m x), and g(phi) = sum_m k_m F(m) exp(i m phi).
/// F(m) of a ring of n pixels repeats with period n but for its phase, so all m with k_m != 0 count:
/// - `equal` rings of n pixels, offset by whole or half pixels: k sampled at the n offsets that there are.
/// Its
///   transform sums the k_m that fall together: |m| <= n/2 are enough, and exact for any kernel.
/// - `exact` modes: |m| <= M where the rest of the k_m is below the accuracy, from samples fine enough.
/// - `direct`: where the k_m do not decay. Rings of the output that need such rows are left to the sum over
///   pixels (ring_fft.cpp).
namespace zonal::radial {

/// A northern ring (or on the equator) and its mirror image, of the input's grid and of the output's.
struct RingNode {
    double theta;  ///< of the northern one
    double cos_theta, sin_theta, phi_0;
    std::int64_t n_pixels;
    std::int64_t input[2], output[2];  ///< indices of the rings in the north and in the south; -1: none
    std::int64_t exact_modes = 0;      ///< k_m of this ring and any other matter for m < exact_modes
    std::int64_t input_modes = 0;      ///< F(m) is needed for m < input_modes
    std::int64_t output_modes = 0;     ///< G(m) has m < output_modes
    std::int64_t n_values = 0;  ///< of the output's rows on the CPU: of the kernel, or modes of long rows
    bool has_twins = false;     ///< other nodes have as many pixels, and `equal` pairs are usual
    bool has_direct = false;    ///< of the output, with `direct` rows

    bool is_input() const { return input[0] >= 0 || input[1] >= 0; }
    bool is_output() const { return output[0] >= 0 || output[1] >= 0; }
};

enum class RowKind { none, equal, exact, direct };

/// The kernel between a node's rings and another's on the same side (or the other: `crosses`): samples
/// k(pi q / length), q = parity + 2 j, j < n_values, which make k_m for m < n_modes:
///   k_m = sum_q weight(q) k(pi q / length) cos(pi m q / length)
struct KernelRow {
    RowKind kind = RowKind::none;
    std::int64_t node = 0;
    bool crosses = false;
    ChordOfLongitude chord{};
    std::int64_t length = 0;
    std::int32_t parity = 0;
    std::int64_t n_values = 0, n_modes = 0;

    double weight(std::int64_t q) const {
        return (q == 0 || q == length ? 1.0 : 2.0) / static_cast<double>(length);
    }
    /// Transformed by an FFT as a whole on the CPU, where others are by cosines: where the two cost the same.
    bool is_long() const {
        constexpr std::int64_t longest_by_cosines = 160;
        return n_values > longest_by_cosines;
    }
    /// F(n/2) and its conjugate share one bin, so that m = n/2 would count twice.
    bool halves_last_mode() const { return kind == RowKind::equal && length % 2 == 0; }
};

class RingFftGeometry {
  public:
    /// accuracy: resolved.
    RingFftGeometry(const Grid& grid, const RadialKernel& kernel, const Grid& grid_out, double accuracy);

    const Grid& grid() const { return grid_; }
    const Grid& grid_out() const { return grid_out_; }
    const ChordTable& table() const { return table_; }
    /// chord^2 up to which pixels count; the table is asked for min(chord^2, table().end()).
    double limit() const { return limit_; }
    double value(double chord_squared) const {
        if (chord_squared > limit_) return 0;
        return evaluate(table_.view<double>(), std::min(chord_squared, table_.end()));
    }

    /// From the poles to the equator.
    const std::vector<RingNode>& nodes() const { return nodes_; }
    std::int64_t n_nodes() const { return static_cast<std::int64_t>(nodes_.size()); }
    /// Nodes of the output, in order.
    const std::vector<std::int64_t>& outputs() const { return outputs_; }

    /// Rows of a node of the output: positions [first, end), of all latitudes from north to south.
    struct Window {
        std::int64_t first, end;
    };
    Window window(std::int64_t node) const;
    KernelRow row(std::int64_t node, std::int64_t position) const;
    /// Nodes [first, second) that hold the input of the outputs [begin, end) (indices into outputs()).
    std::pair<std::int64_t, std::int64_t> inputs_of(std::int64_t begin, std::int64_t end) const;

    std::int64_t most_input_modes() const;
    std::int64_t most_output_modes() const;
    /// Rings of grid_out() whose sums need `direct` rows, which the sum over pixels is to make.
    std::vector<std::int64_t> direct_rings() const;
    /// The degree where the kernel's series over longitude may end; -1 where it does not converge, or no
    /// pair of rings needs it.
    std::int64_t degree() const { return degree_; }
    /// All rows by cosines.
    const PixelConvolutionWork& work() const { return work_; }
    /// Multiply-adds that transform the rows where long ones go through FFTs.
    double row_products_with_ffts() const { return row_products_with_ffts_; }

  private:
    void make_nodes();
    void find_twins();
    void set_exact_modes(const RadialKernel& kernel, double accuracy);
    void count_rows();
    void count(RingNode& node, const KernelRow& row);

    Grid grid_, grid_out_;
    ChordTable table_;
    double limit_;
    std::vector<RingNode> nodes_;
    std::vector<std::int64_t> outputs_;
    std::int64_t degree_ = -1;
    PixelConvolutionWork work_;
    double row_products_with_ffts_ = 0;
};

/// Smallest degree L at which the kernel's series over longitude on the equator, and across half its support
/// beside it, may end: the modes above sum to less than `accuracy` of all. -1 where that is above `highest`.
std::int64_t series_degree(const RadialKernel& kernel, double accuracy, std::int64_t highest);

}  // namespace zonal::radial
