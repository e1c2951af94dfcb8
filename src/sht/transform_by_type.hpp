#pragma once

#include "sht/transform.hpp"

namespace zonal::sht {

/// A transform whose calls for float and double are one template each of the class Derived: synthesize_maps,
/// adjoint_maps and project_maps.
template <class Derived>
class TransformByType : public Transform {
  public:
    void synthesize(View<const std::complex<float>, 3> alm, View<float, 3> map,
                    ShtWorkspace::Storage& workspace, const Progress& progress) const final {
        self().template synthesize_maps<float>(alm, map, workspace, progress);
    }
    void synthesize(View<const std::complex<double>, 3> alm, View<double, 3> map,
                    ShtWorkspace::Storage& workspace, const Progress& progress) const final {
        self().template synthesize_maps<double>(alm, map, workspace, progress);
    }
    void adjoint(View<const float, 3> map, View<std::complex<float>, 3> alm, bool weighted,
                 ShtWorkspace::Storage& workspace, const Progress& progress) const final {
        self().template adjoint_maps<float>(map, alm, weighted, workspace, progress);
    }
    void adjoint(View<const double, 3> map, View<std::complex<double>, 3> alm, bool weighted,
                 ShtWorkspace::Storage& workspace, const Progress& progress) const final {
        self().template adjoint_maps<double>(map, alm, weighted, workspace, progress);
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
    const Derived& self() const { return static_cast<const Derived&>(*this); }
};

/// The same for a transform that copies while it works. Its synthesize_maps and adjoint_maps have one more
/// argument, `there`, which is empty but in calls of synthesize_copied and adjoint_copied.
template <class Derived>
class CopyingTransformByType : public TransformByType<CopyingTransformByType<Derived>> {
  public:
    void synthesize_copied(View<const std::complex<float>, 3> alm, View<float, 3> there, View<float, 3> map,
                           ShtWorkspace::Storage& workspace, const Progress& progress) const final {
        self().template synthesize_maps<float>(alm, there, map, workspace, progress);
    }
    void synthesize_copied(View<const std::complex<double>, 3> alm, View<double, 3> there,
                           View<double, 3> map, ShtWorkspace::Storage& workspace,
                           const Progress& progress) const final {
        self().template synthesize_maps<double>(alm, there, map, workspace, progress);
    }
    void adjoint_copied(View<const float, 3> map, View<float, 3> there, View<std::complex<float>, 3> alm,
                        bool weighted, ShtWorkspace::Storage& workspace,
                        const Progress& progress) const final {
        self().template adjoint_maps<float>(map, there, alm, weighted, workspace, progress);
    }
    void adjoint_copied(View<const double, 3> map, View<double, 3> there, View<std::complex<double>, 3> alm,
                        bool weighted, ShtWorkspace::Storage& workspace,
                        const Progress& progress) const final {
        self().template adjoint_maps<double>(map, there, alm, weighted, workspace, progress);
    }

  private:
    friend class TransformByType<CopyingTransformByType>;

    template <class T>
    void synthesize_maps(View<const std::complex<T>, 3> alm, View<T, 3> map, ShtWorkspace::Storage& workspace,
                         const Progress& progress) const {
        self().template synthesize_maps<T>(alm, {}, map, workspace, progress);
    }
    template <class T>
    void adjoint_maps(View<const T, 3> map, View<std::complex<T>, 3> alm, bool weighted,
                      ShtWorkspace::Storage& workspace, const Progress& progress) const {
        self().template adjoint_maps<T>(map, {}, alm, weighted, workspace, progress);
    }
    template <class T>
    void project_maps(View<const std::complex<T>, 3> alm, View<const T, 3> map,
                      View<std::complex<T>, 3> update, ShtWorkspace::Storage& workspace,
                      const Progress& progress) const {
        self().template project_maps<T>(alm, map, update, workspace, progress);
    }
    const Derived& self() const { return static_cast<const Derived&>(*this); }
};

}  // namespace zonal::sht
