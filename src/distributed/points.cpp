#include "zonal/distributed/points.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "distributed/transport.hpp"
#include "points/map_passes.hpp"
#include "points/point_checks.hpp"
#include "points/sample_passes.hpp"
#include "sht/array_checks.hpp"
#include "zonal/error.hpp"
#include "zonal/points/plan.hpp"

namespace zonal {
namespace {

using points::FieldRows;
using points::SampleTables;

std::string bytes_of(std::span<const std::int64_t> numbers) {
    return {reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()};
}
std::vector<std::int64_t> numbers_of(const std::string& bytes) {
    std::vector<std::int64_t> numbers(bytes.size() / sizeof(std::int64_t));
    if (!numbers.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
    return numbers;
}

/// Throws InvalidArgument unless every order is one rank's.
void require_all_orders(const std::vector<std::vector<std::int64_t>>& of_ranks, std::int64_t mmax) {
    std::vector<std::int64_t> count(static_cast<std::size_t>(mmax) + 1);
    for (const auto& orders : of_ranks)
        for (const std::int64_t m : orders) ++count[static_cast<std::size_t>(m)];
    for (std::int64_t m = 0; m <= mmax; ++m)
        if (const auto n = count[static_cast<std::size_t>(m)]; n != 1)
            throw InvalidArgument("orders",
                                  fmt::format("m = {} is that of {} ranks: must be one rank's", m, n));
}

/// A rank's orders as rows hold them.
struct Slots {
    Slots(const std::vector<std::int64_t>& own, const SampleTables& all) : tables(all) {
        std::int64_t next[2] = {0, 1};
        for (const std::int64_t m : own) of_order.push_back(std::exchange(next[m % 2], next[m % 2] + 2));
        const std::int64_t group = points::group_size(), used = std::max(next[0], next[1] - 1);
        orders.assign(static_cast<std::size_t>((used + group - 1) / group * group), -1);
        tables.factors.assign(orders.size(), 0);
        for (std::size_t i = 0; i < own.size(); ++i) {
            const auto slot = static_cast<std::size_t>(of_order[i]);
            orders[slot] = own[i];
            tables.factors[slot] = all.factors[static_cast<std::size_t>(own[i])];
        }
    }
    /// Doubles of a row.
    std::int64_t stride() const { return 2 * std::ssize(orders); }

    std::vector<std::int64_t> of_order;  ///< [number of the order]
    std::vector<std::int64_t> orders;    ///< [slot]; -1: none
    SampleTables tables;                 ///< with the factors of slots
};

/// What every rank knows of another.
struct PointRank {
    std::vector<std::int64_t> orders;
    SampleRows rows;  ///< that its points reach and that are no copies; none without points

    std::int64_t n_rows() const { return rows.end - rows.first; }
};

}  // namespace

struct DistributedPointTransform::Implementation {
    Implementation(const Communicator& communicator, std::span<const std::int64_t> orders,
                   View<const double, 1> theta, View<const double, 1> phi, PointOptions options);

    std::size_t rank() const { return static_cast<std::size_t>(ranks.rank()); }
    std::int64_t components() const { return samples->components(); }

    /// The slots' rows of some fields.
    FieldRows slot_rows(std::int64_t n_fields) {
        return {memory.reserve(n_fields * (rows.end - rows.first) * slots->stride()), slots->stride(), rows};
    }
    SampleArray::Storage& samples_of(std::int64_t maps) {
        if (!here) here.emplace(samples->make_array(maps, points->rows()));
        here->storage().set_maps(maps);
        return here->storage();
    }
    template <class A, class B>
    void check(const View<A, 3>& alm, const View<B, 3>& values) const {
        sht::check_extent("alm", alm, 1, "component", components());
        sht::check_extent("alm", alm, 2, "coefficient", layout->size());
        sht::check_contiguous("alm", alm);
        sht::check_space("alm", alm, MemorySpace::host);
        sht::check_extent("values", values, 0, "map", alm.extent(0));
        sht::check_extent("values", values, 1, "component", components());
        sht::check_extent("values", values, 2, "point", n_points);
        sht::check_contiguous("values", values);
        sht::check_space("values", values, MemorySpace::host);
    }

    /// Collective. Throws OutOfMemory where what these fields need beyond what is there is too much.
    void require_memory(std::int64_t n_fields) const;

