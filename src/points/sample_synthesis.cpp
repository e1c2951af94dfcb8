#include <cmath>
#include <complex>
#include <utility>

#include "points/sample_passes.hpp"
#include "sht/array_checks.hpp"

/// SphereSamples between alm and samples, on the CPU.
namespace zonal {
namespace points {
namespace {

template <class T>
void check_alm(const SphereSamples::Implementation& plan, const View<T, 3>& alm, const SampleArray& samples) {
    check_plan(samples, plan);
    sht::check_extent("alm", alm, 0, "map", samples.n_maps());
    sht::check_extent("alm", alm, 1, "component", plan.components);
    sht::check_extent("alm", alm, 2, "coefficient", plan.layout.size());
    sht::check_space("alm", alm, space_of(plan));
    sht::check_contiguous("alm", alm);
}

/// All rows of an array of samples, in which they are made.
FieldRows rows_of(const SampleArray::Storage& samples) {
    return {samples.data, samples.plan->tables.stride, samples.rows};
}

}  // namespace

ErrorWeights error_weights(const SphereSamples::Implementation& plan, const std::vector<double>& aliases) {
    ErrorWeights weights;
    const auto& transforms = plan.rule->transforms;
    for (std::int64_t k = 0; k < std::ssize(aliases); ++k) {
        const double w = transforms[static_cast<std::size_t>(k)] / 2;
        weights.power.push_back((k == 0 ? 1 : 2) * w * w);
        weights.alias.push_back(weights.power.back() * aliases[static_cast<std::size_t>(k)]);
    }
    return weights;
}

/// mean |error|^2 = sum_km |c_km|^2 (A_k + A_m + A_k A_m), as a sample's aliases never coincide.
PointErrors mean_errors(const OrderErrors* of_orders, const std::vector<double>& aliases, std::int64_t mmax) {
    double power = 0, error = 0;
    for (std::int64_t m = 0; m <= mmax; ++m) {
        const double both = m == 0 ? 1 : 2, a = aliases[static_cast<std::size_t>(m)];
        power += both * of_orders[m].power;
        error += both * (of_orders[m].alias + a * (of_orders[m].power + of_orders[m].alias));
    }
    return {std::sqrt(error), std::sqrt(power)};
}

}  // namespace points

template <class T>
void SphereSamples::synthesize(ConstView<std::complex<T>, 3> alm, SampleArray& samples,
                               std::vector<PointErrors>* errors) const {
    const auto& plan = *implementation_;
    points::check_alm(plan, alm, samples);
    SampleArray::Storage& storage = samples.storage();
    if (storage.on_cuda) return points::cuda::synthesize<T>(alm, *storage.on_cuda, errors);
    const points::SampleTables& t = plan.tables;
    const auto orders = points::all_orders(t);
    const points::RowOrders all{t, orders, plan.layout};
    if (errors == nullptr) {
        points::alm_to_rows<T>(plan, all, alm, points::rows_of(storage), storage.threads);
    } else {
        const auto aliases = plan.window.aliases();
        const points::ErrorWeights weights = points::error_weights(plan, aliases);
        const auto n_slots = static_cast<std::size_t>(std::ssize(orders));
        std::vector<points::OrderErrors> of_orders(static_cast<std::size_t>(storage.n_fields()) * n_slots);
        points::alm_to_rows<T>(plan, all, alm, points::rows_of(storage), storage.threads, &weights,
                               of_orders.data());
        errors->clear();
        for (std::size_t f = 0; f < static_cast<std::size_t>(storage.n_fields()); ++f)
            errors->push_back(points::mean_errors(of_orders.data() + f * n_slots, aliases, t.mmax));
    }
    points::rows_to_samples(storage);
}

template <class T>
void SphereSamples::adjoint(SampleArray& samples, View<std::complex<T>, 3> alm) const {
    const auto& plan = *implementation_;
    points::check_alm(plan, alm, samples);
    SampleArray::Storage& storage = samples.storage();
    if (storage.on_cuda) return points::cuda::adjoint<T>(*storage.on_cuda, alm);
    const auto orders = points::all_orders(plan.tables);
    points::samples_to_rows(storage);
    points::rows_to_alm<T>(plan, {plan.tables, orders, plan.layout}, points::rows_of(storage),
                           storage.threads, alm);
}

template void SphereSamples::synthesize<float>(View<const std::complex<float>, 3>, SampleArray&,
                                               std::vector<PointErrors>*) const;
template void SphereSamples::synthesize<double>(View<const std::complex<double>, 3>, SampleArray&,
                                                std::vector<PointErrors>*) const;
template void SphereSamples::adjoint(SampleArray&, View<std::complex<float>, 3>) const;
template void SphereSamples::adjoint(SampleArray&, View<std::complex<double>, 3>) const;

}  // namespace zonal
