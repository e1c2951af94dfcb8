#pragma once

#include "sht/analysis/field_memory.hpp"
#include "sht/transform.hpp"

namespace zonal::sht {

/// A transform whose calls for float and double are one template each of the class Derived: synthesize_maps,
/// adjoint_maps, project_maps and synthesize_integrated_maps. copies_beside_work: whether the first two have
/// the argument `there`, too, since they copy while they work on other pixels; for others it is done here,
/// before or after the work.
template <class Derived, bool copies_beside_work = false>
class TransformByType : public Transform {
  public:
    void synthesize(View<const std::complex<float>, 3> alm, View<float, 3> there, View<float, 3> map,
                    ShtWorkspace::Storage& workspace, const Progress& progress) const final {
        synthesize_any<float>(alm, there, map, workspace, progress);
    }
    void synthesize(View<const std::complex<double>, 3> alm, View<double, 3> there, View<double, 3> map,
                    ShtWorkspace::Storage& workspace, const Progress& progress) const final {
        synthesize_any<double>(alm, there, map, workspace, progress);
    }
    void adjoint(View<const float, 3> map, View<float, 3> there, View<std::complex<float>, 3> alm,
                 Quadrature quadrature, ShtWorkspace::Storage& workspace,
                 const Progress& progress) const final {
        adjoint_any<float>(map, there, alm, quadrature, workspace, progress);
    }
    void adjoint(View<const double, 3> map, View<double, 3> there, View<std::complex<double>, 3> alm,
                 Quadrature quadrature, ShtWorkspace::Storage& workspace,
                 const Progress& progress) const final {
        adjoint_any<double>(map, there, alm, quadrature, workspace, progress);
    }
    void synthesize_integrated(View<const std::complex<float>, 3> alm, View<float, 3> map,
                               ShtWorkspace::Storage& workspace, const Progress& progress) const final {
        self().template synthesize_integrated_maps<float>(alm, map, workspace, progress);
    }
    void synthesize_integrated(View<const std::complex<double>, 3> alm, View<double, 3> map,
                               ShtWorkspace::Storage& workspace, const Progress& progress) const final {
        self().template synthesize_integrated_maps<double>(alm, map, workspace, progress);
    }
    void project_residual(View<const std::complex<float>, 3> alm, View<const float, 3> map,
                          View<std::complex<float>, 3> update, ShtWorkspace::Storage& workspace,
                          const Progress& progress) const final {
        self().template project_maps<float>(alm, map, update, workspace, progress);
    }
    void project_residual(View<const std::complex<double>, 3> alm, View<const double, 3> map,
                          View<std::complex<double>, 3> update, ShtWorkspace::Storage& workspace,
                          const Progress& progress) const final {
        self().template project_maps<double>(alm, map, update, workspace, progress);
    }

  private:
    template <class T>
    void synthesize_any(View<const std::complex<T>, 3> alm, View<T, 3> there, View<T, 3> map,
                        ShtWorkspace::Storage& workspace, const Progress& progress) const {
        if constexpr (copies_beside_work) {
            self().template synthesize_maps<T>(alm, there, map, workspace, progress);
        } else if (there.size() == 0) {
            self().template synthesize_maps<T>(alm, map, workspace, progress);
        } else {
            copy_fields<T>(workspace, map, there);  // for pixels in no ring
            self().template synthesize_maps<T>(alm, there, workspace, progress);
            copy_fields<T>(workspace, there, map);
        }
    }
    template <class T>
    void adjoint_any(View<const T, 3> map, View<T, 3> there, View<std::complex<T>, 3> alm,
                     Quadrature quadrature, ShtWorkspace::Storage& workspace,
                     const Progress& progress) const {
        if constexpr (copies_beside_work) {
            self().template adjoint_maps<T>(map, there, alm, quadrature, workspace, progress);
        } else if (there.size() == 0) {
            self().template adjoint_maps<T>(map, alm, quadrature, workspace, progress);
        } else {
            copy_fields<T>(workspace, map, there);
            self().template adjoint_maps<T>(there, alm, quadrature, workspace, progress);
        }
    }
    const Derived& self() const { return static_cast<const Derived&>(*this); }
};

}  // namespace zonal::sht
