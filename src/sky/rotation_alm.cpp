#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <numbers>
#include <vector>

#include "core/parallel.hpp"
#include "sht/array_checks.hpp"
#include "sky/rotation_wigner.hpp"
#include "zonal/error.hpp"
#include "zonal/sky/rotation.hpp"

namespace zonal {
namespace {

using Complex = std::complex<double>;

/// e^{-i m angle} for m = 0 .. lmax. The rounding of m angle is made up for, so that the error does not grow
/// with m.
std::vector<Complex> phases(double angle, std::int64_t lmax) {
    std::vector<Complex> result(lmax + 1);
    for (std::int64_t m = 0; m <= lmax; ++m) {
        const auto order = static_cast<double>(m);
        const double turned = order * angle, lost = std::fma(order, angle, -turned);
        const double cosine = std::cos(turned), sine = std::sin(turned);
        result[m] = {cosine - lost * sine, -(sine + lost * cosine)};
    }
    return result;
}

double sign(std::int64_t n) {
    return n % 2 == 0 ? 1 : -1;
}

/// The turn by theta about y as one by beta in [0, pi/2]: d^l_{m'm}(pi - beta) = (-1)^{l+m'}
/// d^l_{m',-m}(beta), which for a real field means to conjugate a_lm and give it the sign (-1)^m before,
/// (-1)^{l+m'} after.
struct Tilt {
    explicit Tilt(double theta) : flipped(std::cos(theta) < 0) {
        constexpr double pi_rest = 1.2246467991473532e-16;  // pi minus its double
        beta = flipped ? (std::numbers::pi - theta) + pi_rest : theta;
    }
    double beta;
    bool flipped;
};

/// The fields before and after a rotation, [component, coefficient] each, perhaps in the same memory.
template <class T>
struct Rotated {
    const AlmLayout& from;
    View<const std::complex<T>, 2> alm;
    const AlmLayout& to;
    View<std::complex<T>, 2> rotated;
};

/// Rotates one degree after the other, on one thread.
class DegreeRotator {
  public:
    DegreeRotator(std::int64_t lmax, const Tilt& tilt, std::int64_t most_components)
        : tilt_(tilt),
          wigner_(lmax, tilt.beta),
          stride_(static_cast<std::int64_t>(wigner_.start_p.size())),
          lanes_(sht::rotation_lanes()) {
        for (auto* array : {&column_re_, &column_im_, &row_re_, &row_im_, &sum_re_, &sum_im_})
            array->resize(most_components * stride_);
        row_sums_.resize((lmax + 1) * most_components * 2 * lanes_);
    }

    template <class T>
    void rotate(std::int64_t l, const std::vector<Complex>& before, const std::vector<Complex>& after,
                const Rotated<T>& fields) {
        wigner_.prepare(l);
        for (std::int64_t first = 0; first < fields.alm.extent(0); first += 3) {
            const auto n = std::min<std::int64_t>(3, fields.alm.extent(0) - first);
            for (std::int64_t c = 0; c < n; ++c) load(l, c, before, fields.from, fields.alm[first + c]);
            std::fill_n(row_sums_.begin(), (l + 1) * n * 2 * lanes_, 0.0);
            sht::rotate_degree(wigner_, {n, stride_, column_re_.data(), column_im_.data(), row_re_.data(),
                                         row_im_.data(), row_sums_.data(), sum_re_.data(), sum_im_.data()});
            for (std::int64_t c = 0; c < n; ++c) store(l, c, n, after, fields.to, fields.rotated[first + c]);
        }
    }

  private:
    template <class T>
    void load(std::int64_t l, std::int64_t c, const std::vector<Complex>& before, const AlmLayout& from,
              View<const std::complex<T>, 1> alm) {
        const auto at = c * stride_;
        for (std::int64_t m = 0; m <= l; ++m) {
            Complex a = m <= from.mmax() ? Complex(alm[from.index(l, m)]) * before[m] : 0;
            if (m == 0) a = a.real();
            if (tilt_.flipped) a = sign(m) * std::conj(a);
            column_re_[at + m] = m == 0 ? a.real() / 2 : a.real();
            column_im_[at + m] = a.imag();
            row_re_[at + m] = sign(m) * a.real();
            row_im_[at + m] = sign(m) * a.imag();
        }
        for (auto m = l + 1; m < stride_; ++m) column_re_[at + m] = column_im_[at + m] = 0;
    }

    template <class T>
    void store(std::int64_t l, std::int64_t c, std::int64_t n, const std::vector<Complex>& after,
               const AlmLayout& to, View<std::complex<T>, 1> rotated) const {
        for (std::int64_t m = 0; m <= std::min(l, to.mmax()); ++m) {
            const double* sums = &row_sums_[(m * n + c) * 2 * lanes_];
            double re = sign(m) * sum_re_[c * stride_ + m], im = sign(m) * sum_im_[c * stride_ + m];
            for (std::int64_t lane = 0; lane < lanes_; ++lane) {
                re += sums[lane];
                im += sums[lanes_ + lane];
            }
            const double flip = tilt_.flipped ? sign(l + m) : 1;
            const Complex value = Complex(flip * re, m == 0 ? 0 : flip * im) * after[m];
            rotated[to.index(l, m)] = std::complex<T>(value);
        }
    }

