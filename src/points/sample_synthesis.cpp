#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <utility>

#include "core/parallel.hpp"
#include "core/subnormals.hpp"
#include "points/sphere_samples.hpp"
#include "sht/array_checks.hpp"

/// SphereSamples between alm and samples, on the CPU.
namespace zonal {
namespace points {
namespace {

using Complex = std::complex<double>;
using sht::fourier_block;

void in_parallel(std::int64_t n_tasks, int threads, const std::function<void(std::int64_t, int)>& body) {
    core::parallel_for(n_tasks, threads, [&](std::int64_t task, int thread) {
        const core::SubnormalsAsZero flush;
        body(task, thread);
    });
}

/// Nanoseconds, about, of the stages on one thread.
double time_in_theta(const SampleTables& t, std::int64_t n_fields) {
    constexpr double of_flop = 0.03, of_fft = 0.045;
    const double transforms =
        static_cast<double>(t.mmax + 1) / 2 * (fft::cost(t.n) + fft::cost(2 * t.n_rings));
    return static_cast<double>(n_fields) *
           (of_flop * t.pairs.legendre_flops(t.lmax, 1) + of_fft * transforms);
}
double time_in_phi(const SampleTables& t, std::int64_t n_rows, std::int64_t n_fields) {
    constexpr double of_fft = 0.045;
    return of_fft * fft::cost(t.n) * static_cast<double>(n_rows * n_fields) / 2;
}

/// F_m of one order on all rings, in the thread's scratch: [block][field]. Blocks that the order does not
/// reach lie before those of the band.
sht::FourierBand band_of(const SampleTables& t, std::int64_t m, std::int64_t place, std::int64_t n_fields,
                         SampleScratch& scratch, std::int64_t& unreached) {
    const auto begin = t.pairs.last_m.begin();
    const std::int64_t reached = std::lower_bound(begin, t.pairs.last_m.end(), m) - begin;
    sht::FourierBand band(reached, t.n_blocks(), n_fields, t.rows, t.places);
    unreached = reached * n_fields * fourier_block;
    band.data = scratch.modes.data() + place * t.n_blocks() * n_fields * fourier_block + unreached;
    return band;
}

void reserve_modes(const SampleTables& t, std::int64_t n_fields, SampleScratch& scratch) {
    const auto size = static_cast<std::size_t>(group_size() * t.n_blocks() * n_fields * fourier_block);
    if (scratch.modes.size() < size) scratch.modes.resize(size);
    const auto longest = static_cast<std::size_t>((t.lmax + 1) * n_fields);
    if (scratch.alm.size() < longest) scratch.alm.resize(longest);
    scratch.legendre.next_order = -1;
}

template <class T>
void synthesize_order(const SphereSamples::Implementation& plan, View<const std::complex<T>, 3> alm,
                      std::int64_t m, std::int64_t place, SampleScratch& scratch) {
    const SampleTables& t = plan.tables;
    const std::int64_t n_fields = alm.extent(0) * plan.components;
    double* const modes = scratch.modes.data() + place * t.n_blocks() * n_fields * fourier_block;
    if (m > t.mmax) {
        std::fill_n(modes, t.n_blocks() * n_fields * fourier_block, 0.0);
        return;
    }
    std::int64_t unreached = 0;
    const sht::FourierBand band = band_of(t, m, place, n_fields, scratch, unreached);
    std::fill_n(modes, unreached, 0.0);
    const std::int64_t length = t.lmax - m + 1;
    const sht::AlmRow row{scratch.alm.data(), length, n_fields};
    for (std::int64_t f = 0; f < n_fields; ++f) {
        const std::complex<T>* const in =
            alm[f / plan.components][f % plan.components].data() + plan.layout.index(m, m);
        for (std::int64_t k = 0; k < length; ++k) row.field(f)[k] = Complex(in[k].real(), in[k].imag());
    }
    sht::legendre_synthesis({t.legendre, t.pairs, m, band, scratch.legendre}, row);
}

template <class T>
void adjoint_order(const SphereSamples::Implementation& plan, std::int64_t m, std::int64_t place,
                   SampleScratch& scratch, View<std::complex<T>, 3> alm) {
    const SampleTables& t = plan.tables;
    const std::int64_t n_fields = alm.extent(0) * plan.components;
    std::int64_t unreached = 0;
    const sht::FourierBand band = band_of(t, m, place, n_fields, scratch, unreached);
    const std::int64_t length = t.lmax - m + 1;
    const sht::AlmRow row{scratch.alm.data(), length, n_fields};
    sht::legendre_adjoint({t.legendre, t.pairs, m, band, scratch.legendre}, row);
    for (std::int64_t f = 0; f < n_fields; ++f) {
        std::complex<T>* const out =
            alm[f / plan.components][f % plan.components].data() + plan.layout.index(m, m);
        for (std::int64_t k = 0; k < length; ++k)
            out[k] = {static_cast<T>(row.field(f)[k].real()), static_cast<T>(row.field(f)[k].imag())};
    }
}

template <class T>
void check_alm(const SphereSamples::Implementation& plan, const View<T, 3>& alm, const SampleArray& samples) {
    check_plan(samples, plan);
    sht::check_extent("alm", alm, 0, "map", samples.n_maps());
    sht::check_extent("alm", alm, 1, "component", plan.components);
    sht::check_extent("alm", alm, 2, "coefficient", plan.layout.size());
    sht::check_space("alm", alm, space_of(plan));
    sht::check_contiguous("alm", alm);
}

/// Calls work(row) for the copies of rows beyond each pole in turn, which may be of the same row.
void for_copied_rows(const SampleArray::Storage& samples, std::int64_t n, int threads,
                     const std::function<void(std::int64_t row, const SampleView& field)>& work) {
    const SampleRows rows = samples.rows;
    const SampleRows beyond[2] = {{rows.first, 0}, {n / 2 + 1, rows.end}};
    for (const auto& [first, end] : beyond) {
        const std::int64_t count = end - first;
        if (count <= 0) continue;
        core::parallel_for(samples.n_fields() * count, threads, [&, first = first](std::int64_t task, int) {
            work(first + task % count, samples.field(task / count));
        });
    }
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
    using points::check_alm;
    using points::error_weights;
    using points::ErrorWeights;
    using points::for_copied_rows;
    using points::group_size;
    using points::in_parallel;
    using points::mean_errors;
    using points::OrderErrors;
    using points::reserve_modes;
    using points::SampleScratch;
    using points::SampleTables;
    using points::SampleView;
    using points::synthesize_order;
    using points::threads_for;
    using points::time_in_phi;
    using points::time_in_theta;
    const auto& plan = *implementation_;
    check_alm(plan, alm, samples);
    SampleArray::Storage& storage = samples.storage();
    if (storage.on_cuda) return points::cuda::synthesize<T>(alm, *storage.on_cuda, errors);
    const SampleTables& t = plan.tables;
    const std::int64_t n_fields = storage.n_fields(), group = group_size();
    std::vector<double> aliases;
    ErrorWeights weights;
    std::vector<OrderErrors> of_orders;  // [field][order]
    if (errors != nullptr) {
        aliases = plan.window.aliases();
        weights = error_weights(plan, aliases);
        of_orders.resize(static_cast<std::size_t>(n_fields * t.padded_orders()));
    }
    in_parallel((t.mmax + group) / group, threads_for(plan.options, time_in_theta(t, n_fields)),
                [&](std::int64_t task, int thread) {
                    SampleScratch& scratch = storage.scratch(thread);
                    reserve_modes(t, n_fields, scratch);
                    for (std::int64_t q = 0; q < group; ++q)
                        synthesize_order<T>(plan, alm, task * group + q, q, scratch);
                    for (std::int64_t f = 0; f < n_fields; ++f)
                        rings_to_rows(t, task * group, f, n_fields, storage.field(f), scratch,
                                      errors == nullptr ? nullptr : &weights,
                                      of_orders.data() +
                                          (errors == nullptr ? 0 : f * t.padded_orders() + task * group));
                });
    const SampleRows rows = storage.field(0).computed(t.n);
    const std::int64_t n_groups = (rows.end - rows.first + group - 1) / group;
    const int threads = threads_for(plan.options, time_in_phi(t, rows.end - rows.first, n_fields));
    in_parallel(n_fields * n_groups, threads, [&](std::int64_t task, int thread) {
        const std::int64_t first = rows.first + task % n_groups * group;
        rows_to_samples(t, first, std::min(group, rows.end - first), storage.field(task / n_groups),
                        storage.scratch(thread));
    });
    for_copied_rows(storage, t.n, threads,
                    [&](std::int64_t row, const SampleView& field) { copy_beyond_poles(t, row, field); });
    if (errors == nullptr) return;
    errors->clear();
    for (std::int64_t f = 0; f < n_fields; ++f)
        errors->push_back(mean_errors(of_orders.data() + f * t.padded_orders(), aliases, t.mmax));
}

template <class T>
void SphereSamples::adjoint(SampleArray& samples, View<std::complex<T>, 3> alm) const {
    using points::adjoint_order;
    using points::check_alm;
    using points::for_copied_rows;
    using points::group_size;
    using points::in_parallel;
    using points::reserve_modes;
    using points::SampleScratch;
    using points::SampleTables;
    using points::SampleView;
    using points::threads_for;
    using points::time_in_phi;
    using points::time_in_theta;
    const auto& plan = *implementation_;
    check_alm(plan, alm, samples);
    SampleArray::Storage& storage = samples.storage();
    if (storage.on_cuda) return points::cuda::adjoint<T>(*storage.on_cuda, alm);
    const SampleTables& t = plan.tables;
    const std::int64_t n_fields = storage.n_fields(), group = group_size();
    const std::int64_t all = storage.rows.end - storage.rows.first;
    const SampleRows rows = storage.field(0).computed(t.n);
    const int threads = threads_for(plan.options, time_in_phi(t, rows.end - rows.first, n_fields));
    core::parallel_for(n_fields * all, threads, [&](std::int64_t task, int) {
        fold_columns(t, storage.rows.first + task % all, storage.field(task / all));
    });
    for_copied_rows(storage, t.n, threads,
                    [&](std::int64_t row, const SampleView& field) { fold_beyond_poles(t, row, field); });
    const std::int64_t n_groups = (rows.end - rows.first + group - 1) / group;
    in_parallel(n_fields * n_groups, threads, [&](std::int64_t task, int thread) {
        const std::int64_t first = rows.first + task % n_groups * group;
        samples_to_rows(t, first, std::min(group, rows.end - first), storage.field(task / n_groups),
                        storage.scratch(thread));
    });
    in_parallel((t.mmax + group) / group, threads_for(plan.options, time_in_theta(t, n_fields)),
                [&](std::int64_t task, int thread) {
                    SampleScratch& scratch = storage.scratch(thread);
                    reserve_modes(t, n_fields, scratch);
                    for (std::int64_t f = 0; f < n_fields; ++f)
                        rows_to_rings(t, task * group, f, n_fields, storage.field(f), scratch);
                    for (std::int64_t q = 0; q < group && task * group + q <= t.mmax; ++q)
                        adjoint_order<T>(plan, task * group + q, q, scratch, alm);
                });
}

template void SphereSamples::synthesize<float>(View<const std::complex<float>, 3>, SampleArray&,
                                               std::vector<PointErrors>*) const;
template void SphereSamples::synthesize<double>(View<const std::complex<double>, 3>, SampleArray&,
                                                std::vector<PointErrors>*) const;
template void SphereSamples::adjoint(SampleArray&, View<std::complex<float>, 3>) const;
template void SphereSamples::adjoint(SampleArray&, View<std::complex<double>, 3>) const;

}  // namespace zonal
