#include <cmath>
#include <string>

#include "backend/cuda_helpers.cuh"
#include "core/cuda_transfer.cuh"
#include "zonal/sky/smoothing.hpp"

// Large maps in host memory, of which bands of rings are copied while the device works on others: the same as
// maps on the device, which it works on all rings of at once.
namespace zonal::test {
namespace {

struct Case {
    std::string name;
    Grid grid;
    std::int64_t lmax;
    int spin;
    double accuracy = 1e-13;
};

/// From 2^23 pixels on, unless sizes are divided. Resampled in theta, or not; with few and with many blocks
/// of the Legendre stage; with two pieces of rings in one band, or one.
std::vector<Case> cases() {
    const Grid healpix = Grid::healpix(scaled(1024));
    return {{"small", healpix, scaled(256), 0},
            {"resampled", healpix, scaled(2048), 0},
            {"polarised", healpix, scaled(2048), 2},
            {"polarised, few", healpix, scaled(700), 1},
            {"not resampled", healpix, scaled(1500), 0, 0},
            {"three-term", healpix, scaled(400), 3},
            {"gauss", Grid::gauss_legendre(scaled(2049), scaled(4097)), scaled(2047), 0},
            {"few rings", Grid::gauss_legendre(scaled(64), scaled(1 << 17)), scaled(60), 2}};
}

class CudaRingBands : public OnCuda, public ::testing::WithParamInterface<std::size_t> {
  protected:
    const Case c = cases()[GetParam()];
};
INSTANTIATE_TEST_SUITE_P(Maps, CudaRingBands, ::testing::Range<std::size_t>(0, 8),
                         [](const auto& info) { return std::to_string(info.param); });

class CudaLargeMaps : public OnCuda {};

ShtPlan plan_of(const Case& c) {
    ShtOptions options = on(Device::cuda(), c.lmax, c.spin);
    options.accuracy = c.accuracy;
    return ShtPlan(c.grid, options);
}

/// Page-locked host memory of an array's shape.
template <class T>
struct Locked {
    explicit Locked(const Array<T, 3>& from)
        : memory(from.size() * static_cast<std::int64_t>(sizeof(T))), extents(from.extents()) {
        std::copy(from.begin(), from.end(), view().data());
    }
    View<T, 3> view() const { return {reinterpret_cast<T*>(memory.data()), extents}; }
    Array<T, 3> copy() const {
        Array<T, 3> result(extents);
        std::copy_n(view().data(), result.size(), result.data());
        return result;
    }
    const core::PageLockedArray memory;
    const std::array<std::int64_t, 3> extents;
};

TEST_P(CudaRingBands, GiveTheSynthesisOfAllRings) {
    SCOPED_TRACE(c.name);
    const ShtPlan plan = plan_of(c);
    constexpr std::int64_t n_maps = 2;
    const AlmArray alm = random_spin_alm(plan.layout(), n_maps, plan.alm_components(), c.spin, 1);
    const OnDevice<Complex> alm_there(alm);
    const MapArray none({n_maps, plan.map_components(), c.grid.n_pixels()});
    const OnDevice<double> there(none);
    plan.synthesize<double>(alm_there.view(), there.view());
    const MapArray expected = there.host();

    MapArray map(none.extents());
    plan.synthesize<double>(alm.view(), map.view());
    EXPECT_LE(relative_difference(map, expected), 2 * transform_rounding(c.lmax, c.spin));
    const Locked<double> locked(none);
    for (int run = 0; run < 2; ++run) {
        plan.synthesize<double>(alm_there.view(), locked.view());
        EXPECT_EQ(largest_difference(locked.copy(), map), 0);
    }
    // One map comes and goes in parts, and several one after the other.
    const Locked<Complex> alm_locked(alm);
    for (std::int64_t b = 0; b < n_maps; ++b)
        plan.synthesize<double>(View<const Complex, 3>(alm_locked.view()).slice(b, 1),
                                locked.view().slice(b, 1));
    EXPECT_EQ(largest_difference(locked.copy(), map), 0);
}

TEST_P(CudaRingBands, GiveTheAdjointOfAllRings) {
    SCOPED_TRACE(c.name);
    const ShtPlan plan = plan_of(c);
    constexpr std::int64_t n_maps = 2;
    const MapArray map = random_map(c.grid, n_maps, plan.map_components(), 2);
    const OnDevice<double> there(map);
    const AlmArray none({n_maps, plan.alm_components(), plan.layout().size()});
    const OnDevice<Complex> alm_there(none);
    plan.quadrature<double>(there.view(), alm_there.view());
    const AlmArray expected = alm_there.host();

    AlmArray alm(none.extents());
    plan.quadrature<double>(map.view(), alm.view());
    EXPECT_LE(relative_difference(alm, expected), 2 * transform_rounding(c.lmax, c.spin));
    const Locked<double> locked(map);
    for (int run = 0; run < 2; ++run) {
        plan.quadrature<double>(View<const double, 3>(locked.view()), alm_there.view());
        EXPECT_EQ(largest_difference(alm_there.host(), alm), 0);
    }
    const Locked<Complex> alm_locked(none);
    for (std::int64_t b = 0; b < n_maps; ++b)
        plan.quadrature<double>(View<const double, 3>(locked.view()).slice(b, 1),
                                alm_locked.view().slice(b, 1));
    EXPECT_EQ(largest_difference(alm_locked.copy(), alm), 0);
}

TEST_F(CudaLargeMaps, OfSinglePrecisionGiveTheTransformsOfAllRings) {
    const Grid grid = Grid::healpix(scaled(1024));
    const ShtPlan plan(grid, on(Device::cuda(), scaled(1024), 0));
    const MapArray wide = random_map(grid, 1, 1, 3);
    Array<float, 3> map(wide.extents());
    std::copy(wide.begin(), wide.end(), map.begin());
    const OnDevice<float> there(map);
    const Array<std::complex<float>, 3> none({1, 1, plan.layout().size()});
    const OnDevice<std::complex<float>> alm_there(none);
    plan.quadrature<float>(there.view(), alm_there.view());
    Array<std::complex<float>, 3> alm(none.extents());
    plan.quadrature<float>(map.view(), alm.view());
    // Numbers that differ by rounding in double are rounded once.
    EXPECT_LE(relative_difference(alm, alm_there.host()), 0x1p-23);
    plan.synthesize<float>(alm_there.view(), there.view());
    plan.synthesize<float>(alm_there.view(), map.view());
    EXPECT_LE(relative_difference(map, there.host()), 0x1p-23);
}

/// Smoothing without iterations, from host memory and from the device's.
class CudaLargeSmoothing : public OnCuda {
  protected:
    const std::int64_t lmax = scaled(300);

