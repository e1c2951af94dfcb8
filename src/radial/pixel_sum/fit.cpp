#include "core/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "radial/pixel_sum/fit.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

#include <array>

#include "radial/pixel_sum/weights.hpp"

HWY_BEFORE_NAMESPACE();
namespace zonal::radial::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;

/// What turns values at the Chebyshev nodes x_i = cos((i + 1/2) pi / N) into coefficients of powers. Nodes i
/// and N - 1 - i are opposite: their values' sum makes the even powers, their difference the odd ones.
template <int n_nodes>
struct NodesToPowers {
    std::array<double, n_nodes> node;
    std::array<std::array<double, n_nodes / 2>, n_nodes> matrix{};  ///< [power][i < N/2]

    NodesToPowers() {
        // T_{k+1} = 2 x T_k - T_{k-1}; a_k = (2 - delta_k0) / N sum_i f(x_i) T_k(x_i).
        std::array<std::array<double, n_nodes>, n_nodes> chebyshev{};
        chebyshev[0][0] = chebyshev[1][1] = 1;
        for (int k = 2; k < n_nodes; ++k)
            for (int d = 0; d < n_nodes; ++d)
                chebyshev[k][d] = (d > 0 ? 2 * chebyshev[k - 1][d - 1] : 0) - chebyshev[k - 2][d];
        for (int i = 0; i < n_nodes; ++i) {
            const double angle = (i + 0.5) * std::numbers::pi / n_nodes;
            node[i] = std::cos(angle);
            if (i >= n_nodes / 2) continue;
            for (int k = 0; k < n_nodes; ++k)
                for (int d = 0; d < n_nodes; ++d)
                    matrix[d][i] += (k == 0 ? 1. : 2.) / n_nodes * std::cos(k * angle) * chebyshev[k][d];
        }
    }
};

/// Between N nodes, where polynomial and function differ most: cos(i pi / N), of the one side and the other,
/// in the middle and near the end.
template <int n_nodes>
std::array<double, 3> check_points() {
    const auto extremum = [](int i) { return std::cos(i * std::numbers::pi / n_nodes); };
    return {extremum(n_nodes / 2 + 1), extremum(n_nodes / 2), extremum(1)};
}

/// chord_table.hpp's evaluate, for vectors; zero where there is no table.
class TableValues {
  public:
    explicit TableValues(const SumKernel::Part& part) : limit_(part.limit) {
        if (!part.table) return;
        table_ = part.table->view<double>();
        end_ = part.table->end();
    }

    V operator()(V chord_squared) const {
        const D d;
        if (limit_ < 0) return hn::Zero(d);
        const hn::Rebind<float, D> d_float;
        const hn::Rebind<std::int32_t, D> d_int;
        const hn::Rebind<std::int64_t, D> d_index;
        const V u = hn::Min(chord_squared, hn::Set(d, end_));
        const auto southern = hn::Gt(u, hn::Set(d, 2.));
        const V w = hn::Max(hn::IfThenElse(southern, hn::Sub(hn::Set(d, 4.), u), u), hn::Zero(d));
        const auto root = hn::Sqrt(hn::DemoteTo(d_float, w));
        auto piece = hn::ConvertTo(d_int, hn::Mul(root, hn::Set(d_float, table_.inverse_step)));
        piece = hn::Min(piece, hn::Set(d_int, table_.n_half - 1));
        const V k = hn::PromoteTo(d, piece);
        const V middle = hn::MulAdd(k, hn::Add(k, hn::Set(d, 1.)), hn::Set(d, 0.5));
        const V v = hn::MulSub(w, hn::Set(d, table_.inverse_step_squared), middle);
        auto row = hn::PromoteTo(d_index, piece);
        const auto half = hn::Set(d_index, static_cast<std::int64_t>(table_.n_half));
        row = hn::Add(row, hn::IfThenElseZero(hn::RebindMask(d_index, southern), half));
        // (degree + 1) = 6 coefficients each
        static_assert(table_degree == 5);
        const auto index = hn::Add(hn::ShiftLeft<2>(row), hn::ShiftLeft<1>(row));
        V value = hn::GatherIndex(d, table_.coefficients + table_degree, index);
        for (int power = table_degree - 1; power >= 0; --power)
            value = hn::MulAdd(value, v, hn::GatherIndex(d, table_.coefficients + power, index));
        return hn::IfThenElseZero(hn::Le(chord_squared, hn::Set(d, limit_)), value);
    }

  private:
    ChordTableView<double> table_{};
    double limit_, end_ = 0;
};

struct ComplexVector {
    V real, imag;
};

HWY_INLINE ComplexVector squared(ComplexVector z) {
    const V product = hn::Mul(z.real, z.imag);
    return {hn::MulSub(z.real, z.real, hn::Mul(z.imag, z.imag)), hn::Add(product, product)};
}

/// The kernel at half the difference of longitudes x (sum_kernel.cpp's, for vectors).
class KernelValues {
  public:
    KernelValues(const SumKernel& kernel, const PairGeometry& pair)
        : plus_(kernel.plus()),
          minus_(kernel.minus()),
          part_(kernel.part()),
          pair_(pair),
          limit_(kernel.limit()) {}

    V operator()(V x) const {
        const D d;
        const V sine = hn::Sin(d, x);
        const V chord_squared =
            hn::MulAdd(hn::Mul(sine, sine), hn::Set(d, pair_.chord.factor), hn::Set(d, pair_.chord.offset));
        if (part_ == KernelPart::radial) return plus_(hn::Min(chord_squared, hn::Set(d, limit_)));
        return polarized(chord_squared, hn::Neg(sine), hn::Cos(d, x));
    }

