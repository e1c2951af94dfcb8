#include "planning/planned_kernel.hpp"

#include <algorithm>
#include <cmath>

#include "radial/cuda_work.hpp"
#include "zonal/error.hpp"
#include "zonal/split.hpp"

namespace zonal::split {
namespace {

template <class Kernel>
PixelConvolutionWork work_of(const SumGrids& grids, const Kernel& kernel,
                             const PixelConvolutionOptions& options) {
    if (options.device.kind() == Device::Kind::cuda)
        return radial::cuda_work(grids.in, kernel, grids.out, options.method, options.accuracy);
    return KernelConvolutionPlan<Kernel>(grids.in, kernel, grids.out, options).work();
}

class ScalarKernel final : public PlannedKernel {
  public:
    explicit ScalarKernel(const ConvolutionRequest& request) : request_(request) {}

    double support() const override { return request_.kernel.support(); }

    std::vector<double> values(const std::vector<double>& theta) const override {
        auto values = request_.kernel.profile(theta);
        for (double& value : values) value = std::abs(value);
        return values;
    }

    PixelConvolutionWork work(double theta_cut, const SumGrids& grids,
                              const PixelConvolutionOptions& options) const override {
        return work_of(grids, request_.kernel.truncated(theta_cut), options);
    }

    const ConvolutionCosts& costs(const DeviceCosts& device) const override { return device.scalar; }

    int spin() const override { return 0; }
    std::vector<double> window_to_split() const override { return request_.kernel.window(request_.lmax); }
    PixelConvolutionWork work_of_profile(const RadialKernel& profile, const SumGrids& grids,
                                         const PixelConvolutionOptions& options) const override {
        return work_of(grids, profile, options);
    }

  private:
    const ConvolutionRequest& request_;
};

class SpinKernel final : public PlannedKernel {
  public:
    explicit SpinKernel(const ConvolutionRequest& request)
        : request_(request), kernel_(*request.polarization) {}

    double support() const override { return kernel_.support(); }

    std::vector<double> values(const std::vector<double>& theta) const override {
        std::vector<double> values(theta.size());
        const auto take = [&](const RadialKernel* part, bool is_minus) {
            if (part == nullptr) return;
            const auto smooth = part->profile(theta);  // K+ / cos^4(theta/2), K- / sin^4(theta/2)
            for (std::size_t i = 0; i < theta.size(); ++i) {
                const double root = is_minus ? std::sin(theta[i] / 2) : std::cos(theta[i] / 2);
                values[i] = std::max(values[i], std::abs(smooth[i]) * std::pow(root, 4));
            }
        };
        take(kernel_.plus(), false);
        take(kernel_.minus(), true);
        return values;
    }

    PixelConvolutionWork work(double theta_cut, const SumGrids& grids,
                              const PixelConvolutionOptions& options) const override {
        return work_of(grids, kernel_.truncated(theta_cut), options);
    }

    const ConvolutionCosts& costs(const DeviceCosts& device) const override { return device.polarization; }

    int spin() const override { return 2; }
    std::vector<double> window_to_split() const override { return kernel_.windows(request_.lmax).gradient; }
    PixelConvolutionWork work_of_profile(const RadialKernel& profile, const SumGrids& grids,
                                         const PixelConvolutionOptions& options) const override {
        return work_of(grids, PolarizationKernel::from_plus(profile), options);
    }

  private:
    const ConvolutionRequest& request_;
    const PolarizationKernel& kernel_;
};

}  // namespace

std::unique_ptr<const PlannedKernel> planned_kernel(const ConvolutionRequest& request) {
    if (request.polarization) return std::make_unique<SpinKernel>(request);
    return std::make_unique<ScalarKernel>(request);
}

}  // namespace zonal::split