    CudaLargeSmoothing() {
        options.lmax = lmax;
        options.iterations = 0;
        options.device = Device::cuda();
    }
    static View<double, 2> fields_of(View<double, 3> maps) {
        return {maps.data(), {maps.extent(0), maps.extent(2)}, maps.space()};
    }
    SmoothingReport smooth(Fields fields, View<double, 3> maps, View<double, 3> smoothed) const {
        SmoothingPlan plan(grid, fields, gaussian_beam(0.02, lmax), grid, options);
        plan.smooth<double>(fields_of(maps), {}, fields_of(smoothed));
        return plan.smooth<double>(fields_of(maps), {}, fields_of(smoothed));  // a plan serves again
    }
    static void expect_same(const SmoothingReport& a, const SmoothingReport& b) {
        expect_same_bad_pixels(a, b);
        EXPECT_EQ(a.invertible, b.invertible);
        EXPECT_EQ(a.note, b.note);
    }

    const Grid grid = Grid::healpix(scaled(1024));
    SmoothingOptions options;
};

TEST_F(CudaLargeSmoothing, IsTheSameFromEveryMemory) {
    for (const auto& [fields, n] : {std::pair{Fields::scalars, 1}, {Fields::scalars, 3}, {Fields::iqu, 3}}) {
        SCOPED_TRACE(n);
        MapArray maps = random_map(grid, n, 1, 4);
        const OnDevice<double> there(maps), smoothed_there{MapArray(maps.extents())};
        const auto expected_report = smooth(fields, there.view(), smoothed_there.view());
        const MapArray expected = smoothed_there.host();

        MapArray from_pageable(maps.extents());
        expect_same(smooth(fields, maps.view(), from_pageable.view()), expected_report);
        // Two transforms.
        EXPECT_LE(relative_difference(from_pageable, expected), 2 * 2 * transform_rounding(lmax, 2));
        const Locked<double> locked(maps), smoothed{MapArray(maps.extents())};
        expect_same(smooth(fields, locked.view(), smoothed.view()), expected_report);
        EXPECT_EQ(largest_difference(smoothed.copy(), from_pageable), 0);
        SmoothingPlan plan(grid, fields, gaussian_beam(0.02, lmax), grid, options);
        plan.smooth<double>(fields_of(locked.view()), {}, fields_of(locked.view()));
        EXPECT_EQ(largest_difference(locked.copy(), from_pageable), 0);
        // Only the results' memory is the host's, and more work comes before them.
        options.iterations = 1;
        smooth(fields, there.view(), smoothed_there.view());
        smooth(fields, there.view(), smoothed.view());
        EXPECT_LE(relative_difference(smoothed.copy(), smoothed_there.host()),
                  2 * transform_rounding(lmax, 2));
        options.iterations = 0;
    }
}

TEST_F(CudaLargeSmoothing, MasksWhatItFindsWhileItWorks) {
    for (const Fields fields : {Fields::scalars, Fields::iqu})
        for (const MaskMode mode : {MaskMode::zero, MaskMode::renormalize}) {
            options.mask_mode = mode;
            MapArray maps = random_map(grid, 3, 1, 5);
            maps(1, 0, 7) = maps(1, 0, grid.n_pixels() - 1) = maps(2, 0, grid.n_pixels() / 2) = unseen_value;
            const OnDevice<double> there(maps), smoothed_there{MapArray(maps.extents())};
            const auto expected_report = smooth(fields, there.view(), smoothed_there.view());
            EXPECT_EQ(expected_report.bad_pixels[1].unseen, 2);
            const Locked<double> locked(maps), smoothed{MapArray(maps.extents())};
            expect_same(smooth(fields, locked.view(), smoothed.view()), expected_report);
            // What is masked is smoothed on the device as a whole; I of IQU is not, and is copied in bands.
            const MapArray found = smoothed.copy(), expected = smoothed_there.host();
            const double bound = fields == Fields::iqu ? 5 * transform_rounding(lmax, 2) : 0;
            std::int64_t n_unlike = 0;
            for (std::int64_t k = 0; k < found.size(); ++k) {
                const double a = found.data()[k], b = expected.data()[k];
                if (b == unseen_value ? a != b : !(std::abs(a - b) <= bound)) ++n_unlike;
            }
            EXPECT_EQ(n_unlike, 0);
        }
}

TEST_F(CudaLargeSmoothing, RejectsBadPixelsBeforeItWritesAnything) {
    MapArray maps = random_map(grid, 2, 1, 6);
    const auto message_of = [&](View<double, 3> view, View<double, 3> smoothed) {
        try {
            smooth(Fields::scalars, view, smoothed);
        } catch (const InvalidArgument& error) {
            return std::string(error.what());
        }
        return std::string("nothing was thrown");
    };
    for (const double value : {std::nan(""), static_cast<double>(INFINITY), unseen_value}) {
        maps(1, 0, grid.n_pixels() / 3 * 2) = value;
        options.mask_mode = MaskMode::error;
        const OnDevice<double> there(maps);
        const std::string expected = message_of(there.view(), there.view());
        EXPECT_NE(expected, "nothing was thrown");
        const Locked<double> locked(maps), smoothed{MapArray(maps.extents())};
        EXPECT_EQ(message_of(locked.view(), smoothed.view()), expected);
        EXPECT_EQ(largest(smoothed.copy()), 0);
    }
}

TEST_F(CudaLargeSmoothing, ToAnotherGridAndOfSinglePrecisionIsTheSame) {
    const Grid elsewhere = Grid::gauss_legendre(scaled(2049), scaled(4098));
    const MapArray wide = random_map(grid, 1, 1, 7);
    Array<float, 2> map({1, grid.n_pixels()}), smoothed({1, elsewhere.n_pixels()});
    std::copy(wide.begin(), wide.end(), map.begin());
    const core::DeviceArray<float> there(std::vector<float>(map.begin(), map.end())),
        smoothed_there(smoothed.size());
    SmoothingPlan plan(grid, Fields::scalars, gaussian_beam(0.02, lmax), elsewhere, options);
    plan.smooth<float>(std::as_const(map).view(), {}, smoothed.view());
    plan.smooth<float>(View<const float, 2>(there.data(), map.extents(), MemorySpace::cuda), {},
                       View<float, 2>(smoothed_there.data(), smoothed.extents(), MemorySpace::cuda));
    Array<float, 2> expected(smoothed.extents());
    core::check_cuda(
        cudaMemcpy(expected.data(), smoothed_there.data(), smoothed_there.bytes(), cudaMemcpyDeviceToHost),
        "copy");
    // Coefficients are rounded between two transforms, pixels after them.
    EXPECT_LE(relative_difference(smoothed, expected), 2 * 0x1p-23);
}

}  // namespace
}  // namespace zonal::test
