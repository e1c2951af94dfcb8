#include <cmath>
#include <functional>

#include "backend/cuda_helpers.cuh"
#include "core/cuda_transfer.cuh"
#include "zonal/analysis.hpp"
#include "zonal/sky/smoothing.hpp"

// Analysis and smoothing with everything on the device, beside the CPU's and from every kind of memory.
namespace zonal::test {
namespace {

class CudaSmoothing : public OnCuda {};
class CudaAnalysis : public OnCuda {};

constexpr std::int64_t nside = 32, lmax = 64;

template <class T>
using Maps = Array<T, 2>;

/// Fields of a few waves and some noise.
template <class T>
Maps<T> some_maps(std::int64_t n_fields) {
    const MapArray noise = random_map(Grid::healpix(nside), n_fields, 1, 11);
    Maps<T> maps({n_fields, noise.extent(2)});
    for (std::int64_t f = 0; f < n_fields; ++f)
        for (std::int64_t p = 0; p < maps.extent(1); ++p)
            maps(f, p) =
                static_cast<T>(3 + std::sin(1e-3 * static_cast<double>((f + 1) * p)) + 0.1 * noise(f, 0, p));
    return maps;
}

template <class T>
Array<T, 1> some_mask() {
    Array<T, 1> mask({12 * nside * nside});
    for (std::int64_t p = 0; p < mask.size(); ++p)
        mask(p) = p % 7 == 0 ? 0 : p < 2000 ? static_cast<T>(0.5) : 1;
    return mask;
}

struct Case {
    std::string name;
    Fields fields;
    std::int64_t n_fields;
    MaskMode mask_mode;
    bool masked, unseen, other_grid;
    double tolerance = 0;
    bool weights = false;
};

std::vector<Case> cases() {
    return {{"one map", Fields::scalars, 1, MaskMode::zero, false, false, false},
            {"IQU", Fields::iqu, 3, MaskMode::zero, false, false, false},
            {"IQU, UNSEEN", Fields::iqu, 3, MaskMode::zero, false, true, false},
            {"IQU, masked, renormalised", Fields::iqu, 3, MaskMode::renormalize, true, true, false},
            {"six maps, masked, elsewhere", Fields::scalars, 6, MaskMode::zero, true, true, true},
            {"QU, tolerance, elsewhere", Fields::qu, 2, MaskMode::zero, false, false, true, 1e-9},
            {"one map, weights", Fields::scalars, 1, MaskMode::zero, false, false, false, 0, true}};
}

template <class T>
struct Smoothed {
    Maps<T> maps;
    SmoothingReport report;
};

/// What smoothing is given, and how.
template <class T>
struct Problem {
    explicit Problem(const Case& c) : c(c), maps(some_maps<T>(c.n_fields)), mask(some_mask<T>()) {
        if (c.unseen) maps(c.n_fields - 1, 100) = maps(0, 77) = static_cast<T>(unseen_value);
        if (!c.masked) mask = {};
        options.lmax = lmax;
        options.iterations = c.tolerance > 0 ? 0 : 2;
        options.tolerance = c.tolerance;
        options.mask_mode = c.mask_mode;
        for (std::int64_t p = 0; p < grid.n_pixels(); ++p)
            pixel_weights.push_back(1 + 0.1 * std::sin(static_cast<double>(p)));
        if (!c.weights) return;
        options.pixel_weights = {pixel_weights.data(), {grid.n_pixels()}};
        options.ring_weights.assign(static_cast<std::size_t>(grid.n_rings()), 1.01);
    }

    Smoothed<T> on_host(Device device) {
        options.device = device;
        Smoothed<T> result{Maps<T>({c.n_fields, grid_out.n_pixels()}), {}};
        for (T& value : result.maps) value = 7;
        result.report = smooth<T>(grid, std::as_const(maps).view(), c.fields, std::as_const(mask).view(),
                                  beam, grid_out, result.maps.view(), options);
        return result;
    }