  private:
    V polarized(V chord_squared, V sine, V cosine) const {
        const D d;
        const auto fourth_power = [&](double difference, double sum) {
            return squared(
                squared({hn::Mul(hn::Set(d, difference), cosine), hn::Mul(hn::Set(d, sum), sine)}));
        };
        const V plus = plus_(chord_squared), minus = minus_(chord_squared);
        const ComplexVector p = fourth_power(pair_.cos_difference, pair_.cos_sum);
        const ComplexVector q = fourth_power(pair_.sin_difference, pair_.sin_sum);
        switch (part_) {
            case KernelPart::qq:
                return hn::MulAdd(plus, p.real, hn::Mul(minus, q.real));
            case KernelPart::qu:
                return hn::MulSub(minus, q.imag, hn::Mul(plus, p.imag));
            case KernelPart::uq:
                return hn::MulAdd(plus, p.imag, hn::Mul(minus, q.imag));
            default:
                return hn::MulSub(plus, p.real, hn::Mul(minus, q.real));
        }
    }

    TableValues plus_, minus_;
    KernelPart part_;
    PairGeometry pair_;
    double limit_;
};

void values(const SumKernel& kernel, const PairGeometry& pair, const double* x, std::int64_t n, double* out) {
    const D d;
    const KernelValues at(kernel, pair);
    for (std::int64_t j = 0; j < n; j += static_cast<std::int64_t>(hn::Lanes(d)))
        hn::StoreU(at(hn::LoadU(d, x + j)), d, out + j);
}

HWY_INLINE void store(V value, float* out) {
    const hn::Rebind<float, D> d_float;
    hn::StoreU(hn::DemoteTo(d_float, value), d_float, out);
}
HWY_INLINE void store(V value, double* out) {
    hn::StoreU(value, D(), out);
}

template <class T>
double fit(const SumKernel& kernel, const PairGeometry& pair, const double* middle, const double* half,
           std::int64_t n, std::int64_t stride, T* coefficients) {
    constexpr int degree = weight_degree<T>, n_nodes = degree + 1;
    static const NodesToPowers<n_nodes> nodes;
    static const std::array<double, 3> checks = check_points<n_nodes>();
    const D d;
    const KernelValues values(kernel, pair);
    V worst = hn::Zero(d);
    for (std::int64_t j = 0; j < n; j += static_cast<std::int64_t>(hn::Lanes(d))) {
        const V centre = hn::LoadU(d, middle + j), width = hn::LoadU(d, half + j);
        const auto value = [&](double s) { return values(hn::MulAdd(width, hn::Set(d, s), centre)); };
        V sum[n_nodes / 2], difference[n_nodes / 2], powers[n_nodes];
        for (int i = 0; i < n_nodes / 2; ++i) {
            const V plus = value(nodes.node[i]), minus = value(-nodes.node[i]);
            sum[i] = hn::Add(plus, minus);
            difference[i] = hn::Sub(plus, minus);
        }
        for (int power = 0; power < n_nodes; ++power) {
            const V* const parts = power % 2 == 0 ? sum : difference;
            powers[power] = hn::Zero(d);
            for (int i = 0; i < n_nodes / 2; ++i)
                powers[power] = hn::MulAdd(hn::Set(d, nodes.matrix[power][i]), parts[i], powers[power]);
            store(powers[power], coefficients + power * stride + j);
        }
        for (const double s : checks) {
            V polynomial = powers[degree];
            for (int power = degree - 1; power >= 0; --power)
                polynomial = hn::MulAdd(polynomial, hn::Set(d, s), powers[power]);
            worst = hn::Max(worst, hn::Abs(hn::Sub(polynomial, value(s))));
        }
    }
    return hn::GetLane(hn::MaxOfLanes(d, worst));
}

double fit_float(const SumKernel& kernel, const PairGeometry& pair, const double* middle, const double* half,
                 std::int64_t n, std::int64_t stride, float* coefficients) {
    return fit(kernel, pair, middle, half, n, stride, coefficients);
}
double fit_double(const SumKernel& kernel, const PairGeometry& pair, const double* middle, const double* half,
                  std::int64_t n, std::int64_t stride, double* coefficients) {
    return fit(kernel, pair, middle, half, n, stride, coefficients);
}

}  // namespace zonal::radial::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace zonal::radial {

HWY_EXPORT(values);
HWY_EXPORT(fit_float);
HWY_EXPORT(fit_double);

void kernel_values(const SumKernel& kernel, const PairGeometry& pair, const double* x, std::int64_t n,
                   double* values_at_x) {
    HWY_DYNAMIC_DISPATCH(values)(kernel, pair, x, n, values_at_x);
}

double fit_weights(const SumKernel& kernel, const PairGeometry& pair, const double* middle,
                   const double* half, std::int64_t n, std::int64_t stride, float* coefficients) {
    return HWY_DYNAMIC_DISPATCH(fit_float)(kernel, pair, middle, half, n, stride, coefficients);
}
double fit_weights(const SumKernel& kernel, const PairGeometry& pair, const double* middle,
                   const double* half, std::int64_t n, std::int64_t stride, double* coefficients) {
    return HWY_DYNAMIC_DISPATCH(fit_double)(kernel, pair, middle, half, n, stride, coefficients);
}

}  // namespace zonal::radial
#endif
