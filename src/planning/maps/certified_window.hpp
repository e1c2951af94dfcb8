#pragma once

#include <vector>

#include "planning/maps/map_choice.hpp"
#include "zonal/planning/map_smoothing.hpp"

namespace zonal::planning {

/// Smooths with a window in harmonic space, on any pixels, all fields together, with the certificates of
/// their errors.
class CertifiedWindow {
  public:
    /// what, out: must outlive it. Throws ErrorNotKept in the discrete reference.
    CertifiedWindow(const MapPart& what, SkyMap& out);

    /// gain: of the result, 0 where it is not known. Throws ErrorNotKept where nothing is certified to
    /// `error`.
    void plan(double gain, double error, SmoothedPart& part);
    /// To a tolerance of a tenth of the error.
    void plan_without_bound(SmoothedPart& part);
    void smooth(SmoothedPart& part);
    /// Whether the options leave open how the analysis ends.
    bool is_free() const { return !what_.options.iterations && what_.options.tolerance == 0; }

  private:
    std::vector<std::vector<double>> windows() const;
    PlannedAnalysis planned(double gain, double error) const;

    const MapPart& what_;
    SkyMap& out_;
    Way way_{ConvolutionMethod::harmonic, ConvolutionReference::continuous};
};

}  // namespace zonal::planning
