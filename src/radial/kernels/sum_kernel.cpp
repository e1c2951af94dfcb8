#include "radial/kernels/sum_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace zonal::radial {
namespace {

SumKernel::Part part_of(const RadialKernel* kernel, double accuracy) {
    if (kernel == nullptr) return {};
    auto table = std::make_shared<const ChordTable>(*kernel, accuracy);
    const double limit = inside_limit(table->end());
    return {std::move(table), limit};
}

/// The largest values seen of a profile and of it times sin^4 (cos^4) of theta/2.
struct Peaks {
    double profile = 0, weight = 0;
};

Peaks peaks_of(const RadialKernel* kernel, bool is_minus) {
    constexpr int n_samples = 2048;
    if (kernel == nullptr) return {};
    std::vector<double> theta(n_samples);
    for (int k = 0; k < n_samples; ++k) theta[k] = kernel->support() * k / (n_samples - 1);
    const std::vector<double> profile = kernel->profile(theta);
    Peaks peaks;
    for (int k = 0; k < n_samples; ++k) {
        const double root = is_minus ? std::sin(theta[k] / 2) : std::cos(theta[k] / 2);
        peaks.profile = std::max(peaks.profile, std::abs(profile[k]));
        peaks.weight = std::max(peaks.weight, std::abs(profile[k]) * std::pow(root, 4));
    }
    return peaks;
}

}  // namespace

SumKernel::SumKernel(const RadialKernel& kernel, double accuracy) : plus_(part_of(&kernel, accuracy)) {
    limit_ = plus_.limit;
    peak_ = plus_.table->peak();
}

// A table errs relative to its profile's peak, which may be far above the weights': minus at theta = 0.
SumKernel::SumKernel(const RadialKernel* plus, const RadialKernel* minus, double accuracy)
    : part_(KernelPart::qq) {
    const Peaks of_plus = peaks_of(plus, false), of_minus = peaks_of(minus, true);
    peak_ = std::max(of_plus.weight, of_minus.weight);
    const auto table_of = [&](const RadialKernel* kernel, const Peaks& peaks, double factor) {
        if (kernel == nullptr) return Part{};
        return part_of(kernel, std::clamp(accuracy * peak_ / (peaks.profile * factor), 1e-15, accuracy));
    };
    plus_ = table_of(plus, of_plus, 1);
    minus_ = table_of(minus, of_minus, minus ? std::pow(std::sin(minus->support() / 2), 4) : 1);
    limit_ = std::max(plus_.limit, minus_.limit);
}

double SumKernel::theta_end() const {
    return std::max(plus_.table ? plus_.table->theta_end() : 0, minus_.table ? minus_.table->theta_end() : 0);
}

// The Cayley-Klein parameters of the rotation between the two pixels' axes, with d phi = phi' - phi,
//   p = cos((theta'-theta)/2) cos(d phi/2) + i cos((theta'+theta)/2) sin(d phi/2),   |p| = cos(distance / 2),
//   q = sin((theta'-theta)/2) cos(d phi/2) + i sin((theta'+theta)/2) sin(d phi/2),   |q| = sin(distance / 2),
// have the phases (psi - psi')/2 and (psi + psi')/2, so that K+ e^{2i(psi-psi')} = plus p^4 and
// K- e^{2i(psi+psi')} = minus q^4, with no angle and no cancellation anywhere.
double SumKernel::operator()(const PairGeometry& pair, double d_phi) const {
    const double sine = std::sin(0.5 * d_phi), cosine = std::cos(0.5 * d_phi);
    const double chord_squared = pair.chord.offset + pair.chord.factor * sine * sine;
    if (part_ == KernelPart::radial) return plus_.value(std::min(chord_squared, limit_));
    const PolarizedWeights<double> weights = polarized_weights(
        plus_.value(chord_squared), minus_.value(chord_squared), pair.plus_turn().fourth_power(cosine, sine),
        pair.minus_turn().fourth_power(cosine, sine));
    switch (part_) {
        case KernelPart::qq:
            return weights.qq;
        case KernelPart::qu:
            return weights.qu;
        case KernelPart::uq:
            return weights.uq;
        default:
            return weights.uu;
    }
}

}  // namespace zonal::radial
