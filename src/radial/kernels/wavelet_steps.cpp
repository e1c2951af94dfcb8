#include "radial/kernels/wavelet_steps.hpp"

#include <fmt/core.h>

#include <utility>

#include "grids/latitude_nodes.hpp"
#include "zonal/error.hpp"

namespace zonal::radial {
namespace {

/// Smooth but not analytic at its ends, the density needs more nodes than its shape suggests; 96 on half of
/// it leave less than rounding.
constexpr std::int64_t norm_nodes = 96;

}  // namespace

SmoothStep::SmoothStep(std::function<double(double)> density) : density_(std::move(density)) {
    for (const auto& node : grids::gauss_legendre_nodes(norm_nodes)) {
        for (const double x : {node.cos_theta, -node.cos_theta}) {
            node_.push_back(x);
            weight_.push_back(node.weight);
        }
    }
    lower_ = integral(0, 0.5);
    upper_ = integral(0.5, 1);
}

double SmoothStep::integral(double first, double last) const {
    const double half = (last - first) / 2, middle = (first + last) / 2;
    double sum = 0;
    for (std::size_t i = 0; i < node_.size(); ++i) sum += weight_[i] * density_(middle + half * node_[i]);
    return half * sum;
}

SmoothStep::Value SmoothStep::operator()(double t) const {
    if (t <= 0) return {1, 0};
    if (t >= 1) return {0, 1};
    const double whole = lower_ + upper_;
    const double below = t < 0.5 ? integral(0, t) : lower_ + integral(0.5, t);
    const double above = t < 0.5 ? integral(t, 0.5) + upper_ : integral(t, 1);
    return {above / whole, below / whole};
}

void check_wavelets(double base, const char* name, std::int64_t lmax, std::int64_t least) {
    constexpr double largest_base = 64;
    constexpr std::int64_t largest_lmax = std::int64_t{1} << 24;
    if (!(base > 1 && base <= largest_base))
        throw InvalidArgument(fmt::format("{} = {}: must be above 1 and at most 64", name, base));
    if (lmax < least || lmax > largest_lmax)
        throw InvalidArgument(fmt::format("lmax = {}: must be from {} to 2^24", lmax, least));
}

}  // namespace zonal::radial
