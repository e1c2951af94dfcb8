#include <gmock/gmock.h>

#include "backend/cuda_helpers.cuh"
#include "zonal/planning/planner.hpp"

// Costs of a machine with a CUDA device.
namespace zonal::test {
namespace {

class CalibrationOnCuda : public OnCuda {};

void expect_costs(const TransformCost& cost) {
    EXPECT_GT(predicted_seconds(cost, TransformWork{1e9, 1e6}), 0);
}

TEST_F(CalibrationOnCuda, MeasuresTheDeviceBesideTheCpu) {
    const auto model = calibrate(8);
    EXPECT_THAT(model.fingerprint, ::testing::HasSubstr("cuda:0"));
    ASSERT_EQ(model.devices.size(), 2);
    EXPECT_EQ(model.devices[0].device, Device::cpu());
    EXPECT_EQ(model.devices[1].device, Device::cuda(0));
    const auto grid = Grid::healpix(512);
    const auto work = transform_work(grid, 1024, Device::cuda(0));
    const auto kernel = RadialKernel::gaussian(0.01).truncated(0.02);
    for (const auto& device : model.devices)
        for (const auto& costs : {device.scalar, device.polarization}) {
            expect_costs(costs.smoothing);
            expect_costs(costs.iteration);
            for (const auto method : {PixelMethod::ring_fft, PixelMethod::pixel_sum})
                for (const auto precision : {Precision::float32, Precision::float64}) {
                    PixelConvolutionOptions options;
                    options.method = method;
                    options.precision = precision;
                    const PixelConvolutionPlan plan(grid, kernel, grid, options);
                    const auto& cost = costs.pixels(method, precision);
                    EXPECT_GT(predicted_seconds(cost, plan.work(), grid.n_pixels(), 1), 0);
                }
        }
    // Eight threads are no match for a GPU.
    EXPECT_LT(predicted_seconds(model.devices[1].scalar.smoothing, work),
              predicted_seconds(model.devices[0].scalar.smoothing, work));
}

TEST_F(CalibrationOnCuda, IsNotGuessedWhereItWasNotMeasured) {
    for (const auto& costs : default_cost_model(2).devices) EXPECT_EQ(costs.device, Device::cpu());
}

TEST_F(CalibrationOnCuda, PlansForBothDevices) {
    auto costs = default_cost_model(2);
    costs.devices.push_back(costs.devices[0]);
    costs.devices[1].device = Device::cuda(0);
    // So slow that nothing is gained by transforms on the CPU while the device sums.
    for (auto* cost : {&costs.devices[0].scalar.smoothing, &costs.devices[0].scalar.iteration})
        cost->call = 1e6;
    ConvolutionRequest request;
    request.grid = Grid::healpix(64);
    request.lmax = 128;
    request.kernel = RadialKernel::gaussian(0.1);
    request.method = ConvolutionMethod::split;
    request.theta_cut = 0.3;
    request.error = 1e-4;
    const auto choices = plan_convolution(request, costs);
    int splits = 0;
    for (const auto& choice : choices)
        if (choice.method == ConvolutionMethod::split) {
            ++splits;
            EXPECT_EQ(choice.harmonic_device, Device::cuda(0));
        }
    EXPECT_EQ(splits, 2);
}

}  // namespace
}  // namespace zonal::test
