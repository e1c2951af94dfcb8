#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "zonal/alm.hpp"
#include "zonal/grid.hpp"
#include "zonal/sht.hpp"
#include "zonal/view.hpp"

/// The two halves of a transform on the CPU one by one, for those who work on the Fourier coefficients of
/// rings in between: F_m(theta) = sum_l a_lm lambda_lm(theta), f(theta, phi) = Re sum_m (2 - delta_m0) F_m
/// exp(i m phi), for each of the real fields f (for spin s: Q and U of the convention of ShtPlan).
namespace zonal {

/// Between a_lm and F_m, for all orders or some.
class LegendrePlan {
  public:
    /// rings: of which the colatitudes count alone. options: as for ShtPlan, with mmax = -1 and a device on
    /// which the CPU computes. orders: ascending, from 0 to lmax, which alm and F_m hold one after the other.
    /// Throws as ShtPlan does, and InvalidArgument for orders that do not ascend or leave that range.
    LegendrePlan(const Grid& rings, const ShtOptions& options, const std::vector<std::int64_t>& orders);
    ~LegendrePlan();
    LegendrePlan(LegendrePlan&&) noexcept;
    LegendrePlan& operator=(LegendrePlan&&) noexcept;

    /// Where the coefficients of the orders lie.
    const AlmLayout& layout() const;

    /// alm: [batch, 1 (spin 0, or one part) or 2, layout().size()], of a contiguous last axis.
    /// modes: [batch, 1 (spin 0) or 2, ring, order], overwritten.
    template <class T>
    void synthesize(ConstView<std::complex<T>, 3> alm, View<std::complex<T>, 4> modes) const;

    /// The transpose: a_lm = sum over the rings of lambda_lm(theta) F_m, and so on for spin fields.
    template <class T>
    void adjoint(ConstView<std::complex<T>, 4> modes, View<std::complex<T>, 3> alm) const;

  private:
    struct Implementation;
    std::unique_ptr<const Implementation> implementation_;
};

/// Between F_m of all orders m = 0..mmax and pixels.
class RingPlan {
  public:
    /// Throws InvalidArgument for mmax < 0 and a number of threads out of its range. threads: 0 means
    /// available_cpus().
    RingPlan(const Grid& grid, std::int64_t mmax, int threads = 0);
    ~RingPlan();
    RingPlan(RingPlan&&) noexcept;
    RingPlan& operator=(RingPlan&&) noexcept;

    /// modes: [field, ring, mmax + 1]; the imaginary part of m = 0 counts for nothing. map: [field,
    /// grid.n_pixels()], of a contiguous last axis; pixels in no ring are left as they are. A ring may have
    /// fewer pixels than modes.
    template <class T>
    void synthesize(ConstView<std::complex<T>, 3> modes, View<T, 2> map) const;

    /// modes: F_m = sum_j f_j exp(-i m phi_j), overwritten.
    template <class T>
    void adjoint(ConstView<T, 2> map, View<std::complex<T>, 3> modes) const;

  private:
    struct Implementation;
    std::unique_ptr<const Implementation> implementation_;
};

}  // namespace zonal
