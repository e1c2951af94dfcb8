#include "planning/planned_kernel.hpp"

#include "planning/error_model.hpp"

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
    if (options.device.kind() == Device::Kind::cuda)  // where there are no parts of maps
        return radial::cuda_work(grids.in, kernel, options.method, options.accuracy);
    return KernelConvolutionPlan<Kernel>(grids.in, kernel, grids.out, options).work();
}

double lost(double cut, double whole) {
    return std::abs(whole) < planning::least_integral ? 0 : std::abs(cut / whole - 1);
}

/// What the request's maps are once they are convolved, summed over components.
class Power {
  public:
    explicit Power(const ConvolutionRequest& request)
        : lmax_(request.lmax),
          n_pixels_(static_cast<double>(request.grid.n_pixels())),
          is_white_(request.c_l.empty()) {}

    /// c_l: of the map; seen: on pixels, goes on with its last; both empty: white.
    void add(const std::vector<double>& window, const std::vector<double>& c_l,
             const std::vector<double>& seen) {
        const std::int64_t size = std::ssize(window);
        for (std::int64_t l = 0; l < size; ++l) {
            const auto modes = static_cast<double>(2 * l + 1);
            const double square = window[l] * window[l];
            const double power =
                modes * square * (seen.empty() ? 1 : seen[std::min(l, std::ssize(seen) - 1)]);
            kernel_ += modes * square;
            all_ += power;
            if (l <= lmax_) {
                const double c = c_l.empty() ? 1 : c_l[l];
                maps_ += modes * c;
                within_ += modes * c * square;
                squares_ += modes * c * square * c * square;
            } else {
                // (2l+1) K_l^2 of a kernel with an edge falls with l^2: all above is three times the last
                // quarter.
                beyond_ += 4 * l < 3 * size ? power : 4 * power;
            }
        }
    }

    /// last: of `seen`.
    Convolved convolved(double last) const {
        if (!(within_ > 0)) throw InvalidArgument("kernel", "leaves nothing of a map of this c_l");
        Convolved convolved{std::sqrt(beyond_ / within_), 1, within_ * within_ / squares_};
        if (is_white_) return convolved;
        convolved.noise = std::sqrt(std::max(1.0, maps_ / n_pixels_ * kernel_ / within_));
        convolved.own = std::sqrt(within_ / all_);
        convolved.last_noise = std::sqrt(last * kernel_ / within_);
        return convolved;
    }

  private:
    std::int64_t lmax_;
    double n_pixels_;
    bool is_white_;
    double within_ = 0, squares_ = 0, maps_ = 0;  ///< of the map, up to lmax
    double all_ = 0, beyond_ = 0;                 ///< on pixels
    double kernel_ = 0;
};

/// Of the error of a cut, support_of(error, is_white): by what pixels see of maps that are not white, of
/// which the cut keeps the map's own share. Above the degrees of `seen`, as of cuts that are no wider than a
/// pixel, pixels see white noise of its last, which is asked about apart.
template <class SupportOf>
double support_on_pixels(double error, const Convolved& map, bool is_white, const SupportOf& support_of) {
    if (is_white) return support_of(error, true);
    const double cut = support_of(error * map.own, false), of_noise = error / map.last_noise;
    return of_noise < 1 ? std::max(cut, support_of(of_noise, true)) : cut;
}

std::vector<double> up_to(std::int64_t lmax, std::vector<double> c_l) {
    if (!c_l.empty()) c_l.resize(static_cast<std::size_t>(lmax + 1));
    return c_l;
}

std::int64_t highest_degree(const ConvolutionRequest& request, const std::vector<double>& c_l) {
    return std::max(2 * request.lmax + 1, std::ssize(c_l) - 1);
}

class ScalarKernel final : public PlannedKernel {
  public:
    explicit ScalarKernel(const ConvolutionRequest& request)
        : request_(request), c_l_(spectra_on_pixels(request)[0]), integral_(request.kernel.window(0)[0]) {}

