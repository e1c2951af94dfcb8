#pragma once

#include <memory>

#include "planning/maps/map_choice.hpp"
#include "zonal/planning/map_smoothing.hpp"

namespace zonal::planning {

/// Smooths fields of one spin with convolution plans, by any method, and certifies their errors.
class CertifiedConvolution {
  public:
    /// what, out: must outlive it. Throws InvalidArgument for what the method cannot do.
    CertifiedConvolution(const MapPart& what, SkyMap& out);
    ~CertifiedConvolution();

    /// Plans for `error`. gain: rms of the result over that of the map; 0 where it is not known. Throws
    /// ErrorNotKept where no way is certified.
    void plan(double gain, double error, SmoothedPart& part);
    /// Plans harmonic space without a certificate, to a tolerance of a tenth of the error. Throws
    /// ErrorNotKept where only sums are asked for.
    void plan_without_bound(SmoothedPart& part);
    void smooth(SmoothedPart& part);

  private:
    class Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace zonal::planning
