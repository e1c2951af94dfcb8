#pragma once

#include <cstdint>
#include <vector>

#include "zonal/view.hpp"

namespace zonal {

/// Degrees that are averaged into one number.
struct Band {
    std::int64_t first = 0;         ///< the lowest of them
    std::vector<double> weights{};  ///< [degree - first], at least one
    std::int64_t last() const { return first + static_cast<std::int64_t>(weights.size()) - 1; }
};

/// Which spectrum is taken to be constant in a band: C_l, or D_l = l (l+1) C_l / 2pi.
enum class BandsOf { c_l, d_l };

/// The bands that a spectrum is averaged in, P_b = sum_l w_bl F_l C_l with sum_l w_bl = 1, where F_l is 1 or
/// l (l+1) / 2pi. Degrees in no band are left out.
class Bins {
  public:
    /// bands: ascending, of weights in any scale. Throws InvalidArgument, which names the band, for no bands,
    /// for those that are empty or overlap, for negative weights, for those that are all 0 or not finite, and
    /// for degree 0 among bands of D_l, where it is nothing.
    explicit Bins(std::vector<Band> bands, BandsOf of = BandsOf::c_l);

    /// Bands of `width` degrees, as many as fit between lmin and lmax.
    static Bins linear(std::int64_t width, std::int64_t lmin, std::int64_t lmax, BandsOf of = BandsOf::c_l);
    /// Band i has the degrees from edges[i] to edges[i + 1] - 1.
    static Bins edges(const std::vector<std::int64_t>& edges, BandsOf of = BandsOf::c_l);
    /// n bands between lmin and lmax whose widths grow as their degrees do, but are one degree at least.
    /// lmin: 1 or more.
    static Bins logarithmic(std::int64_t n, std::int64_t lmin, std::int64_t lmax, BandsOf of = BandsOf::c_l);
    /// The same bands with weights of the degrees, [lmax + 1] or longer, in place of equal ones.
    Bins weighted(const std::vector<double>& weights) const;

    std::int64_t size() const { return static_cast<std::int64_t>(bands_.size()); }
    /// With weights that add up to 1.
    const std::vector<Band>& bands() const { return bands_; }
    BandsOf of() const { return of_; }
    std::int64_t lmin() const { return bands_.front().first; }
    std::int64_t lmax() const { return bands_.back().last(); }
    /// F_l.
    double factor(std::int64_t l) const;
    /// The mean degree of each band by its weights.
    std::vector<double> effective_degrees() const;
    /// P_b of a spectrum, [lmax + 1] or longer. Throws InvalidArgument for a shorter one.
    std::vector<double> binned(View<const double, 1> c_l) const;

  private:
    std::vector<Band> bands_;
    BandsOf of_;
};

}  // namespace zonal