    const Case c;
    Maps<T> maps;
    Array<T, 1> mask;
    std::vector<double> pixel_weights;
    SmoothingOptions options;
    const Grid grid = Grid::healpix(nside);
    /// With pixels in no ring, which stay as they are.
    const Grid grid_out = c.other_grid ? Grid::gauss_legendre(40, 70).subset({3, 4, 5, 20, 30, 39}) : grid;
    const Beam beam = gaussian_beam(0.05, lmax);
};

template <class T>
void expect_same_report(const SmoothingReport& a, const SmoothingReport& b) {
    expect_same_bad_pixels(a, b);
    EXPECT_EQ(a.iterations, b.iterations);
    EXPECT_EQ(a.reached_tolerance, b.reached_tolerance);
    EXPECT_EQ(a.note, b.note);
}

TEST_F(CudaSmoothing, AgreesWithTheCpu) {
    for (const Case& c : cases()) {
        SCOPED_TRACE(c.name);
        Problem<double> problem(c);
        const auto cpu = problem.on_host(Device::cpu()), cuda = problem.on_host(Device::cuda());
        expect_same_report<double>(cpu.report, cuda.report);
        // Six transforms of values up to 4, divided by masks of 0.1 at least; the solver's own tolerance.
        const double bound = 6 * 4 * transform_rounding(lmax, 2) / 0.1 + 100 * c.tolerance;
        for (std::int64_t k = 0; k < cpu.maps.size(); ++k) {
            const double expected = cpu.maps.data()[k], found = cuda.maps.data()[k];
            if (expected == unseen_value)
                ASSERT_EQ(found, unseen_value) << k;
            else
                ASSERT_NEAR(found, expected, bound) << k;
        }
    }
}

TEST_F(CudaSmoothing, OfSinglePrecisionAgreesWithTheCpu) {
    Problem<float> problem(cases()[3]);
    const auto cpu = problem.on_host(Device::cpu()), cuda = problem.on_host(Device::cuda());
    expect_same_report<float>(cpu.report, cuda.report);
    for (std::int64_t k = 0; k < cpu.maps.size(); ++k)
        if (cpu.maps.data()[k] == static_cast<float>(unseen_value))
            ASSERT_EQ(cuda.maps.data()[k], cpu.maps.data()[k]);
        else
            ASSERT_NEAR(cuda.maps.data()[k], cpu.maps.data()[k], 4 * 10 * 0x1p-24 / 0.1);
}

template <class T, int N>
View<T, N> on_device(const core::DeviceArray<T>& memory, const Array<T, N>& host) {
    return {memory.data(), host.extents(), MemorySpace::cuda};
}

template <class T, int N>
core::DeviceArray<T> copy_of(const Array<T, N>& host) {
    return core::DeviceArray<T>(std::vector<T>(host.begin(), host.end()));
}

TEST_F(CudaSmoothing, TakesHostAndDeviceMemoryAlike) {
    for (const Case& c : cases()) {
        SCOPED_TRACE(c.name);
        Problem<double> problem(c);
        const auto expected = problem.on_host(Device::cuda());
        Maps<double> found(expected.maps.extents());
        for (double& value : found) value = 7;
        const auto maps = copy_of(problem.maps);
        const auto mask = copy_of(problem.mask);
        const auto smoothed = copy_of(found);
        const core::DeviceArray<double> weights(problem.pixel_weights);
        if (c.weights) problem.options.pixel_weights = {weights.data(), {weights.size()}, MemorySpace::cuda};
        SmoothingPlan plan(problem.grid, c.fields, problem.beam, problem.grid_out, problem.options);
        for (int run = 0; run < 2; ++run) {  // a plan serves again
            const auto report = plan.smooth<double>(
                on_device(maps, problem.maps), on_device(mask, problem.mask), on_device(smoothed, found));
            expect_same_report<double>(report, expected.report);
            core::check_cuda(
                cudaMemcpy(found.data(), smoothed.data(), smoothed.bytes(), cudaMemcpyDeviceToHost), "copy");
            EXPECT_EQ(largest_difference(found, expected.maps), 0);
        }
    }
}

TEST_F(CudaSmoothing, OfLargeMapsIsTheSameFromEveryMemory) {
    // Large enough to pass through page-locked buffers in pieces.
    const Grid grid = Grid::healpix(512);
    const MapArray noise = random_map(grid, 3, 1, 14);
    SmoothingOptions options;
    options.lmax = lmax;
    options.iterations = 0;
    options.device = Device::cuda();
    SmoothingPlan plan(grid, Fields::iqu, gaussian_beam(0.05, lmax), grid, options);
    const std::array<std::int64_t, 2> extents{3, grid.n_pixels()};
    const View<const double, 2> maps(noise.data(), extents);
    Maps<double> from_pageable(extents), from_device(extents), from_locked(extents);
    plan.smooth<double>(maps, {}, from_pageable.view());

    const core::DeviceArray<double> there(std::vector<double>(noise.begin(), noise.end()));
    const View<double, 2> view(there.data(), extents, MemorySpace::cuda);
    plan.smooth<double>(view, {}, from_device.view());
    EXPECT_EQ(largest_difference(from_device, from_pageable), 0);

    for (const bool in_place : {false, true}) {
        const core::PageLockedArray memory(noise.size() * 8);
        const View<double, 2> locked(reinterpret_cast<double*>(memory.data()), extents);
        std::copy(noise.begin(), noise.end(), locked.data());
        plan.smooth<double>(locked, {}, in_place ? locked : from_locked.view());
        if (in_place) std::copy_n(locked.data(), noise.size(), from_locked.data());
        EXPECT_EQ(largest_difference(from_locked, from_pageable), 0);
    }
    const ShtPlan cpu(grid, on(Device::cpu(), lmax, 0));
    MapArray intensity({1, 1, grid.n_pixels()});
    std::copy_n(noise.data(), intensity.size(), intensity.data());
    AlmArray smoothed = quadrature(cpu, intensity);
    apply_beam<double>(cpu.layout(), gaussian_beam(0.05, lmax), smoothed.view()[0]);
    intensity = synthesis(cpu, smoothed);
    for (std::int64_t p = 0; p < grid.n_pixels(); ++p)
        ASSERT_NEAR(from_device(0, p), intensity(0, 0, p), 2 * transform_rounding(lmax));
}

TEST_F(CudaSmoothing, WorksInPlace) {
    for (const std::size_t k : {std::size_t{1}, std::size_t{3}}) {
        Problem<double> problem(cases()[k]);
        const auto expected = problem.on_host(Device::cuda());
        SmoothingPlan plan(problem.grid, problem.c.fields, problem.beam, problem.grid, problem.options);
        plan.smooth<double>(std::as_const(problem.maps).view(), std::as_const(problem.mask).view(),
                            problem.maps.view());
        EXPECT_EQ(largest_difference(problem.maps, expected.maps), 0);
    }
}

std::string message_of(const std::function<void()>& work) {
    try {
        work();
    } catch (const InvalidArgument& error) {
        return error.what();
    }
    return "nothing was thrown";
}

TEST_F(CudaSmoothing, RejectsWhatTheCpuRejectsInTheSameWords) {
    const auto expect_same = [](const char* what, const std::function<void(Problem<double>&)>& spoil) {
        Problem<double> problem({what, Fields::iqu, 3, MaskMode::zero, true, false, false});
        spoil(problem);
        const std::string cpu = message_of([&] { problem.on_host(Device::cpu()); });
        EXPECT_NE(cpu, "nothing was thrown") << what;
        EXPECT_EQ(message_of([&] { problem.on_host(Device::cuda()); }), cpu);
    };
    expect_same("NaN", [](auto& p) { p.maps(2, 7) = p.maps(2, 5000) = std::nan(""); });
    expect_same("infinite", [](auto& p) { p.maps(0, 12287) = INFINITY; });
    expect_same("UNSEEN", [](auto& p) {
        p.maps(1, 9) = p.maps(1, 3) = unseen_value;
        p.options.mask_mode = MaskMode::error;
    });
    expect_same("masked", [](auto& p) { p.options.mask_mode = MaskMode::error; });
    expect_same("mask above 1", [](auto& p) { p.mask(4001) = p.mask(8000) = 1.5; });
    expect_same("NaN in the mask", [](auto& p) { p.mask(4001) = std::nan(""); });
    expect_same("negative weight", [](auto& p) {
        p.pixel_weights[4321] = -2;
        p.options.pixel_weights = {p.pixel_weights.data(), {p.grid.n_pixels()}};
    });
    expect_same("beam too short", [](auto& p) { p.options.lmax = lmax + 1; });
}

TEST_F(CudaAnalysis, TakesHostAndDeviceMemoryAlike) {
    const Grid grid = Grid::healpix(nside);
    std::vector<double> pixel_weights(grid.n_pixels(), 1.0);
    pixel_weights[5] = 0.5;
    for (const int spin : {0, 2})
        for (const int kind : {0, 1, 2, 3}) {
            AnalysisOptions options;
            if (kind == 1) options.iterations = 3;
            if (kind == 2) options.tolerance = 1e-9;
            if (kind == 3) options.pixel_weights = {pixel_weights.data(), {grid.n_pixels()}};
            const ShtPlan plan(grid, on(Device::cuda(), lmax, spin)),
                cpu(grid, on(Device::cpu(), lmax, spin));
            const MapArray map = random_map(grid, 3, plan.map_components(), 12);
            AlmArray expected({3, plan.alm_components(), plan.layout().size()}), found(expected.extents());
            const auto expected_report = analyze<double>(cpu, map.view(), expected.view(), options);
            const auto report = analyze<double>(plan, map.view(), found.view(), options);
            EXPECT_EQ(report.iterations, expected_report.iterations);
            EXPECT_NEAR(report.residual, expected_report.residual, 1e-6 * expected_report.residual + 1e-12);
            EXPECT_LE(scaled_difference(found, expected),
                      8 * transform_rounding(lmax, 2) + 100 * options.tolerance);

            const OnDevice<double> map_there(map);
            const OnDevice<Complex> alm_there{AlmArray(expected.extents())};
            ShtWorkspace workspace = plan.make_workspace();
            analyze<double>(plan, map_there.view(), alm_there.view(), workspace, options);
            EXPECT_EQ(largest_difference(alm_there.host(), found), 0) << spin << kind;
            // The caller's stream, and another kind of memory for each.
            const core::OwnStream stream;
            workspace.use_stream(stream.get());
            AlmArray again(expected.extents());
            analyze<double>(plan, map_there.view(), again.view(), workspace, options);
            core::check_cuda(cudaStreamSynchronize(stream.get()), "waiting");
            EXPECT_EQ(largest_difference(again, found), 0) << spin << kind;
        }
}

TEST_F(CudaAnalysis, RefusesTheCpusWorkspace) {
    const ShtPlan cpu(Grid::healpix(4), on(Device::cpu(), 8, 0)),
        cuda(Grid::healpix(4), on(Device::cuda(), 8, 0));
    const MapArray map = random_map(cpu.grid(), 1, 1, 13);
    AlmArray alm({1, 1, cpu.layout().size()});
    ShtWorkspace of_cpu = cpu.make_workspace(), of_cuda = cuda.make_workspace();
    EXPECT_THROW(analyze<double>(cuda, map.view(), alm.view(), of_cpu, {}), InvalidArgument);
    EXPECT_THROW(analyze<double>(cpu, map.view(), alm.view(), of_cuda, {}), InvalidArgument);
}

}  // namespace
}  // namespace zonal::test