    /// Calls work(field, row) for rows of all fields, on threads.
    template <class Work>
    void for_rows(SampleRows some, std::int64_t n_fields, const Work& work) const {
        const std::int64_t n = some.end - some.first;
        core::parallel_for(n_fields * n, samples->implementation().options.threads,
                           [&](std::int64_t task, int) { work(task / n, some.first + task % n); });
    }
    /// The F_m of a rank's orders in a row of a message.
    static double* row_of(std::vector<double>& message, const PointRank& of_rows, std::size_t n_orders,
                          std::int64_t field, std::int64_t row) {
        return message.data() + (field * of_rows.n_rows() + row - of_rows.rows.first) * 2 *
                                    static_cast<std::int64_t>(n_orders);
    }
    /// Sends sent[rank] and fills received[rank], whose sizes every rank knows.
    void exchange();

    /// F_m of this rank's orders in the rows of others, and of others' orders in this one's rows.
    void pack_orders(const FieldRows& from, std::int64_t n_fields);
    void unpack_orders(SampleArray::Storage& to, std::int64_t n_fields);
    /// The transposes.
    void pack_rows(const SampleArray::Storage& from, std::int64_t n_fields);
    void add_rows(const FieldRows& to, std::int64_t n_fields);

    const Communicator ranks;
    std::optional<AlmLayout> layout;
    std::int64_t n_points;
    std::vector<PointRank> all;
    std::optional<SphereSamples> samples;
    std::optional<PointPlan> points;
    std::optional<Slots> slots;
    SampleRows rows;  ///< of all ranks
    std::optional<SampleArray> here;
    core::Scratch memory;
    std::vector<std::vector<double>> sent, received;  ///< [rank]
};

DistributedPointTransform::Implementation::Implementation(const Communicator& communicator,
                                                          std::span<const std::int64_t> orders,
                                                          View<const double, 1> theta,
                                                          View<const double, 1> phi, PointOptions options)
    : ranks(communicator), n_points(theta.extent(0)) {
    if (options.mmax < 0) options.mmax = options.lmax;
    ranks.together(fmt::format("a transform at points, lmax = {}, mmax = {}, spin = {}, error = {:a}",
                               options.lmax, options.mmax, options.spin, options.error),
                   [&] {
                       layout.emplace(options.lmax, options.mmax,
                                      std::vector<std::int64_t>(orders.begin(), orders.end()));
                       points::check_cpu(options.device, "DistributedPointTransform");
                       points::check_arrays(theta, phi, MemorySpace::host);
                   });
    std::vector<std::vector<std::int64_t>> of_ranks;
    for (const std::string& bytes : ranks.gather(bytes_of(orders))) of_ranks.push_back(numbers_of(bytes));
    require_all_orders(of_ranks, options.mmax);
    options.n_points = 0;
    for (const std::string& bytes : ranks.gather(bytes_of(std::span(&n_points, 1))))
        options.n_points += numbers_of(bytes).at(0);
    options.n_points = std::max<std::int64_t>(options.n_points, 1);
    ranks.together("samples for points", [&] {
        samples.emplace(options);
        points.emplace(*samples, theta, phi);
        slots.emplace(of_ranks[rank()], samples->implementation().tables);
    });
    ranks.agree(
        fmt::format("{} samples of a circle, {} for a value", samples->n_samples(), samples->width()));
    const points::SampleView reached{nullptr, 0, points->rows()};
    const SampleRows own = n_points == 0 ? SampleRows{} : reached.computed(samples->n_samples());
    const std::int64_t ends[] = {own.first, own.end};
    for (const std::string& bytes : ranks.gather(bytes_of(ends))) {
        const auto of_rank = numbers_of(bytes);
        all.push_back({std::move(of_ranks[all.size()]), {of_rank.at(0), of_rank.at(1)}});
        const SampleRows& added = all.back().rows;
        if (added.first < added.end)
            rows = rows.first < rows.end
                       ? SampleRows{std::min(rows.first, added.first), std::max(rows.end, added.end)}
                       : added;
    }
    sent.resize(all.size());
    received.resize(all.size());
}

void DistributedPointTransform::Implementation::require_memory(std::int64_t n_fields) const {
    const auto& plan = samples->implementation();
    const PointRank& own = all[rank()];
    std::int64_t in_messages = own.n_rows() * (plan.tables.mmax + 1), there = memory.bytes();
    for (std::size_t r = 0; r < all.size(); ++r) {
        in_messages += all[r].n_rows() * std::ssize(own.orders);
        there += 8 * static_cast<std::int64_t>(sent[r].capacity() + received[r].capacity());
    }
    if (here) there += here->bytes();
    const std::int64_t doubles = n_fields * ((rows.end - rows.first) * slots->stride() + 2 * in_messages +
                                             points::field_size(plan, points->rows()));
    ranks.require_memory(std::max(0.0, static_cast<double>(8 * doubles - there)),
                         fmt::format("a transform at points with lmax = {}", plan.tables.lmax));
}

void DistributedPointTransform::Implementation::exchange() {
    std::vector<distributed::Message<const std::byte>> send;
    std::vector<distributed::Message<std::byte>> receive;
    for (std::size_t r = 0; r < all.size(); ++r) {
        if (r == rank()) {
            std::swap(received[r], sent[r]);
            continue;
        }
        if (!sent[r].empty()) send.push_back({static_cast<int>(r), std::as_bytes(std::span(sent[r]))});
        if (!received[r].empty())
            receive.push_back({static_cast<int>(r), std::as_writable_bytes(std::span(received[r]))});
    }
    ranks.transport()->exchange(std::move(send), std::move(receive))->wait();
}

void DistributedPointTransform::Implementation::pack_orders(const FieldRows& from, std::int64_t n_fields) {
    const auto n_own = all[rank()].orders.size();
    for (std::size_t r = 0; r < all.size(); ++r) {
        sent[r].resize(static_cast<std::size_t>(n_fields * all[r].n_rows()) * 2 * n_own);
        received[r].resize(static_cast<std::size_t>(n_fields * all[rank()].n_rows()) * 2 *
                           all[r].orders.size());
        for_rows(all[r].rows, n_fields, [&](std::int64_t f, std::int64_t j) {
            const double* const row = from.field(f).row(j);
            double* out = row_of(sent[r], all[r], n_own, f, j);
            for (const std::int64_t slot : slots->of_order) out = std::copy_n(row + 2 * slot, 2, out);
        });
    }
}

void DistributedPointTransform::Implementation::unpack_orders(SampleArray::Storage& to,
                                                              std::int64_t n_fields) {
    const PointRank& own = all[rank()];
    for (std::size_t r = 0; r < all.size(); ++r)
        for_rows(own.rows, n_fields, [&](std::int64_t f, std::int64_t j) {
            const double* in = row_of(received[r], own, all[r].orders.size(), f, j);
            double* const row = to.field(f).row(j);
            for (const std::int64_t m : all[r].orders) {
                std::copy_n(in, 2, row + 2 * m);
                in += 2;
            }
        });
}

void DistributedPointTransform::Implementation::pack_rows(const SampleArray::Storage& from,
                                                          std::int64_t n_fields) {
    const PointRank& own = all[rank()];
    for (std::size_t r = 0; r < all.size(); ++r) {
        sent[r].resize(static_cast<std::size_t>(n_fields * own.n_rows()) * 2 * all[r].orders.size());
        received[r].resize(static_cast<std::size_t>(n_fields * all[r].n_rows()) * 2 * own.orders.size());
        for_rows(own.rows, n_fields, [&](std::int64_t f, std::int64_t j) {
            const double* const row = from.field(f).row(j);
            double* out = row_of(sent[r], own, all[r].orders.size(), f, j);
            for (const std::int64_t m : all[r].orders) out = std::copy_n(row + 2 * m, 2, out);
        });
    }
}

void DistributedPointTransform::Implementation::add_rows(const FieldRows& to, std::int64_t n_fields) {
    const auto n_own = all[rank()].orders.size();
    for_rows(rows, n_fields, [&](std::int64_t f, std::int64_t j) {
        double* const row = to.field(f).row(j);
        std::fill_n(row, to.stride, 0.0);
        for (std::size_t r = 0; r < all.size(); ++r) {
            if (j < all[r].rows.first || j >= all[r].rows.end) continue;
            const double* in = row_of(received[r], all[r], n_own, f, j);
            for (const std::int64_t slot : slots->of_order) {
                row[2 * slot] += in[0];
                row[2 * slot + 1] += in[1];
                in += 2;
            }
        }
    });
}

DistributedPointTransform::DistributedPointTransform(const Communicator& communicator,
                                                     std::span<const std::int64_t> orders,
                                                     View<const double, 1> theta, View<const double, 1> phi,
                                                     const PointOptions& options)
    : implementation_(std::make_unique<Implementation>(communicator, orders, theta, phi, options)) {}
DistributedPointTransform::~DistributedPointTransform() = default;
DistributedPointTransform::DistributedPointTransform(DistributedPointTransform&&) noexcept = default;
DistributedPointTransform& DistributedPointTransform::operator=(DistributedPointTransform&&) noexcept =
    default;

const Communicator& DistributedPointTransform::ranks() const {
    return implementation_->ranks;
}
const SphereSamples& DistributedPointTransform::samples() const {
    return *implementation_->samples;
}
const AlmLayout& DistributedPointTransform::layout() const {
    return *implementation_->layout;
}
std::int64_t DistributedPointTransform::n_points() const {
    return implementation_->n_points;
}

SampleRows DistributedPointTransform::rows() const {
    return implementation_->points->rows();
}

template <class T>
void DistributedPointTransform::synthesize(ConstView<std::complex<T>, 3> alm, View<T, 3> values) {
    Implementation& own = *implementation_;
    own.ranks.together(fmt::format("a synthesis at points of {} maps in {} bytes", alm.extent(0), sizeof(T)),
                       [&] { own.check(alm, values); });
    const auto& plan = own.samples->implementation();
    points::for_map_passes(own.components(), alm.extent(0), [&](std::int64_t first, std::int64_t maps) {
        const std::int64_t n_fields = maps * own.components();
        own.require_memory(n_fields);
        own.ranks.together("a synthesis of samples", [&] {
            const FieldRows rows = own.slot_rows(n_fields);
            points::alm_to_rows<T>(plan, {own.slots->tables, own.slots->orders, *own.layout},
                                   alm.slice(first, maps), rows, own.samples_of(maps).threads);
            own.pack_orders(rows, n_fields);
        });
        own.exchange();
        own.ranks.together("values of points", [&] {
            if (own.n_points == 0) return;
            SampleArray::Storage& here = own.samples_of(maps);
            own.unpack_orders(here, n_fields);
            points::rows_to_samples(here);
            own.points->interpolate<T>(*own.here, values.slice(first, maps));
        });
    });
}

template <class T>
void DistributedPointTransform::adjoint(ConstView<T, 3> values, View<std::complex<T>, 3> alm) {
    Implementation& own = *implementation_;
    own.ranks.together(fmt::format("an adjoint of {} maps at points in {} bytes", alm.extent(0), sizeof(T)),
                       [&] { own.check(alm, values); });
    const auto& plan = own.samples->implementation();
    points::for_map_passes(own.components(), alm.extent(0), [&](std::int64_t first, std::int64_t maps) {
        const std::int64_t n_fields = maps * own.components();
        own.require_memory(n_fields);
        own.ranks.together("samples of points", [&] {
            SampleArray::Storage& here = own.samples_of(maps);
            if (own.n_points > 0) {
                own.points->spread<T>(values.slice(first, maps), *own.here);
                points::samples_to_rows(here);
            }
            own.pack_rows(here, n_fields);
        });
        own.exchange();
        own.ranks.together("an adjoint of samples", [&] {
            const FieldRows rows = own.slot_rows(n_fields);
            own.add_rows(rows, n_fields);
            points::rows_to_alm<T>(plan, {own.slots->tables, own.slots->orders, *own.layout}, rows,
                                   own.samples_of(maps).threads, alm.slice(first, maps));
        });
    });
}

#define ZONAL_INSTANTIATE(T)                                                                         \
    template void DistributedPointTransform::synthesize(View<const std::complex<T>, 3>, View<T, 3>); \
    template void DistributedPointTransform::adjoint(View<const T, 3>, View<std::complex<T>, 3>);
ZONAL_INSTANTIATE(float)
ZONAL_INSTANTIATE(double)
#undef ZONAL_INSTANTIATE

}  // namespace zonal
