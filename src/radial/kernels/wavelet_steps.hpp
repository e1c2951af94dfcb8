#pragma once

#include <cstdint>
#include <functional>
#include <vector>

/// What the two constructions of band-limited wavelets share.
namespace zonal::radial {

/// A smooth step: 1 at t <= 0, 0 at t >= 1, between them int_t^1 density / int_0^1 density. The density is
/// positive in (0, 1) and vanishes at both ends with all its derivatives.
class SmoothStep {
  public:
    explicit SmoothStep(std::function<double(double)> density);
    /// The step and 1 minus it, each to full relative accuracy where it is the smaller one.
    struct Value {
        double step, rest;
    };
    Value operator()(double t) const;

  private:
    double integral(double first, double last) const;

    std::function<double(double)> density_;
    std::vector<double> node_, weight_;  // of a Gauss rule on [-1, 1]
    double lower_ = 0, upper_ = 0;       // integrals over either half
};

/// Throws InvalidArgument, with the name, unless 1 < base <= 64 and least <= lmax <= 2^24.
void check_wavelets(double base, const char* name, std::int64_t lmax, std::int64_t least);

}  // namespace zonal::radial
