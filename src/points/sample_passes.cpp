#include "points/sample_passes.hpp"

#include <algorithm>
#include <complex>
#include <functional>

#include "core/parallel.hpp"
#include "core/subnormals.hpp"

namespace zonal::points {
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
double time_in_theta(const SampleTables& t, std::int64_t n_orders, std::int64_t n_fields) {
    constexpr double of_flop = 0.03, of_fft = 0.045;
    const double transforms =
        static_cast<double>(t.mmax + 1) / 2 * (fft::cost(t.n) + fft::cost(2 * t.n_rings));
    return static_cast<double>(n_fields) * static_cast<double>(n_orders) / static_cast<double>(t.mmax + 1) *
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
void synthesize_order(const SphereSamples::Implementation& plan, const AlmLayout& layout,
                      View<const std::complex<T>, 3> alm, std::int64_t m, std::int64_t place,
                      SampleScratch& scratch) {
    const SampleTables& t = plan.tables;
    const std::int64_t n_fields = alm.extent(0) * plan.components;
    double* const modes = scratch.modes.data() + place * t.n_blocks() * n_fields * fourier_block;
    if (m < 0) {
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
            alm[f / plan.components][f % plan.components].data() + layout.index(m, m);
        for (std::int64_t k = 0; k < length; ++k) row.field(f)[k] = Complex(in[k].real(), in[k].imag());
    }
    sht::legendre_synthesis({t.legendre, t.pairs, m, band, scratch.legendre}, row);
}

template <class T>
void adjoint_order(const SphereSamples::Implementation& plan, const AlmLayout& layout, std::int64_t m,
                   std::int64_t place, SampleScratch& scratch, View<std::complex<T>, 3> alm) {
    const SampleTables& t = plan.tables;
    const std::int64_t n_fields = alm.extent(0) * plan.components;
    std::int64_t unreached = 0;
    const sht::FourierBand band = band_of(t, m, place, n_fields, scratch, unreached);
    const std::int64_t length = t.lmax - m + 1;
    const sht::AlmRow row{scratch.alm.data(), length, n_fields};
    sht::legendre_adjoint({t.legendre, t.pairs, m, band, scratch.legendre}, row);
    for (std::int64_t f = 0; f < n_fields; ++f) {
        std::complex<T>* const out =
            alm[f / plan.components][f % plan.components].data() + layout.index(m, m);
        for (std::int64_t k = 0; k < length; ++k)
            out[k] = {static_cast<T>(row.field(f)[k].real()), static_cast<T>(row.field(f)[k].imag())};
    }
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

std::vector<std::int64_t> all_orders(const SampleTables& t) {
    const std::int64_t group = group_size();
    std::vector<std::int64_t> orders(static_cast<std::size_t>((t.mmax + group) / group * group), -1);
    for (std::int64_t m = 0; m <= t.mmax; ++m) orders[static_cast<std::size_t>(m)] = m;
    return orders;
}

template <class T>
void alm_to_rows(const SphereSamples::Implementation& plan, const RowOrders& orders,
                 View<const std::complex<T>, 3> alm, const FieldRows& out, ThreadScratch& scratch,
                 const ErrorWeights* weights, OrderErrors* errors) {
    const SampleTables& t = orders.tables;
    const std::int64_t n_fields = alm.extent(0) * plan.components, n_slots = std::ssize(orders.slots),
                       group = group_size();
    in_parallel(n_slots / group, threads_for(plan.options, time_in_theta(t, n_slots, n_fields)),
                [&](std::int64_t task, int thread) {
                    SampleScratch& own = *scratch[static_cast<std::size_t>(thread)];
                    const std::int64_t first = task * group;
                    reserve_modes(t, n_fields, own);
                    for (std::int64_t q = 0; q < group; ++q)
                        synthesize_order<T>(plan, orders.layout, alm,
                                            orders.slots[static_cast<std::size_t>(first + q)], q, own);
                    for (std::int64_t f = 0; f < n_fields; ++f)
                        rings_to_rows(t, first, f, n_fields, out.field(f), own, weights,
                                      errors == nullptr ? nullptr : errors + f * n_slots + first);
                });
}

template <class T>
void rows_to_alm(const SphereSamples::Implementation& plan, const RowOrders& orders, const FieldRows& in,
                 ThreadScratch& scratch, View<std::complex<T>, 3> alm) {
    const SampleTables& t = orders.tables;
    const std::int64_t n_fields = alm.extent(0) * plan.components, n_slots = std::ssize(orders.slots),
                       group = group_size();
    in_parallel(n_slots / group, threads_for(plan.options, time_in_theta(t, n_slots, n_fields)),
                [&](std::int64_t task, int thread) {
                    SampleScratch& own = *scratch[static_cast<std::size_t>(thread)];
                    const std::int64_t first = task * group;
                    reserve_modes(t, n_fields, own);
                    for (std::int64_t f = 0; f < n_fields; ++f)
                        rows_to_rings(t, first, f, n_fields, in.field(f), own);
                    for (std::int64_t q = 0; q < group; ++q)
                        if (const auto m = orders.slots[static_cast<std::size_t>(first + q)]; m >= 0)
                            adjoint_order<T>(plan, orders.layout, m, q, own, alm);
                });
}

void rows_to_samples(SampleArray::Storage& samples) {
    const SphereSamples::Implementation& plan = *samples.plan;
    const SampleTables& t = plan.tables;
    const std::int64_t n_fields = samples.n_fields(), group = group_size();
    const SampleRows rows = samples.field(0).computed(t.n);
    const std::int64_t n_groups = (rows.end - rows.first + group - 1) / group;
    const int threads = threads_for(plan.options, time_in_phi(t, rows.end - rows.first, n_fields));
    in_parallel(n_fields * n_groups, threads, [&](std::int64_t task, int thread) {
        const std::int64_t first = rows.first + task % n_groups * group;
        rows_to_samples(t, first, std::min(group, rows.end - first), samples.field(task / n_groups),
                        samples.scratch(thread));
    });
    for_copied_rows(samples, t.n, threads,
                    [&](std::int64_t row, const SampleView& field) { copy_beyond_poles(t, row, field); });
}

void samples_to_rows(SampleArray::Storage& samples) {
    const SphereSamples::Implementation& plan = *samples.plan;
    const SampleTables& t = plan.tables;
    const std::int64_t n_fields = samples.n_fields(), group = group_size();
    const std::int64_t all = samples.rows.end - samples.rows.first;
    const SampleRows rows = samples.field(0).computed(t.n);
    const int threads = threads_for(plan.options, time_in_phi(t, rows.end - rows.first, n_fields));
    core::parallel_for(n_fields * all, threads, [&](std::int64_t task, int) {
        fold_columns(t, samples.rows.first + task % all, samples.field(task / all));
    });
    for_copied_rows(samples, t.n, threads,
                    [&](std::int64_t row, const SampleView& field) { fold_beyond_poles(t, row, field); });
    const std::int64_t n_groups = (rows.end - rows.first + group - 1) / group;
    in_parallel(n_fields * n_groups, threads, [&](std::int64_t task, int thread) {
        const std::int64_t first = rows.first + task % n_groups * group;
        samples_to_rows(t, first, std::min(group, rows.end - first), samples.field(task / n_groups),
                        samples.scratch(thread));
    });
}

#define ZONAL_INSTANTIATE(T)                                                                            \
    template void alm_to_rows(const SphereSamples::Implementation&, const RowOrders&,                   \
                              View<const std::complex<T>, 3>, const FieldRows&, ThreadScratch&,         \
                              const ErrorWeights*, OrderErrors*);                                       \
    template void rows_to_alm(const SphereSamples::Implementation&, const RowOrders&, const FieldRows&, \
                              ThreadScratch&, View<std::complex<T>, 3>);
ZONAL_INSTANTIATE(float)
ZONAL_INSTANTIATE(double)
#undef ZONAL_INSTANTIATE

}  // namespace zonal::points
