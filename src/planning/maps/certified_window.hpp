#pragma once

#include <vector>

#include "planning/maps/map_choice.hpp"
#include "zonal/planning/map_smoothing.hpp"

namespace zonal::planning {

/// Smooths all fields together with a window in harmonic space, on any pixels, and certifies their errors.
class CertifiedWindow {
  public:
    /// what, out: must outlive it. Throws ErrorNotKept in the discrete reference.
    CertifiedWindow(const MapPart& what, SkyMap& out);

    /// Plans for `error`. gain: rms of the result over that of the map; 0 where it is not known. Throws
    /// ErrorNotKept where no analysis is certified.
    void plan(double gain, double error, SmoothedPart& part);
    /// Plans without a certificate, to a tolerance of a tenth of the error.
    void plan_without_bound(SmoothedPart& part);
    void smooth(SmoothedPart& part);
    /// Says whether the options leave open how the analysis ends.
    bool is_free() const { return !what_.options.iterations && what_.options.tolerance == 0; }

  private:
    std::vector<std::vector<double>> windows() const;
    PlannedAnalysis planned(double gain, double error) const;

    const MapPart& what_;
    SkyMap& out_;
    Way way_{ConvolutionMethod::harmonic, ConvolutionReference::continuous};
};

}  // namespace zonal::planning
