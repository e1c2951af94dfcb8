#pragma once

#include <vector>

#include "plot/plot.hpp"
#include "plot/ticks.hpp"

namespace zonal::plot {

/// NaN, Inf and UNSEEN (-1.6375e30, also where float has rounded it).
bool is_missing(double value);

/// Of pixels without a value.
inline constexpr Rgb missing_color{160, 160, 160};

/// Values to positions 0..1 along the colour bar.
class ColorScale {
  public:
    /// linear_threshold: for symlog, 0 for a thousandth of the range's larger end. values: for equalised, in
    /// any order. Throws InvalidArgument where the range and the scale do not fit together.
    ColorScale(Scale scale, Range range, double linear_threshold = 0, std::vector<double> values = {});

    /// In [0, 1]; values beyond the range get its end, and so do values that a log scale cannot show.
    double position(double value) const;
    bool is_below(double value) const { return value < range_.minimum; }
    bool is_above(double value) const { return value > range_.maximum; }
    Range range() const { return range_; }
    Ticks ticks(int max_count) const;

  private:
    double transform(double value) const;
    double equalised_position(double value) const;

    Scale scale_;
    Range range_;
    double linear_threshold_;
    double start_ = 0, per_unit_ = 0;  // position = (transform(value) - start) * per_unit
    std::vector<double> quantiles_;    // of equalised: at positions k / (n - 1)
};

}  // namespace zonal::plot