    Tilt tilt_;
    sht::WignerDegree wigner_;
    std::int64_t stride_, lanes_;
    core::AlignedVector<double> column_re_, column_im_, row_re_, row_im_, sum_re_, sum_im_, row_sums_;
};

/// A turn about z only.
template <class T>
void apply_phases(const std::vector<Complex>& phases, const Rotated<T>& fields) {
    const auto& [from, alm, to, rotated] = fields;
    for (std::int64_t c = 0; c < alm.extent(0); ++c)
        for (std::int64_t m = 0; m <= to.mmax(); ++m)
            for (auto l = m; l <= to.lmax(); ++l)
                rotated(c, to.index(l, m)) =
                    m <= from.mmax() ? std::complex<T>(Complex(alm(c, from.index(l, m))) * phases[m])
                                     : std::complex<T>();
}

template <class T>
void check_fields(const Rotated<T>& fields) {
    const auto& [from, alm, to, rotated] = fields;
    if (from.lmax() != to.lmax())
        throw InvalidArgument(
            "lmax", to.lmax(),
            fmt::format("must be that of the alm, {}: a rotation keeps degrees", from.lmax()));
    for (const auto* layout : {&from, &to})
        if (!layout->has_all_orders())
            throw InvalidArgument("alm", "are a share of the orders: a rotation needs all of them");
    sht::check_extent("alm", alm, 1, "coefficient", from.size());
    sht::check_extent("rotated", rotated, 1, "coefficient", to.size());
    sht::check_extent("rotated", rotated, 0, "component", alm.extent(0));
    sht::check_host("alm", alm);
    sht::check_host("rotated", rotated);
    if (static_cast<const void*>(alm.data()) == static_cast<const void*>(rotated.data()) && !(from == to))
        throw InvalidArgument("mmax", to.mmax(),
                              fmt::format("must be that of the alm, {}, in place", from.mmax()));
}

void check_finite(const EulerAngles& angles) {
    for (const double angle : {angles.psi, angles.theta, angles.phi})
        if (!std::isfinite(angle))
            throw InvalidArgument("angles", fmt::format("{} rad: must be finite", angle));
}

/// theta from -pi to pi, as it stands where it can.
double reduced(double theta) {
    return std::abs(theta) <= std::numbers::pi ? theta : std::remainder(theta, 2 * std::numbers::pi);
}

}  // namespace

template <class T>
void rotate_alm(const AlmLayout& layout, const EulerAngles& angles, View<std::complex<T>, 2> alm,
                const RotationOptions& options) {
    if (layout.mmax() != layout.lmax())
        throw InvalidArgument(
            "mmax", layout.mmax(),
            fmt::format("must be lmax = {} for a rotation in place, which fills all orders; rotate "
                        "into alm of the orders that are wanted",
                        layout.lmax()));
    rotate_alm<T>(layout, alm, angles, layout, alm, options);
}

template <class T>
void rotate_alm(const AlmLayout& from, ConstView<std::complex<T>, 2> alm, const EulerAngles& angles,
                const AlmLayout& to, View<std::complex<T>, 2> rotated, const RotationOptions& options) {
    const Rotated<T> fields{from, alm, to, rotated};
    check_fields(fields);
    check_finite(angles);
    const double theta = reduced(angles.theta);
    const int n_threads = core::resolve_threads(options.threads);
    const auto lmax = from.lmax();
    // A tilt that moves no coefficient by its last bit; smaller ones would overflow the recurrence.
    if (std::abs(theta) * static_cast<double>(lmax) < 1e-18)
        return apply_phases(phases(angles.psi + angles.phi, lmax), fields);

    auto before = phases(angles.psi, lmax), after = phases(angles.phi, lmax);
    if (theta < 0)  // R_y(-theta) = R_z(pi) R_y(theta) R_z(-pi)
        for (auto* turn : {&before, &after})
            for (std::int64_t m = 1; m <= lmax; m += 2) (*turn)[m] = -(*turn)[m];
    const auto n_components = std::min<std::int64_t>(3, alm.extent(0));
    std::vector<std::unique_ptr<DegreeRotator>> rotators(n_threads);
    std::atomic<double> done{0};
    const auto report = [&](double share) {
        if (options.progress && !options.progress(std::min(share, 1.0)))
            throw Cancelled("rotation: cancelled");
    };
    report(0);  // the first thread may find nothing left to do
    core::parallel_for(lmax + 1, n_threads, [&](std::int64_t task, int thread) {
        auto& rotator = rotators[thread];
        if (!rotator) rotator = std::make_unique<DegreeRotator>(lmax, Tilt(std::abs(theta)), n_components);
        const auto l = lmax - task;  // longest first
        rotator->rotate(l, before, after, fields);
        const double share = done += std::pow(static_cast<double>(l) / static_cast<double>(lmax + 1), 2) * 3 /
                                     static_cast<double>(lmax + 1);
        if (thread == 0) report(share);
    });
}

template void rotate_alm(const AlmLayout&, const EulerAngles&, View<std::complex<float>, 2>,
                         const RotationOptions&);
template void rotate_alm(const AlmLayout&, const EulerAngles&, View<std::complex<double>, 2>,
                         const RotationOptions&);
template void rotate_alm(const AlmLayout&, View<const std::complex<float>, 2>, const EulerAngles&,
                         const AlmLayout&, View<std::complex<float>, 2>, const RotationOptions&);
template void rotate_alm(const AlmLayout&, View<const std::complex<double>, 2>, const EulerAngles&,
                         const AlmLayout&, View<std::complex<double>, 2>, const RotationOptions&);

}  // namespace zonal
