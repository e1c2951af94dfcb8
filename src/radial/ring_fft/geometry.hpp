#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "radial/kernels/sum_kernel.hpp"
#include "zonal/grid.hpp"
#include "zonal/polarization_convolution.hpp"

/// Which rings meet in a ring-FFT convolution and how, for both backends.
///
/// Between two rings the kernel is a real, even function of the difference of their longitudes,
///   k(x) = sum_m k_m exp(i m x), and g(phi) = sum_m k_m F(m) exp(i m phi).
/// F(m) of a ring of n pixels repeats with period n but for its phase, so all m with k_m != 0 count:
/// - `equal` rings of n pixels, offset by whole or half pixels: k sampled at the n offsets that there are.
/// Its
///   transform sums the k_m that fall together: |m| <= n/2 are enough, and exact for any kernel.
/// - `exact` modes: |m| <= M where the rest of the k_m is below the accuracy, from samples fine enough. Equal
///   rings are taken so as well where fewer samples than theirs will do: wide kernels have few modes.
/// - `direct`: where the k_m do not decay. Rings of the output that need such rows are left to the sum over
///   pixels (ring_fft.cpp).
///
/// For P = Q + iU and its kernel A(x) P + B(x) conj P, A = K+ e^{2i(psi-psi')} and B = K- e^{2i(psi+psi')},
/// the even parts are real and the odd ones imaginary, so that their coefficients a_m and b_m are real; with
/// F+(m) = Q(m) + i U(m), the modes of P, and F-(m) = Q(m) - i U(m), those of conj P, m >= 0,
///   G+(m) = a_m F+(m) + b_m F-(m),   G-(m) = a_-m F-(m) + b_-m F+(m).
/// Reflection at the equator takes P to conj P, so between the mirror images of two rings m and -m change
/// places: one row of each sign serves both sides.
namespace zonal::radial {

/// A northern ring (or on the equator) and its mirror image, of the input's grid and of the output's.
struct RingNode {
    double theta;  ///< of the northern one
    double cos_theta, sin_theta, phi_0;
    double cos_half, sin_half;  ///< of theta / 2
    std::int64_t n_pixels;
    std::int64_t input[2], output[2];  ///< indices of the rings in the north and in the south; -1: none
    std::int64_t exact_modes = 0;      ///< k_m of this ring and any other matter for m < exact_modes
    std::int64_t input_modes = 0;      ///< F(m) is needed for m < input_modes
    std::int64_t output_modes = 0;     ///< G(m) has m < output_modes
    std::int64_t n_values = 0;  ///< of the output's rows on the CPU: of the kernel, or modes of long rows
    bool has_twins = false;     ///< other nodes have as many pixels, and `equal` pairs are usual
    bool has_direct = false;    ///< of the output, with `direct` rows

    bool is_output() const { return output[0] >= 0 || output[1] >= 0; }
};

enum class RowKind { none, equal, exact, direct };

/// The kernel between a node's rings and another's on the same side (or the other: `crosses`): samples
/// k(pi q / length), q = parity + 2 j, j < n_values, which make k_m for m < n_modes:
///   k_m = sum_q weight(q) k(pi q / length) cos(pi m q / length)
/// For Q and U: samples of table value times turn^4, the even part of which makes the cosine sum C_m and the
/// odd one the same with sines, S_m;  k_m = C_m + S_m, k_-m = C_m - S_m.
struct KernelRow {
    RowKind kind = RowKind::none;
    std::int64_t node = 0;
    bool crosses = false;
    bool is_minus = false;  ///< of K-: from F- to G+ and from F+ to G-
    ChordOfLongitude chord{};
    Turn turn{};
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

/// A radial kernel (plus), or K+ / cos^4(theta/2) and K- / sin^4(theta/2), either of which may be null.
struct KernelProfiles {
    const RadialKernel *plus, *minus;
    bool is_polarized;
};

class RingFftGeometry {
  public:
    /// accuracy: resolved.
    RingFftGeometry(const Grid& grid, const RadialKernel& kernel, const Grid& grid_out, double accuracy);
    RingFftGeometry(const Grid& grid, const PolarizationKernel& kernel, const Grid& grid_out,
                    double accuracy);

    const Grid& grid() const { return grid_; }
    const Grid& grid_out() const { return grid_out_; }
    bool is_polarized() const { return kernel_.part() != KernelPart::radial; }
    /// 1, or Q and U.
    int n_components() const { return is_polarized() ? 2 : 1; }
    /// The table of the radial kernel or of K+, or that of K-, and chord^2 up to which it counts.
    const SumKernel::Part& part(bool is_minus) const { return is_minus ? kernel_.minus() : kernel_.plus(); }
    /// The kernel's value, from the table that a row reads.
    double value(double chord_squared, bool is_minus = false) const {
        return part(is_minus).value(chord_squared);
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
    KernelRow row(std::int64_t node, std::int64_t position, bool is_minus = false) const;
    /// Calls visit(row, position) for all rows of a node of the output.
    template <class Visit>
    void for_each_row(std::int64_t node, const Visit& visit) const {
        const Window rows = window(node);
        for (const bool is_minus : {false, true})
            for (std::int64_t position = rows.first; position < rows.end && part(is_minus).table; ++position)
                visit(row(node, position, is_minus), position);
    }
    /// Nodes [first, second) that hold the input of the outputs [begin, end) (indices into outputs()).
    std::pair<std::int64_t, std::int64_t> inputs_of(std::int64_t begin, std::int64_t end) const;

    std::int64_t most_input_modes() const;
    std::int64_t most_output_modes() const;
    /// Rings of grid_out() whose sums need `direct` rows, which the sum over pixels is to make.
    std::vector<std::int64_t> direct_rings() const;
    /// The degree where the kernel's series over longitude may end; -1 where it does not converge
    /// before it helps.
    std::int64_t degree() const { return degree_; }
    /// All rows by cosines.
    const PixelConvolutionWork& work() const { return work_; }
    /// Multiply-adds that transform the rows where long ones go through FFTs.
    double row_products_with_ffts() const { return row_products_with_ffts_; }

  private:
    RingFftGeometry(const Grid& grid, SumKernel kernel, const KernelProfiles& profiles, const Grid& grid_out,
                    double accuracy);
    void make_nodes();
    void find_twins();
    void set_exact_modes(const KernelProfiles& profiles, double accuracy);
    void count_rows();
    void count(RingNode& node, const KernelRow& row);

    Grid grid_, grid_out_;
    SumKernel kernel_;
    std::vector<RingNode> nodes_;
    std::vector<std::int64_t> outputs_;
    std::int64_t degree_ = -1;
    PixelConvolutionWork work_;
    double row_products_with_ffts_ = 0;
};

/// Smallest degree L at which the kernel's series over longitude on the equator, and across half its support
/// beside it, may end: the modes above sum to less than `accuracy` of all. -1 where that is above `highest`.
std::int64_t series_degree(const KernelProfiles& profiles, double accuracy, std::int64_t highest);

}  // namespace zonal::radial
