#include "split/planned_kernel.hpp"

#include <algorithm>
#include <cmath>

#include "zonal/error.hpp"
#include "zonal/split.hpp"

namespace zonal::split {
namespace {

// Of a kernel's window: what is smaller is rounding.
constexpr double least_integral = 1e-9;

double lost(double cut, double whole) {
    return std::abs(whole) < least_integral ? 0 : std::abs(cut / whole - 1);
}

/// Variance of the convolved map up to lmax and above, summed over components.
class Power {
  public:
    explicit Power(std::int64_t lmax) : lmax_(lmax) {}

    /// c_l: up to lmax, which the map goes on with; empty: white.
    void add(const std::vector<double>& window, const std::vector<double>& c_l) {
        for (std::int64_t l = 0; l < std::ssize(window); ++l) {
            const double c = c_l.empty() ? 1 : c_l[std::min(l, lmax_)];
            (l <= lmax_ ? within_ : beyond_) += static_cast<double>(2 * l + 1) * c * window[l] * window[l];
        }
    }
    double share_beyond() const { return within_ > 0 ? std::sqrt(beyond_ / within_) : 0; }

  private:
    std::int64_t lmax_;
    double within_ = 0, beyond_ = 0;
};

class ScalarKernel final : public PlannedKernel {
  public:
    explicit ScalarKernel(const ConvolutionRequest& request)
        : request_(request), integral_(request.kernel.window(0)[0]) {}

    double beyond_lmax() const override {
        if (request_.kernel.band_limit() >= 0 && request_.kernel.band_limit() <= request_.lmax) return 0;
        Power power(request_.lmax);
        power.add(request_.kernel.window(2 * request_.lmax + 1), request_.c_l);
        return power.share_beyond();
    }

    double support_for(double error) const override {
        return support_for_error(request_.kernel, request_.c_l, error, request_.grid);
    }
    double support() const override { return request_.kernel.support(); }

    double lost_by_cut(double theta_cut) const override {
        return lost(request_.kernel.truncated(theta_cut).window(0)[0], integral_);
    }

    std::vector<double> values(const std::vector<double>& theta) const override {
        auto values = request_.kernel.profile(theta);
        for (double& value : values) value = std::abs(value);
        return values;
    }

    PixelConvolutionWork work(double theta_cut, const PixelConvolutionOptions& options) const override {
        const auto& grid = request_.grid;
        return PixelConvolutionPlan(grid, request_.kernel.truncated(theta_cut), grid, options).work();
    }

    const ConvolutionCosts& costs(const DeviceCosts& device) const override { return device.scalar; }

    int spin() const override { return 0; }
    std::vector<double> window_to_split() const override { return request_.kernel.window(request_.lmax); }
    std::vector<double> spectrum() const override { return request_.c_l; }
    PixelConvolutionWork work_of_profile(const RadialKernel& profile,
                                         const PixelConvolutionOptions& options) const override {
        return PixelConvolutionPlan(request_.grid, profile, request_.grid, options).work();
    }

  private:
    const ConvolutionRequest& request_;
    const double integral_;
};

class SpinKernel final : public PlannedKernel {
  public:
    explicit SpinKernel(const ConvolutionRequest& request)
        : request_(request), kernel_(*request.polarization), lowest_(kernel_.windows(lowest)) {}

    double beyond_lmax() const override {
        if (kernel_.band_limit() >= 0 && kernel_.band_limit() <= request_.lmax) return 0;
        const auto windows = kernel_.windows(2 * request_.lmax + 1);
        Power power(request_.lmax);
        power.add(windows.gradient, request_.c_l);
        power.add(windows.curl, request_.c_bb);
        return power.share_beyond();
    }

    double support_for(double error) const override {
        return support_for_error(kernel_, request_.c_l, request_.c_bb, error, request_.grid);
    }
    double support() const override { return kernel_.support(); }

    double lost_by_cut(double theta_cut) const override {
        const auto cut = kernel_.truncated(theta_cut).windows(lowest);
        return std::max(lost(cut.gradient[lowest], lowest_.gradient[lowest]),
                        lost(cut.curl[lowest], lowest_.curl[lowest]));
    }

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

    PixelConvolutionWork work(double theta_cut, const PixelConvolutionOptions& options) const override {
        const auto& grid = request_.grid;
        return PolarizationConvolutionPlan(grid, kernel_.truncated(theta_cut), grid, options).work();
    }

    const ConvolutionCosts& costs(const DeviceCosts& device) const override { return device.polarization; }

    int spin() const override { return 2; }
    std::vector<double> window_to_split() const override { return kernel_.windows(request_.lmax).gradient; }
    std::vector<double> spectrum() const override {
        auto sum = request_.c_l;
        for (std::size_t l = 0; l < sum.size(); ++l) sum[l] += request_.c_bb[l];
        return sum;
    }
    PixelConvolutionWork work_of_profile(const RadialKernel& profile,
                                         const PixelConvolutionOptions& options) const override {
        return PolarizationConvolutionPlan(request_.grid, PolarizationKernel::from_plus(profile),
                                           request_.grid, options)
            .work();
    }

  private:
    static constexpr std::int64_t lowest = 2;  // the degree with which E and B begin

    const ConvolutionRequest& request_;
    const PolarizationKernel& kernel_;
    const SpinWindows lowest_;
};

}  // namespace

std::unique_ptr<const PlannedKernel> planned_kernel(const ConvolutionRequest& request) {
    if (request.polarization) return std::make_unique<SpinKernel>(request);
    return std::make_unique<ScalarKernel>(request);
}

}  // namespace zonal::split

namespace zonal {

bool can_be_split(const ConvolutionRequest& request) {
    return !request.polarization || request.polarization->minus() == nullptr;
}

double split_error(const KernelSplit& split, const ConvolutionRequest& request) {
    if (!can_be_split(request))
        throw InvalidArgument("split: the windows of E and B differ, and have no splits");
    const auto kernel = split::planned_kernel(request);
    return split_error(kernel->window_to_split(), split.window,
                       split.profile.window(request.lmax, kernel->spin()), kernel->spectrum());
}

}  // namespace zonal
