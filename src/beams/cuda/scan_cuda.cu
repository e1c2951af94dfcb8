#include "beams/cuda/scan_cuda.hpp"

#include <limits>
#include <vector>

#include "points/cuda/each_point.cuh"

namespace zonal::beams::cuda {
namespace {

using points::cuda::for_each;

/// Multiplies z by w.
__device__ void multiply(double2& z, const double2& w) {
    z = {z.x * w.x - z.y * w.y, z.x * w.y + z.y * w.x};
}

/// What multiplies the values of a term's fields: that of P_0, or those of Q_k and U_k.
struct Factors {
    double q, u;
};

/// The factors of terms at one pointing, which are asked for one after the other.
class Turns {
  public:
    __device__ Turns(const SetTerms& terms, std::int64_t pointing) : terms_(terms), pointing_(pointing) {}

    /// mod(alpha), or mod(alpha) 2 cos k psi and mod(alpha) 2 sin k psi.
    __device__ Factors of(const SetTerm& term) {
        const double mod = modulation(term);
        if (term.k == 0) return {mod, 0};
        turn(term);
        return {2 * mod * power_.x, 2 * mod * power_.y};
    }

  private:
    __device__ double modulation(const SetTerm& term) {
        if (term.modulation == Modulation::none) return 1;
        if (term.hwp != hwp_) {
            hwp_ = term.hwp;
            sincos(4 * terms_.hwp[hwp_ * terms_.n_pointings + pointing_], &sin_4_alpha_, &cos_4_alpha_);
        }
        return term.modulation == Modulation::cosine ? cos_4_alpha_ : sin_4_alpha_;
    }

    /// power_ = exp(i k psi) as a power of exp(i psi), made in the same way whatever terms came before. The
    /// product k psi would round by half a unit of its own last place, which counts after many turns.
    __device__ void turn(const SetTerm& term) {
        if (term.psi == psi_ && term.k == k_) return;
        if (term.psi != psi_)
            sincos(terms_.psi[term.psi * terms_.n_pointings + pointing_], &once_.y, &once_.x);
        psi_ = term.psi;
        k_ = term.k;
        power_ = {1, 0};
        double2 square = once_;
        for (std::int64_t left = k_; left > 0; left /= 2) {
            if (left % 2 == 1) multiply(power_, square);
            if (left > 1) multiply(square, square);
        }
    }

    const SetTerms& terms_;
    const std::int64_t pointing_;
    int psi_ = -1, hwp_ = -1;  ///< rows that the following are of
    std::int64_t k_ = 0;
    double2 once_{}, power_{};  ///< exp(i psi), exp(i k psi)
    double cos_4_alpha_ = 0, sin_4_alpha_ = 0;
};

/// Work of each pointing.
struct AddTerms {
    SetTerms all;
    const double* values;
    double* signals;

    __device__ double value(const SetTerm& term, const Factors& factors, std::int64_t i) const {
        const double* const q = values + term.field * all.n_pointings + i;
        return term.k == 0 ? factors.q * q[0] : factors.q * q[0] + factors.u * q[all.n_pointings];
    }
    __device__ void operator()(std::int64_t i) const {
        Turns turns(all, i);
        for (int t = 0; t < all.n_terms;) {
            const int detector = all.terms[t].detector;
            double& signal = signals[detector * all.n_pointings + i];
            double sum = signal;  // so that no bit depends on which terms make a block
            for (; t < all.n_terms && all.terms[t].detector == detector; ++t)
                sum += value(all.terms[t], turns.of(all.terms[t]), i);
            signal = sum;
        }
    }
};
struct SetValues {
    SetTerms all;
    const double* signals;
    double* values;

    __device__ void operator()(std::int64_t i) const {
        Turns turns(all, i);
        for (int t = 0; t < all.n_terms; ++t) {
            const SetTerm& term = all.terms[t];
            const Factors factors = turns.of(term);
            const double signal = signals[term.detector * all.n_pointings + i];
            double* const q = values + term.field * all.n_pointings + i;
            q[0] = factors.q * signal;
            if (term.k > 0) q[all.n_pointings] = factors.u * signal;
        }
    }
};
struct FindNotFinite {
    const double* angles;
    std::int64_t step;
    unsigned long long* first;
    __device__ void operator()(std::int64_t i) const {
        if (!isfinite(angles[i * step])) atomicMin(first, static_cast<unsigned long long>(i));
    }
};

}  // namespace

void add_terms(Device device, const SetTerms& terms, const double* values, double* signals) {
    const core::CurrentDevice current(device.index());
    for_each("adding up fields", terms.n_pointings, AddTerms{terms, values, signals});
}

void set_values(Device device, const SetTerms& terms, const double* signals, double* values) {
    const core::CurrentDevice current(device.index());
    for_each("turning signals to fields", terms.n_pointings, SetValues{terms, signals, values});
}

std::optional<NumberedAngle> first_not_finite(const char* name, Device device, View<const double, 1> angles) {
    const core::CurrentDevice current(device.index());
    core::require_place(name, angles, device.index());
    constexpr auto none = std::numeric_limits<unsigned long long>::max();
    const core::DeviceArray<unsigned long long> found(std::vector<unsigned long long>{none});
    for_each("checking angles", angles.extent(0),
             FindNotFinite{angles.data(), angles.stride(0), found.data()});
    const unsigned long long first = core::value_at(found.data());
    if (first == none) return std::nullopt;
    const auto number = static_cast<std::int64_t>(first);
    return NumberedAngle{number, core::value_at(angles.data() + number * angles.stride(0))};
}

}  // namespace zonal::beams::cuda
