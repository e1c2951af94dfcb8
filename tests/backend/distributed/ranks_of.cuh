#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <optional>

#include "backend/cuda_helpers.cuh"
#include "backend/distributed/plan_results.cuh"
#include "distributed_helpers.hpp"

namespace zonal::test {

/// What ranks make of a sky, on devices of any kind, against what one process makes of it on the CPU.
template <class Real>
class RanksOf {
  public:
    using Complex = std::complex<Real>;

    RanksOf(const Grid& grid, const ShtOptions& options, std::int64_t n_maps)
        : grid_(grid), plan_(grid, options), weights_({grid.n_pixels()}) {
        const MapArray map = random_map(grid, n_maps, plan_.map_components(), 1);
        const AlmArray alm = random_spin_alm(plan_.layout(), n_maps, plan_.alm_components(), options.spin, 2);
        map_ = Array<Real, 3>(map.extents());
        alm_ = Array<Complex, 3>(alm.extents());
        for (std::int64_t i = 0; i < map.size(); ++i) map_.data()[i] = static_cast<Real>(map.data()[i]);
        for (std::int64_t i = 0; i < alm.size(); ++i)
            alm_.data()[i] = {static_cast<Real>(alm.data()[i].real()),
                              static_cast<Real>(alm.data()[i].imag())};
        for (std::int64_t i = 0; i < weights_.size(); ++i) weights_(i) = i % 3 == 0 ? 0.5 : 1.25;
        expected_.emplace(plan_, alm_.view(), map_.view(), weights_.view());
    }

    /// on_device: whether the transforms' arrays lie on the ranks' devices. before(communicator): what a rank
    /// does first.
    template <class Before>
    void expect_of(const Devices& devices, const std::vector<double>& speeds, ExchangeWay exchange,
                   bool on_device, const Before& before) const {
        Results<Real> found = *expected_;
        for (auto* array : arrays(found)) std::fill_n(array->data(), array->size(), Complex(-77));
        // Where there are no rings, there is nothing.
        std::fill_n(found.synthesized.data(), found.synthesized.size(), Real(0));
        std::fill_n(found.transposed.data(), found.transposed.size(), Real(0));
        const auto errors = on_ranks(devices, [&](const Communicator& ranks, Device device) {
            before(ranks);
            ShtOptions options = plan_.options();
            options.device = device;
            const DistributedPlan plan(ranks, grid_, {options, speeds, exchange});
            if (exchange != ExchangeWay::automatic) EXPECT_EQ(plan.exchange().way, exchange);
            const Parts parts{plan, plan_.layout()};
            Array<double, 1> weights({plan.local().grid().n_pixels()});
            parts.for_each_pixel([&](std::int64_t from, std::int64_t to) { weights(to) = weights_(from); });
            std::optional<core::CurrentDevice> current;
            if (on_device) current.emplace(device.index());
            Results<Real> local(plan.local(), parts.template of_alm<Complex>(alm_.view()).view(),
                                parts.template of_map<Real>(map_.view()).view(), weights.view(), on_device);
            EXPECT_EQ(local.iterations, expected_->iterations);
            collect(parts, local, found);
        });
        EXPECT_THAT(errors, ::testing::Each(""));
        compare(found);
    }
    void expect_of(const Devices& devices, const std::vector<double>& speeds = {},
                   ExchangeWay exchange = ExchangeWay::automatic, bool on_device = false) const {
        expect_of(devices, speeds, exchange, on_device, [](const Communicator&) {});
    }

  private:
    static std::array<Array<Complex, 3>*, 5> arrays(Results<Real>& of) {
        return {&of.adjoint, &of.quadrature, &of.projected, &of.iterated, &of.solved};
    }
    /// A rank's part of the whole: ranks write different elements.
    static void collect(const Parts& parts, Results<Real>& local, Results<Real>& whole) {
        const auto from = arrays(local), to = arrays(whole);
        for (std::int64_t b = 0; b < whole.adjoint.extent(0); ++b) {
            for (std::int64_t c = 0; c < whole.adjoint.extent(1); ++c)
                for (std::size_t k = 0; k < from.size(); ++k)
                    parts.for_each_coefficient([&](std::int64_t there, std::int64_t here) {
                        (*to[k])(b, c, there) = (*from[k])(b, c, here);
                    });
            for (std::int64_t c = 0; c < whole.synthesized.extent(1); ++c)
                parts.for_each_pixel([&](std::int64_t there, std::int64_t here) {
                    whole.synthesized(b, c, there) = local.synthesized(b, c, here);
                    whole.transposed(b, c, there) = local.transposed(b, c, here);
                });
        }
    }

    /// These are results of two kinds of arithmetic, which differ by twice the rounding of a transform, by
    /// the accuracy of the resampling for each of a ring's or a degree's modes (cuda_transform.cu), and by
    /// one rounding to Real. A projection has three times that, with its two transforms and the difference
    /// between; an analysis has up to seven transforms, whose errors conjugate gradients carry on as in
    /// cuda_smoothing.cu.
    void compare(Results<Real>& found) const {
        const std::int64_t lmax = plan_.options().lmax;
        const bool may_resample = grid_.n_rings() >= 1024;
        const double one = 2 * transform_rounding(lmax, plan_.options().spin) +
                           (may_resample ? 8 * plan_.options().accuracy : 0) +
                           (sizeof(Real) == 4 ? std::numeric_limits<float>::epsilon() : 0);
        EXPECT_LE(scaled_difference(found.synthesized, expected_->synthesized), one);
        EXPECT_LE(scaled_difference(found.transposed, expected_->transposed), 2 * one);
        EXPECT_LE(scaled_difference(found.adjoint, expected_->adjoint), one);
        EXPECT_LE(scaled_difference(found.quadrature, expected_->quadrature), one);
        EXPECT_LE(scaled_difference(found.projected, expected_->projected), 3 * one);
        EXPECT_LE(scaled_difference(found.iterated, expected_->iterated), 8 * one);
        EXPECT_LE(scaled_difference(found.solved, expected_->solved), 8 * one);
    }

    Grid grid_;
    ShtPlan plan_;
    Array<Real, 3> map_{{0, 0, 0}};
    Array<Complex, 3> alm_{{0, 0, 0}};
    Array<double, 1> weights_;
    std::optional<Results<Real>> expected_;
};

}  // namespace zonal::test
