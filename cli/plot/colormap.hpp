#pragma once

#include <array>
#include <string>

#include "plot/plot.hpp"

namespace zonal::plot {

/// 256 colours from the low end to the high end.
class Colormap {
  public:
    /// A name of colormap_names(), with "_r" appended reversed. Throws InvalidArgument.
    explicit Colormap(const std::string& name);

    /// The colour at `position` in [0, 1].
    Rgb at(double position) const;
    const std::array<Rgb, 256>& colors() const { return colors_; }

  private:
    std::array<Rgb, 256> colors_;
};

}  // namespace zonal::plot
