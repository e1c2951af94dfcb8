#include <algorithm>

#include "sht/legendre/ishioka_math.hpp"
#include "sht/legendre/legendre_cuda.cuh"

namespace zonal::sht::cuda {
namespace {

/// One thread per order.
__global__ void alpha_kernel(std::int64_t mmax, const std::int64_t* first_step, double* alpha) {
    const std::int64_t m = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (m <= mmax) write_alpha(m, first_step[m + 1] - first_step[m], alpha + first_step[m]);
}

std::vector<std::int64_t> orders_of(const AlmLayout& layout) {
    std::vector<std::int64_t> orders;
    for (std::int64_t k = 0; k < layout.n_orders(); ++k) orders.push_back(layout.order(k));
    return orders;
}

std::vector<std::int64_t> joined(const std::vector<std::vector<std::int64_t>>& runs) {
    std::vector<std::int64_t> all;
    for (const auto& run : runs) all.insert(all.end(), run.begin(), run.end());
    return all;
}

/// Where degree 0 of each order m = 0..mmax would lie; 0 for orders that are not there.
std::vector<std::int64_t> origins_of(const AlmLayout& layout) {
    std::vector<std::int64_t> origins(static_cast<std::size_t>(layout.mmax() + 1));
    for (std::int64_t k = 0; k < layout.n_orders(); ++k) {
        const std::int64_t m = layout.order(k);
        origins[static_cast<std::size_t>(m)] = layout.offset(m);
    }
    return origins;
}

/// The same orders, with degrees up to lmax + spin.
AlmLayout rows_of(const AlmLayout& alm, int spin) {
    if (alm.has_all_orders()) return {alm.lmax() + spin, alm.mmax()};
    return {alm.lmax() + spin, alm.mmax(), orders_of(alm)};
}

/// Pairs [begin, end).
struct PairsOfKind {
    std::int64_t begin, end;
    std::int64_t count() const { return std::max<std::int64_t>(0, end - begin); }
};

/// Jobs of at most `tile` pairs of each range that order m reaches; cut from the end, as the pairs there
/// have most to do. The last two share what is left evenly, but for whole `grain`s. length(m): doubles of an
/// adjoint's sums.
template <class FirstPair, class Length>
JobList make_jobs(const AlmLayout& alm, const std::vector<PairsOfKind>& ranges, std::int64_t tile,
                  std::int64_t grain, const FirstPair& first_pair, const Length& length) {
    JobList list;
    list.tile = tile;
    std::vector<LegendreJob>& jobs = list.host_jobs;
    std::vector<std::int64_t>& first_job = list.first_job.front();
    std::vector<std::int64_t> first_sum(static_cast<std::size_t>(alm.mmax() + 1));
    std::vector<std::int32_t> n_tiles(static_cast<std::size_t>(alm.mmax() + 1));
    for (std::int64_t number = 0; number < alm.n_orders(); ++number) {
        const std::int64_t m = alm.order(number);
        first_sum[m] = list.n_sums;
        list.first_sum_of_order.push_back(list.n_sums);
        first_job.push_back(static_cast<std::int64_t>(jobs.size()));
        if (length(m) == 0) continue;
        for (const PairsOfKind& pairs : ranges) {
            const std::int64_t active = std::max(pairs.begin, first_pair(m));
            for (std::int64_t last = pairs.end, size = 0; last > active; last -= size) {
                const std::int64_t left = last - active;
                const bool two = left > tile && left <= 2 * tile;
                size = two ? ((left + 1) / 2 + grain - 1) / grain * grain : std::min(tile, left);
                jobs.push_back({static_cast<std::int32_t>(m), static_cast<std::int32_t>(last - size),
                                static_cast<std::int32_t>(last), list.n_sums});
                list.n_sums += length(m);
                ++n_tiles[m];
            }
        }
    }
    first_job.push_back(static_cast<std::int64_t>(jobs.size()));
    list.first_sum_of_order.push_back(list.n_sums);
    list.jobs = core::DeviceArray<LegendreJob>(jobs);
    list.first_sum = core::DeviceArray<std::int64_t>(first_sum);
    list.n_tiles = core::DeviceArray<std::int32_t>(n_tiles);
    return list;
}

std::vector<double> scalar_factors(const RingPairs& rings, int spin) {
    std::vector<double> factors(rings.sin_theta.size(), 1);
    for (std::size_t pair = 0; pair < factors.size(); ++pair)
        for (int k = 0; k < spin; ++k) factors[pair] /= rings.sin_theta[pair];
    return factors;
}

/// As in LegendreView::spin_steps.
std::vector<double> spin_weights(const LegendreTable& table) {
    const std::int64_t length = table.layout.lmax() + table.spin + 3;
    std::vector<double> all;
    for (const SpinStep& step : table.steps)
        for (const double* weights : {step.below(-1), step.above(-1), step.across(-1)})
            all.insert(all.end(), weights, weights + length);
    return all;
}

LogView view_of(const core::DeviceArray<double>& high, const core::DeviceArray<double>& low) {
    return {high.data(), low.data()};
}

}  // namespace

void JobList::cut(const std::vector<JobBand>& bands) {
    std::vector<LegendreJob> all = host_jobs;
    first_job.resize(1);
    for (const JobBand& band : bands) {
        std::vector<std::int64_t> first;
        for (std::size_t order = 0; order < first_job[0].size(); ++order) {
            first.push_back(static_cast<std::int64_t>(all.size()));
            if (order + 1 == first_job[0].size()) break;
            for (std::int64_t k = first_job[0][order]; k < first_job[0][order + 1]; ++k)
                if (band.above < host_jobs[k].end && host_jobs[k].end <= band.last)
                    all.push_back(host_jobs[k]);
        }
        first_job.push_back(std::move(first));
    }
    jobs = core::DeviceArray<LegendreJob>(all);
}

FourierLayout::FourierLayout(const RingPairs& rings, const AlmLayout& alm)
    : FourierLayout(rings, alm.mmax(), orders_of(alm)) {}

FourierLayout::FourierLayout(const RingPairs& rings, std::int64_t mmax,
                             const std::vector<std::vector<std::int64_t>>& runs)
    : FourierLayout(rings, mmax, joined(runs)) {}

FourierLayout::FourierLayout(const RingPairs& rings, std::int64_t mmax,
                             const std::vector<std::int64_t>& placed)
    : n_pairs_(rings.n_pairs()), first_pair_(static_cast<std::size_t>(mmax + 1), n_pairs_) {
    std::vector<std::int64_t> origin(first_pair_.size()), orders = placed;
    for (const std::int64_t m : placed) {
        const auto block = std::lower_bound(rings.last_m.begin(), rings.last_m.end(), m);
        first_pair_[m] = std::min(n_pairs_, block_size * (block - rings.last_m.begin()));
        origin[m] = size_ - first_pair_[m];
        size_ += n_pairs_ - first_pair_[m];
    }
    std::sort(orders.begin(), orders.end());
    device_orders_ = core::DeviceArray<std::int64_t>(orders);
    device_origin_ = core::DeviceArray<std::int64_t>(origin);
    device_first_pair_ = core::DeviceArray<std::int64_t>(first_pair_);
}

LegendreStage::LegendreStage(const RingPairs& rings, const LegendreTable& table)
    : tiles_(table.layout.lmax(), core::device_limits().shared_memory_per_block),
      alm_(table.layout),
      layout_(rings, alm_),
      cos_theta_(rings.cos_theta),
      cos2_theta_(rings.cos2_theta),
      h_(rings.h),
      scalar_factor_(scalar_factors(rings, table.spin)) {
    const std::int64_t lmax = alm_.lmax(), mmax = alm_.mmax();
    const LogTable* logs[5] = {&rings.log2_sin, &rings.log2_cos_half, &rings.log2_sin_half,
                               &table.log2_scalar, &table.log2_wigner};
    for (int k = 0; k < 5; ++k) {
        logs_[2 * k] = core::DeviceArray<double>(logs[k]->high);
        logs_[2 * k + 1] = core::DeviceArray<double>(logs[k]->low);
    }
    const auto first_pair = [&](std::int64_t m) { return layout_.first_pair(m); };
    const std::int64_t n_pairs = layout_.n_pairs();
    const std::int64_t end_polar = std::min(n_pairs, block_size * rings.end_polar);
    const std::int64_t first_scalar = table.spin > most_spin_steps
                                          ? n_pairs
                                          : std::clamp(block_size * rings.first_scalar, end_polar, n_pairs);
    const std::int64_t equatorial = std::clamp(block_size * rings.first_equatorial, first_scalar, n_pairs);
    const std::vector<PairsOfKind> scalar{{first_scalar, equatorial}};
    std::vector<std::int64_t> first_step{0};
    for (std::int64_t m = 0, number = 0; m <= mmax; ++m) {
        first_step.push_back(first_step.back());
        if (number == alm_.n_orders() || alm_.order(number) != m) continue;  // another rank has it
        ++number;
        const std::int64_t used = (lmax + table.spin - m) / 2 + 1;
        first_step.back() += (used + step_group - 1) / step_group * step_group;
    }
    n_steps_ = first_step.back();
    first_step_ = core::DeviceArray<std::int64_t>(first_step);
    const AlmLayout rows = rows_of(alm_, table.spin);
    alm_origin_ = core::DeviceArray<std::int64_t>(origins_of(alm_));
    row_origin_ = core::DeviceArray<std::int64_t>(origins_of(rows));

    const auto step_sums = [&](std::int64_t m) {
        return sums_per_step * (first_step[m + 1] - first_step[m]);
    };
    const auto degree_sums = [&](std::int64_t m) {
        const std::int64_t used = std::max<std::int64_t>(0, lmax - std::max<std::int64_t>(m, table.spin) + 1);
        return table.components * sums_per_degree * ((used + degree_group - 1) / degree_group * degree_group);
    };
    ishioka_ = make_jobs(alm_, scalar, tiles_.adjoint(), tiles_.adjoint_grain(), first_pair, step_sums);
    ishioka_synthesis_ = make_jobs(alm_, scalar, tiles_.synthesis, tiles_.synthesis, first_pair, step_sums);
    const auto jacobi_jobs = [&](const std::vector<PairsOfKind>& ranges) {
        std::int64_t most = 0;
        for (const PairsOfKind& pairs : ranges) most = std::max(most, pairs.count());
        const std::int64_t tile = most <= Tiles::small_jacobi ? Tiles::small_jacobi : tiles_.jacobi;
        return make_jobs(alm_, ranges, tile, tile, first_pair, degree_sums);
    };
    polar_ = jacobi_jobs({{0, end_polar}});
    equatorial_ = jacobi_jobs({{end_polar, first_scalar}, {equatorial, n_pairs}});

    view_ = {lmax,
             mmax,
             table.spin,
             table.components,
             cos_theta_.data(),
             cos2_theta_.data(),
             h_.data(),
             scalar_factor_.data(),
             view_of(logs_[0], logs_[1]),
             view_of(logs_[2], logs_[3]),
             view_of(logs_[4], logs_[5]),
             view_of(logs_[6], logs_[7]),
             view_of(logs_[8], logs_[9]),
             layout_.orders(),
             alm_origin_.data(),
             row_origin_.data(),
             rows.size(),
             nullptr,
             first_step_.data(),
             nullptr,
             layout_.origin()};
    if (equatorial > first_scalar) {
        spin_steps_ = core::DeviceArray<double>(spin_weights(table));
        view_.spin_steps = spin_steps_.data();
        alpha_ = core::DeviceArray<double>(n_steps_);
        alpha_kernel<<<static_cast<unsigned>(mmax / 64 + 1), 64>>>(mmax, first_step_.data(), alpha_.data());
        core::check_launch("recurrence coefficients");
        core::check_cuda(cudaDeviceSynchronize(), "recurrence coefficients");
        view_.alpha = alpha_.data();
    }
}

void LegendreStage::cut(const std::vector<JobBand>& bands) {
    for (JobList* list : {&ishioka_, &ishioka_synthesis_, &polar_, &equatorial_}) list->cut(bands);
}

}  // namespace zonal::sht::cuda
