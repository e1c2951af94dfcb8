#include "zonal/sky/derivatives.hpp"

#include <cmath>
#include <utility>

#include "sht/array_checks.hpp"
#include "zonal/error.hpp"

namespace zonal {

template <class T>
void synthesize_gradient(const ShtPlan& plan, ConstView<std::complex<T>, 3> alm, View<T, 3> map,
                         const Progress& progress) {
    if (plan.options().spin != 1 || plan.options().parts != SpinParts::gradient)
        throw InvalidArgument("plan", "must have spin = 1 and parts = SpinParts::gradient");
    if (alm.space() != MemorySpace::host)
        throw InvalidArgument("alm", "is in device memory: must be in host memory, where it is multiplied");
    const View<const T, 3> const_map = map;
    sht::check_arrays<T>(plan, alm, const_map);
    const AlmLayout& layout = plan.layout();
    Array<std::complex<T>, 3> gradient(alm.extents());
    // E = sqrt(l (l + 1)) a, B = 0: Q = d/dtheta, U = d/dphi / sin theta (docs: conventions)
    for (std::int64_t batch = 0; batch < alm.extent(0); ++batch)
        for (std::int64_t m = 0; m <= layout.mmax(); ++m)
            for (std::int64_t l = m; l <= layout.lmax(); ++l) {
                const double root = std::sqrt(static_cast<double>(l) * (static_cast<double>(l) + 1));
                const auto i = layout.index(l, m);
                gradient(batch, 0, i) = std::complex<T>(root * std::complex<double>(alm(batch, 0, i)));
            }
    plan.synthesize<T>(std::as_const(gradient).view(), map, progress);
}

template void synthesize_gradient(const ShtPlan&, View<const std::complex<float>, 3>, View<float, 3>,
                                  const Progress&);
template void synthesize_gradient(const ShtPlan&, View<const std::complex<double>, 3>, View<double, 3>,
                                  const Progress&);

}  // namespace zonal
