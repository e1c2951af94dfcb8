#pragma once

#include <complex>
#include <cstdint>

#include "zonal/alm.hpp"
#include "zonal/beams/convolver.hpp"
#include "zonal/view.hpp"

namespace zonal {

/// Part of the rows and columns of a BeamCube: [row, row_end) and [column, column_end).
struct CubePatch {
    std::int64_t row = 0, row_end = 0, column = 0, column_end = 0;
    bool operator==(const CubePatch&) const = default;
};

/// The samples of a detector's fields P_k as arrays of the caller, who may fill them order by order, cut
/// patches out of them and add what several calls spread. A BeamConvolver does all that by itself, within the
/// same error, in less memory and time.
///
/// A cube is [n_planes(), n_rows(), n_columns()]: P_0, and Q_k and U_k of each k from 1 to kmax. Rows beyond
/// the poles and columns beyond a turn are copies, which a patch needs. Beams are [component, coefficient] of
/// a layout with the lmax of the cube, skies [component, n(lmax)], and all components count alike. T is float
/// or double; the arithmetic is double. Immutable, cheap to copy; any number of threads may use one at the
/// same time. Results do not depend on the number of threads.
class BeamCube {
  public:
    /// options: kmax must be given, and there is no half-wave plate. A cube is made on the CPU, by default
    /// and where the device is automatic. Throws InvalidArgument, and BackendUnavailable.
    BeamCube(std::int64_t lmax, const BeamOptions& options);

    std::int64_t lmax() const { return all_orders_.sky_layout().lmax(); }
    std::int64_t kmax() const { return all_orders_.options().kmax; }
    double bound() const { return all_orders_.bound(); }  ///< BeamConvolver::bound()
    std::int64_t n_planes() const { return 2 * kmax() + 1; }
    std::int64_t n_rows() const;
    std::int64_t n_columns() const;
    /// What pointings with theta_1 <= theta <= theta_2 and phi_1 <= phi <= phi_2 need. Throws InvalidArgument
    /// unless 0 <= theta_1 <= theta_2 <= pi and 0 <= phi_1 <= phi_2 <= 2 pi.
    CubePatch patch(double theta_1, double theta_2, double phi_1, double phi_2) const;

    /// planes: [1 for k = 0, else 2, n_rows(), n_columns()] = P_k, or Q_k and U_k.
    template <class T>
    void make_planes(ConstView<std::complex<T>, 2> sky, const AlmLayout& layout,
                     ConstView<std::complex<T>, 2> beam, std::int64_t k, View<T, 3> planes) const;
    /// sky += the transpose of make_planes.
    template <class T>
    void add_sky(ConstView<T, 3> planes, const AlmLayout& layout, ConstView<std::complex<T>, 2> beam,
                 std::int64_t k, View<std::complex<T>, 2> sky) const;

    /// signal: [pointing] = what is measured there. cube: [n_planes(), rows, columns], the part of a whole
    /// cube that begins at this row and column. Throws InvalidArgument for pointings that need more than it.
    template <class T>
    void scan(ConstView<T, 3> cube, std::int64_t row, std::int64_t column, View<const double, 1> theta,
              View<const double, 1> phi, View<const double, 1> psi, View<T, 1> signal) const;
    /// cube += the transpose of scan.
    template <class T>
    void spread(ConstView<T, 1> signal, std::int64_t row, std::int64_t column, View<const double, 1> theta,
                View<const double, 1> phi, View<const double, 1> psi, View<T, 3> cube) const;

  private:
    BeamConvolver all_orders_;  ///< of one beam that has them all
};

}  // namespace zonal
