#pragma once

#include <cstdint>
#include <vector>

#include "core/aligned.hpp"
#include "zonal/spectra/coupling.hpp"

/// Sums over L of the squares of 3j symbols, along diagonals l + l' = s.
///
/// For even l + l' + L = 2 g the symbol f_0 with s = 0 has
///   f_0^2 = c(g-l) c(g-l') c(g-L) / ((2g+1) c(g)),  c(n) = C(2n, n)/4^n,
/// and f_2 = f_0 y / (2 N), y = x (x+2) - 2ab, N^2 = ab (a-2)(b-2), with a = l (l+1), b = l' (l'+1) and
/// x = L (L+1) - a - b. For odd l + l' + L = 2 g + 1,
///   f_2^2 = (x+2)^2 k(g-l) k(g-l') k(g-L) (g+1) / (2 (2g+1) c(g) N^2),  k(n) = (2n+1) c(n).
/// All but c(g-l) c(g-l'), or k, and the polynomials is shared by the pairs of a diagonal.
namespace zonal::coupling {

/// Numbers behind the last that kernels read, as zeros or anything finite.
inline constexpr std::int64_t padding = 8;
/// Masks whose sums are made at once.
inline constexpr int most_masks = 4;

/// c(n) and k(n).
struct CouplingTables {
    explicit CouplingTables(std::int64_t lmax);
    core::AlignedVector<double> c, k;
};

/// What the pairs of one diagonal share, by g.
class Diagonal {
  public:
    Diagonal(const CouplingTables& of, std::int64_t lmax);

    /// diagonal: s. weights: [mask][degrees], (2L+1) W_L / 4pi. masks: up to most_masks.
    void set(std::int64_t diagonal, const double* weights, std::int64_t degrees, int masks);

    const CouplingTables& tables;
    std::int64_t s = 0;
    int n_masks = 0;
    std::int64_t end_even = 0, end_odd = 0;        ///< of g; zeros follow
    core::AlignedVector<double> even[most_masks];  ///< (2L+1)/4pi W_L c(g-L) / ((2g+1) c(g)), L = 2g - s
    core::AlignedVector<double> odd[most_masks];   ///< the same with k and (g+1) / 2, L = 2g + 1 - s
    core::AlignedVector<double> l_even, l_odd;     ///< L (L+1)

  private:
    std::int64_t room_;
};

/// The sums of a pair l <= l' for each mask; what is not asked for is not written.
struct PairSums {
    double spin00[most_masks], spin02[most_masks], plus[most_masks], minus[most_masks];
};

/// with_spin: spin02 and plus, too; l >= 2.
void sum_even(const Diagonal& diagonal, std::int64_t l, bool with_spin, PairSums& sums);
/// minus; l >= 2.
void sum_odd(const Diagonal& diagonal, std::int64_t l, PairSums& sums);

/// What the tables of `tables` and the weights of Diagonal::set give, on the GPU of this number.
void coupling_matrices_on_cuda(const CouplingTables& tables, const core::AlignedVector<double>& weights,
                               std::int64_t degrees, const std::vector<CouplingKind>& kinds,
                               const View<double, 4>& matrices, int device, int threads);

}  // namespace zonal::coupling
