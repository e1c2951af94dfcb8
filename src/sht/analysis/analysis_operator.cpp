#include "sht/analysis/analysis_operator.hpp"

#include <fmt/core.h>

#include "sht/array_checks.hpp"
#include "sht/progress_part.hpp"
#include "sht/rings/meridian_integral.hpp"
#include "sht/transform.hpp"
#include "zonal/error.hpp"

namespace zonal::sht {
namespace {

ShtWorkspace& checked_workspace(const ShtPlan& plan, ShtWorkspace& workspace) {
    const bool on_gpu = plan.options().device.kind() == Device::Kind::cuda;
    if (on_gpu != (workspace.storage().space() == MemorySpace::cuda))
        throw InvalidArgument("workspace", "was made by a plan on another kind of device");
    return workspace;
}

PixelWeights checked_weights(const Grid& grid, const AnalysisOptions& options, MemorySpace space) {
    check_weights(grid, options.ring_weights, options.pixel_weights);
    if (options.pixel_weights.size() > 0) {
        check_space("pixel_weights", options.pixel_weights, space);
        if (space != MemorySpace::host) check_contiguous("pixel_weights", options.pixel_weights);
    }
    return {&options.ring_weights, options.pixel_weights};
}

}  // namespace

template <class T>
AnalysisOperator<T>::AnalysisOperator(const ShtPlan& plan, const AnalysisOptions& options,
                                      ShtWorkspace& workspace)
    : plan_(plan),
      workspace_(checked_workspace(plan, workspace)),
      weights_(checked_weights(plan.grid(), options, workspace.storage().space())),
      integrates_meridians_(!weights_.any() && sht::integrates_meridians(plan)),
      maps_(make_map_arithmetic<T>(plan.grid(), weights_, plan.options().threads, workspace.storage(),
                                   &plan.transform())),
      alms_(make_alm_arithmetic<T>(plan.layout(), plan.options().threads, workspace.storage(),
                                   &plan.transform())) {}

const Grid& whole_grid(const ShtPlan& plan) {
    const Grid* const whole = plan.transform().whole_grid();
    return whole != nullptr ? *whole : plan.grid();
}

bool integrates_meridians(const ShtPlan& plan) {
    return needs_meridian_integral(whole_grid(plan), plan.options().lmax, plan.options().mmax);
}

template <class T>
void AnalysisOperator<T>::quadrature(ConstMap map, Map scratch, Alm alm, const Progress& progress) {
    if (integrates_meridians_)
        return plan_.transform().adjoint(map, {}, alm, Quadrature::meridian, storage(), progress);
    if (!has_weights()) return plan_.quadrature<T>(map, alm, workspace_, progress);
    maps_->weigh(map, scratch);
    plan_.quadrature<T>(scratch, alm, workspace_, progress);
}

template <class T>
void AnalysisOperator<T>::project_residual(ConstAlm alm, ConstMap map, Map scratch, Alm update,
                                           const Progress& progress) {
    if (!has_weights()) return plan_.project_residual<T>(alm, map, update, workspace_, progress);
    synthesize(alm, scratch, part_of(progress, 0, 0.5));
    maps_->subtract_from(map, scratch);
    quadrature(scratch, scratch, update, part_of(progress, 0.5, 1));
}

template class AnalysisOperator<float>;
template class AnalysisOperator<double>;

}  // namespace zonal::sht
