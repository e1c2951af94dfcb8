#pragma once

#include <cstdint>
#include <vector>

#include "zonal/grid.hpp"

namespace zonal::planning {

/// Bounds the difference between a disc's area and the sum of the weights of the pixels in it, for discs
/// around any pixel's centre. With N(t) the sum of the weights up to the angle t and g >= 0,
///   sum_p' w(p') g(theta(p, p')) = int g(t) dN(t) <= int g dOmega + int over |dg-| + int under |dg+|,
/// where g falls (dg-) and rises (dg+), as in Koksma's inequality. Every row sum is therefore bounded by
/// integrals over one angle.
class DiscDiscrepancy {
  public:
    explicit DiscDiscrepancy(const Grid& grid);

    /// These bound N(theta) - area and area - N(theta), sr, from above; theta: rad.
    double over(double theta) const;
    double under(double theta) const;
    /// The same of every angle between two.
    double over(double first, double last) const;
    double under(double first, double last) const;
    /// The side of a pixel of mean area, rad.
    double pixel() const { return pixel_; }

  private:
    double on_healpix(double theta) const;
    void tabulate(const Grid& grid);

    double pixel_;
    bool is_healpix_;
    std::vector<double> angle_, bound_;  ///< for other grids, ascending; bound: up to each angle
};

}  // namespace zonal::planning
