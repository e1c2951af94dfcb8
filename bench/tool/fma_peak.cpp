#include "tool/fma_peak.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "core/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tool/fma_peak.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace zonal::cli::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Returns the floating point operations done; value: makes the loop count, so that it is not optimised away.
/// 12 independent chains: enough to hide a latency of 4-6 cycles on two units, few enough for 16 registers.
double multiply_add(std::int64_t steps, double& value) {
    const hn::ScalableTag<double> d;
    const auto x = hn::Set(d, 0.999999), y = hn::Set(d, 1e-9);
    // Different starts: equal ones would be computed once for all.
    auto start = [&](double k) HWY_ATTR { return hn::Set(d, k); };
    auto a0 = start(0), a1 = start(1), a2 = start(2), a3 = start(3), a4 = start(4), a5 = start(5);
    auto a6 = start(6), a7 = start(7), a8 = start(8), a9 = start(9), a10 = start(10), a11 = start(11);
    for (std::int64_t step = 0; step < steps; ++step) {
        a0 = hn::MulAdd(a0, x, y);
        a1 = hn::MulAdd(a1, x, y);
        a2 = hn::MulAdd(a2, x, y);
        a3 = hn::MulAdd(a3, x, y);
        a4 = hn::MulAdd(a4, x, y);
        a5 = hn::MulAdd(a5, x, y);
        a6 = hn::MulAdd(a6, x, y);
        a7 = hn::MulAdd(a7, x, y);
        a8 = hn::MulAdd(a8, x, y);
        a9 = hn::MulAdd(a9, x, y);
        a10 = hn::MulAdd(a10, x, y);
        a11 = hn::MulAdd(a11, x, y);
    }
    const auto sum = hn::Add(
        hn::Add(hn::Add(a0, a1), hn::Add(a2, a3)),
        hn::Add(hn::Add(hn::Add(a4, a5), hn::Add(a6, a7)), hn::Add(hn::Add(a8, a9), hn::Add(a10, a11))));
    value = hn::GetLane(hn::SumOfLanes(d, sum));
    return 2.0 * 12 * static_cast<double>(hn::Lanes(d)) * static_cast<double>(steps);
}

}  // namespace zonal::cli::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace zonal::cli {
namespace {

HWY_EXPORT(multiply_add);

constexpr std::int64_t steps_per_run = 4'000'000;  // about 10 ms a run
constexpr int runs = 8;

double best_rate_of_thread() {
    double best = 0;
    for (int run = 0; run < runs; ++run) {
        const auto start = std::chrono::steady_clock::now();
        double value = 0;
        const double flops = HWY_DYNAMIC_DISPATCH(multiply_add)(steps_per_run, value);
        const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
        if (value > 0) best = std::max(best, flops / elapsed.count());
    }
    return best;
}

}  // namespace

double measured_fma_flops(int threads) {
    std::vector<double> rates(static_cast<std::size_t>(threads));
    {
        std::vector<std::jthread> pool;
        pool.reserve(rates.size());
        for (auto& rate : rates) pool.emplace_back([&rate] { rate = best_rate_of_thread(); });
    }
    double sum = 0;
    for (const double rate : rates) sum += rate;
    return sum;
}

}  // namespace zonal::cli

#endif
