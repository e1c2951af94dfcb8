#pragma once

#include "backend/cuda_helpers.cuh"
#include "zonal/analysis.hpp"

namespace zonal::test {

/// All that a plan makes of a map and alm.
template <class T>
struct Results {
    Array<T, 3> synthesized, transposed;
    Array<std::complex<T>, 3> adjoint, quadrature, projected, iterated, solved;
    int iterations = 0;

    Results(const ShtPlan& plan, View<const std::complex<T>, 3> alm, View<const T, 3> map,
            View<const double, 1> weights, bool on_device = false)
        : synthesized(map.extents()),
          transposed(map.extents()),
          adjoint(alm.extents()),
          quadrature(alm.extents()),
          projected(alm.extents()),
          iterated(alm.extents()),
          solved(alm.extents()) {
        const AnalysisOptions solving{.tolerance = 1e-3, .max_iterations = 5, .pixel_weights = weights};
        if (on_device) {
            const OnDevice<T> maps(copy_of(map));
            const OnDevice<std::complex<T>> alms(copy_of(alm));
            OnDevice<T> pixels(synthesized), of_transpose(transposed);
            OnDevice<std::complex<T>> found[] = {OnDevice(adjoint), OnDevice(quadrature), OnDevice(projected),
                                                 OnDevice(iterated), OnDevice(solved)};
            fill(plan, alms.view(), maps.view(), solving, pixels.view(), of_transpose.view(), found[0].view(),
                 found[1].view(), found[2].view(), found[3].view(), found[4].view());
            synthesized = pixels.host();
            transposed = of_transpose.host();
            Array<std::complex<T>, 3>* const targets[] = {&adjoint, &quadrature, &projected, &iterated,
                                                          &solved};
            for (int i = 0; i < 5; ++i) *targets[i] = found[i].host();
        } else {
            fill(plan, alm, map, solving, synthesized.view(), transposed.view(), adjoint.view(),
                 quadrature.view(), projected.view(), iterated.view(), solved.view());
        }
    }

  private:
    using Alm = View<std::complex<T>, 3>;
    template <class Value>
    static Array<std::remove_const_t<Value>, 3> copy_of(View<Value, 3> view) {
        Array<std::remove_const_t<Value>, 3> copy(view.extents());
        for (std::int64_t i = 0; i < copy.extent(0); ++i)
            for (std::int64_t j = 0; j < copy.extent(1); ++j)
                for (std::int64_t k = 0; k < copy.extent(2); ++k) copy(i, j, k) = view(i, j, k);
        return copy;
    }
    void fill(const ShtPlan& plan, View<const std::complex<T>, 3> alm, View<const T, 3> map,
              const AnalysisOptions& solving, View<T, 3> to_map, View<T, 3> to_transposed, Alm to_adjoint,
              Alm to_quadrature, Alm to_projected, Alm to_iterated, Alm to_solved) {
        ShtWorkspace workspace = plan.make_workspace();
        plan.synthesize<T>(alm, to_map, workspace);
        adjoint_analysis<T>(plan, alm, to_transposed, workspace);
        plan.adjoint_synthesis<T>(map, to_adjoint, workspace);
        plan.quadrature<T>(map, to_quadrature, workspace);
        plan.project_residual<T>(alm, map, to_projected, workspace);
        analyze<T>(plan, map, to_iterated, {.iterations = 2});
        iterations = analyze<T>(plan, map, to_solved, solving).iterations;
    }
};

}  // namespace zonal::test