    Convolved convolved() const override {
        Power power(request_);
        power.add(request_.kernel.window(highest_degree(request_, c_l_)), request_.c_l, c_l_);
        return power.convolved(c_l_.empty() ? 1 : c_l_.back());
    }

    double support_for(double error, const Convolved& map) const override {
        return support_on_pixels(error, map, request_.c_l.empty(), [&](double wanted, bool is_white) {
            return support_for_error(request_.kernel, is_white ? std::vector<double>{} : c_l_, wanted,
                                     request_.grid);
        });
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

    PixelConvolutionWork work(double theta_cut, const SumGrids& grids,
                              const PixelConvolutionOptions& options) const override {
        return work_of(grids, request_.kernel.truncated(theta_cut), options);
    }

    const ConvolutionCosts& costs(const DeviceCosts& device) const override { return device.scalar; }

    int spin() const override { return 0; }
    std::vector<double> window_to_split() const override { return request_.kernel.window(request_.lmax); }
    std::vector<double> spectrum() const override { return up_to(request_.lmax, c_l_); }
    PixelConvolutionWork work_of_profile(const RadialKernel& profile, const SumGrids& grids,
                                         const PixelConvolutionOptions& options) const override {
        return work_of(grids, profile, options);
    }

  private:
    const ConvolutionRequest& request_;
    const std::vector<double> c_l_;  ///< on pixels
    const double integral_;
};

class SpinKernel final : public PlannedKernel {
  public:
    explicit SpinKernel(const ConvolutionRequest& request)
        : request_(request),
          spectra_(spectra_on_pixels(request)),
          kernel_(*request.polarization),
          lowest_(kernel_.windows(lowest)) {}

    Convolved convolved() const override {
        const auto windows = kernel_.windows(highest_degree(request_, spectra_[0]));
        Power power(request_);
        power.add(windows.gradient, request_.c_l, spectra_[0]);
        power.add(windows.curl, request_.c_bb, spectra_[1]);
        return power.convolved(spectra_[0].empty() ? 1 : std::max(spectra_[0].back(), spectra_[1].back()));
    }

    double support_for(double error, const Convolved& map) const override {
        return support_on_pixels(error, map, request_.c_l.empty(), [&](double wanted, bool is_white) {
            const std::vector<double> white;
            return support_for_error(kernel_, is_white ? white : spectra_[0], is_white ? white : spectra_[1],
                                     wanted, request_.grid);
        });
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

    PixelConvolutionWork work(double theta_cut, const SumGrids& grids,
                              const PixelConvolutionOptions& options) const override {
        return work_of(grids, kernel_.truncated(theta_cut), options);
    }

    const ConvolutionCosts& costs(const DeviceCosts& device) const override { return device.polarization; }

    int spin() const override { return 2; }
    std::vector<double> window_to_split() const override { return kernel_.windows(request_.lmax).gradient; }
    std::vector<double> spectrum() const override {
        auto sum = up_to(request_.lmax, spectra_[0]);
        for (std::size_t l = 0; l < sum.size(); ++l) sum[l] += spectra_[1][l];
        return sum;
    }
    PixelConvolutionWork work_of_profile(const RadialKernel& profile, const SumGrids& grids,
                                         const PixelConvolutionOptions& options) const override {
        return work_of(grids, PolarizationKernel::from_plus(profile), options);
    }

  private:
    static constexpr std::int64_t lowest = 2;  // the degree with which E and B begin

    const ConvolutionRequest& request_;
    const std::vector<std::vector<double>> spectra_;  ///< of E and B, on pixels
    const PolarizationKernel& kernel_;
    const SpinWindows lowest_;
};

}  // namespace

std::unique_ptr<const PlannedKernel> planned_kernel(const ConvolutionRequest& request) {
    if (request.polarization) return std::make_unique<SpinKernel>(request);
    return std::make_unique<ScalarKernel>(request);
}

}  // namespace zonal::split
