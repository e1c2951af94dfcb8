#pragma once

#include <complex>
#include <vector>

#include "zonal/analysis.hpp"

namespace zonal::sht {

/// What the iterative analyses are built from: the transforms of a plan, with the weights of AnalysisOptions
/// in the quadrature, and the inner products of coefficients and maps. Maps: [batch, component, pixel], alm:
/// [batch, component, coefficient]. Sums do not depend on the number of threads.
template <class T>
class AnalysisOperator {
  public:
    using Map = View<T, 3>;
    using ConstMap = View<const T, 3>;
    using Alm = View<std::complex<T>, 3>;
    using ConstAlm = View<const std::complex<T>, 3>;

    /// Throws InvalidArgument for weights of wrong length or sign. Keeps references.
    AnalysisOperator(const ShtPlan& plan, const AnalysisOptions& options, ShtWorkspace& workspace);

    /// Whether the options add weights to those of the grid.
    bool has_weights() const { return has_weights_; }

    void synthesize(ConstAlm alm, Map map, const Progress& progress) {
        plan_.synthesize<T>(alm, map, workspace_, progress);
    }
    /// alm = S^T W map. scratch: like map, overwritten if has_weights(); may be map itself.
    void quadrature(ConstMap map, Map scratch, Alm alm, const Progress& progress);

    /// update = S^T W (map - S alm). scratch: like map, overwritten if has_weights().
    void project_residual(ConstAlm alm, ConstMap map, Map scratch, Alm update, const Progress& progress);

    /// out = map - out
    void subtract_from(ConstMap map, Map out) const;
    /// y_b += factors_b x_b for each element b of the batch, on pixels of the grid.
    void add_scaled(const std::vector<double>& factors, ConstMap x, Map y) const;
    /// y_b = x_b + factors_b y_b
    void scale_and_add(ConstAlm x, const std::vector<double>& factors, Alm y) const;
    void add_scaled(const std::vector<double>& factors, ConstAlm x, Alm y) const;

    /// sum_p w_p f_p^2 of each element of the batch, W the weights of the quadrature.
    std::vector<double> weighted_squares(ConstMap map) const;
    /// <a, a> = sum_{m>=0} (2 - delta_m0) |a_lm|^2 of each element of the batch.
    std::vector<double> squares(ConstAlm alm) const;

  private:
    double relative_weight(std::int64_t ring, std::int64_t pixel) const;
    /// visit(ring index, pixels' begin and end) for all rings, on the plan's threads.
    template <class Visit>
    void for_each_ring(const Visit& visit) const;
    template <class Visit>
    void for_each_order(const Visit& visit) const;

    /// visit(x, y) for the real and imaginary parts of one order of one field.
    template <class Visit>
    void for_each_part(ConstAlm x, Alm y, std::int64_t b, std::int64_t c, std::int64_t m,
                       const Visit& visit) const;

    const ShtPlan& plan_;
    const std::vector<double>& ring_weights_;
    View<const double, 1> pixel_weights_;
    bool has_weights_;
    ShtWorkspace& workspace_;
};

}  // namespace zonal::sht
