#pragma once

#include <array>
#include <cstdint>
#include <vector>

/// Even quintic splines in the colatitude: what the pixel part of a split kernel is made of.
namespace zonal::split {

inline constexpr int spline_degree = 5;
/// B-splines that are not zero on one interval between knots.
inline constexpr int splines_at_once = spline_degree + 1;

/// The functions of theta in [0, knots.back()] that are polynomials of degree 5 between the knots, have four
/// continuous derivatives everywhere on the sphere, are even about theta = 0 and vanish, with four
/// derivatives, at the last knot.
///
/// With the knots mirrored, t_-k = -t_k, B-spline j lives on [t_j, t_{j+6}] and mirrors into B-spline -6 - j:
/// basis function c is B_{c-3} plus its mirror image.
class SplineBasis {
  public:
    /// knots: ascending from 0, at least min_knots. Throws InvalidArgument.
    explicit SplineBasis(std::vector<double> knots);

    static constexpr std::int64_t min_knots = 8;

    const std::vector<double>& knots() const { return knots_; }
    std::int64_t n_intervals() const { return static_cast<std::int64_t>(knots_.size()) - 1; }
    /// Number of basis functions.
    std::int64_t size() const { return n_intervals() - 2; }
    double end() const { return knots_.back(); }

    /// The interval [t_i, t_{i+1}) that theta lies in; theta in [0, end()).
    std::int64_t interval_of(double theta) const;
    /// B-splines i - 5 .. i at theta on interval i, those past the end included: see function().
    std::array<double, splines_at_once> values(std::int64_t interval, double theta) const;
    /// sum_c coefficients[c] f_c(theta), 0 from end() on. coefficients: [size()], theta: 0 or more.
    double evaluate(const std::vector<double>& coefficients, double theta) const;
    /// Basis function that value k on an interval belongs to; size() or more: none.
    static std::int64_t function(std::int64_t interval, int k) {
        const std::int64_t c = interval + k - 2;
        return c < 0 ? -c : c;
    }

  private:
    /// Knot k of the mirrored sequence, -n to n; beyond the last they go on at its distance.
    double knot(std::int64_t k) const;

    std::vector<double> knots_;
};

/// n_intervals + 1 knots from 0 to end, theta_k = end sinh(a k / n) / sinh(a): next to 0 they lie 1 / density
/// as far apart as at the end. density: 1 or more.
std::vector<double> graded_knots(double end, std::int64_t n_intervals, double density);

}  // namespace zonal::split
