#include "zonal/planning/planner.hpp"
#include "core/constants.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/parallel.hpp"
#include "planning/error_model.hpp"
#include "planning/planned_kernel.hpp"
#include "planning/request.hpp"
#include "zonal/error.hpp"
#include "zonal/planning/pixel_quadrature.hpp"
#include "zonal/split.hpp"

namespace zonal {
namespace {

using core::pi;
using planning::rounding_of_sums;
using planning::transform_rounding;

/// Discs of more pixels are not for the sum over pixels.
constexpr double largest_disc = 5000;
/// Share of the error that cutting the profile, or the window at lmax, and iterations may take. Its estimate
/// is a mean over skies and over pixels: discs of few pixels were found to be wrong by up to 1.5 times as
/// much (bench/planner.py), and single skies of which fewer modes than `enough_modes` are left may be by
/// more.
constexpr double most_of_cut = 0.5, enough_modes = 30;
/// Splits seldom cut their profiles further out, rad.
constexpr double most_split_support = 0.05;
/// Ends at `cut`, rad, as a spline does.
RadialKernel as_soft_as_splines(double cut) {
    return RadialKernel::gaussian(cut / 3.2).truncated(cut);
}

class Planner {
  public:
    Planner(const ConvolutionRequest& request, const CostModel& costs)
        : request_(request), kernel_(split::planned_kernel(request)) {
        for (const auto& device : costs.devices)
            if (request.devices.empty() || std::find(request.devices.begin(), request.devices.end(),
                                                     device.device) != request.devices.end())
                devices_.push_back(&device);
        if (devices_.empty()) throw InvalidArgument("devices: none of them is in the cost model");
        convolved_ = kernel_->convolved();
    }

    std::vector<ConvolutionChoice> choices() {
        for (const auto* device : devices_) add_harmonic(*device);
        if (const auto why = why_no_sums(); !why.empty()) {
            exclude_sums(why);
        } else {
            if (!request_.only_split) add_sums();
            if (request_.consider_split && can_be_split(request_)) add_splits();
        }
        std::stable_sort(choices_.begin(), choices_.end(), [](const auto& a, const auto& b) {
            return std::pair(!a.excluded.empty(), a.seconds) < std::pair(!b.excluded.empty(), b.seconds);
        });
        return choices_;
    }

    std::string why_not_kept(const ConvolutionChoice& choice) const {
        constexpr double rounding_of_supports = 1e-3;  // they are found to 1e-4 of themselves
        if (choice.method == ConvolutionMethod::harmonic) return why_not_harmonic(choice.iterations);
        if (auto why = why_no_sums(); !why.empty()) return why;
        if (const double most = accuracy(choice.precision); choice.accuracy > most)
            return fmt::format("accuracy = {}: must be at most {:.3g}", choice.accuracy, most);
        if (choice.method == ConvolutionMethod::split)
            return is_allowed(rounding_of_split(choice.precision)) ? "" : too_coarse;
        const double least = support() * (1 - rounding_of_supports);
        if (!(choice.support >= least))
            return fmt::format("support_rad = {}: must be at least {:.4g}", choice.support, least);
        const bool is_cut = choice.method == ConvolutionMethod::pixel_sum ||
                            choice.support < faded_support(choice.precision, support());
        return is_allowed(rounding_of(choice.precision, choice.support, is_cut)) ? "" : too_coarse;
    }

  private:
    static constexpr const char* too_coarse = "precision = float: must be double";

    bool is_continuous() const { return request_.reference == ConvolutionReference::continuous; }
    /// What sums over pixels are wrong by from the reference, whatever the kernel's cut.
    double sums_error() const {
        return is_continuous() ? std::hypot(*request_.quadrature_error, convolved_.beyond_lmax) : 0;
    }
    double cut_error() const {
        return share_of_cut() * std::sqrt(request_.error * request_.error - sums_error() * sums_error());
    }
    double share_of_cut() const { return most_of_cut * std::min(1.0, convolved_.modes / enough_modes); }

    /// Of one map through `iterations` of the analysis, with the window up to lmax.
    double harmonic_seconds(const DeviceCosts& device, std::int64_t lmax, int iterations) const {
        const auto work = transform_work(request_.grid, lmax);
        return static_cast<double>(request_.n_maps) *
               (predicted_seconds(kernel_->costs(device).smoothing, work) +
                static_cast<double>(iterations) * predicted_seconds(kernel_->costs(device).iteration, work));
    }

    void add_harmonic(const DeviceCosts& device) {
        ConvolutionChoice choice{ConvolutionMethod::harmonic, device.device};
        constexpr int most_iterations = 30;
        const double allowed = share_of_cut() * request_.error;
        while (is_continuous() && harmonic_error(choice.iterations) > allowed &&
               choice.iterations < most_iterations)
            ++choice.iterations;
        choice.seconds = harmonic_seconds(device, request_.lmax, choice.iterations);
        choice.excluded = why_not_harmonic(choice.iterations);
        choice.error = std::max(harmonic_error(choice.iterations), transform_rounding * convolved_.noise);
        choices_.push_back(choice);
    }

    /// What so many iterations leave, rounding apart.
    double harmonic_error(int iterations) const {
        if (!is_continuous()) return convolved_.beyond_lmax;
        double error = *request_.quadrature_error;
        for (int i = 0; i < iterations; ++i) error *= *request_.iteration_gain;
        return error;
    }

    std::string why_not_harmonic(int iterations) const {
        const double least = transform_rounding * convolved_.noise, allowed = share_of_cut() * request_.error;
        if (least > allowed) return fmt::format("rounding alone may be {:.0e}", least);
        if (harmonic_error(iterations) <= allowed) return "";
        return is_continuous() ? "its iterations do not reach the error"
                               : fmt::format("the kernel goes on above lmax = {}", request_.lmax);
    }

    std::string why_no_sums() const {
        if (sums_error() > request_.error / 2)
            return fmt::format("sums over these pixels are wrong by {:.1e}", sums_error());
        const double least = rounding_of_sums(Precision::float64, 0, false) * convolved_.noise;
        return is_allowed(least) ? "" : fmt::format("rounding alone may be {:.0e}", least);
    }

    void exclude_sums(const std::string& reason) {
        for (const auto method : {ConvolutionMethod::ring_fft, ConvolutionMethod::pixel_sum}) {
            ConvolutionChoice choice{method, devices_[0]->device};
            choice.error = std::hypot(sums_error(), rounding_of_sums(Precision::float64, 0, false));
            choice.excluded = reason;
            choices_.push_back(choice);
        }
    }

    /// Of a pixel, rad.
    double resolution() const { return std::sqrt(4 * pi / static_cast<double>(request_.grid.n_pixels())); }

    double rounding_of(Precision precision, double support, bool is_cut) const {
        return rounding_of_sums(precision, support / resolution(), is_cut) * convolved_.noise;
    }

    /// Whether rounding leaves most of the error to others.
    bool is_allowed(double rounding_error) const {
        const double left = request_.error * request_.error - sums_error() * sums_error();
        return 4 * rounding_error * rounding_error < left;
    }

    bool is_allowed(Precision precision, double support, bool is_cut) const {
        const bool is_wanted = request_.allow_single || precision == Precision::float64;
        return is_wanted && is_allowed(rounding_of(precision, support, is_cut));
    }

    PixelConvolutionOptions sum_options(const DeviceCosts& device, PixelMethod method,
                                        Precision precision) const {
        PixelConvolutionOptions options;
        options.method = method;
        options.precision = precision;
        options.accuracy = accuracy(precision);
        options.threads = request_.threads;
        options.device = device.device;
        return options;
    }

    double seconds_of(const PixelConvolutionWork& work, const PixelCost& cost) const {
        return predicted_seconds(cost, work, request_.grid.n_pixels(), request_.n_maps);
    }

    /// Of ring FFTs with the profile of a split, or one that ends as softly.
    double ring_fft_seconds(const DeviceCosts& device, Precision precision,
                            const RadialKernel& profile) const {
        const auto options = sum_options(device, PixelMethod::ring_fft, precision);
        return seconds_of(kernel_->work_of_profile(profile, options),
                          kernel_->costs(device).pixels(PixelMethod::ring_fft, precision));
    }

    /// Where the profile may be cut, for the error and the integral together. Of a Gaussian and white maps
    /// both are the same.
    double support() const {
        constexpr int attempts = 12;
        constexpr double share = 0.45;
        double wanted = cut_error();
        for (int i = 0; i < attempts; ++i, wanted *= share) {
            const double theta = kernel_->support_for(wanted, convolved_);
            if (wanted + kernel_->lost_by_cut(theta) <= cut_error()) return theta;
        }
        return kernel_->support();  // a tail that never ends
    }

    /// Cut where the error permits; the ring FFT also where the profile has faded away to its accuracy, as a
    /// hard cut makes it sum over pixels in the polar caps.
    void add_sums() {
        const double hard = support();
        const double disc = static_cast<double>(request_.grid.n_pixels()) * (1 - std::cos(hard)) / 2;
        for (const auto* device : devices_)
            for (const auto precision : {Precision::float32, Precision::float64}) {
                const double faded = faded_support(precision, hard);
                if (faded > hard && is_allowed(precision, faded, false))
                    add_sum(*device, ConvolutionMethod::ring_fft, precision, faded, false);
                if (!is_allowed(precision, hard, true)) continue;
                add_sum(*device, ConvolutionMethod::ring_fft, precision, hard, true);
                if (disc <= largest_disc)
                    add_sum(*device, ConvolutionMethod::pixel_sum, precision, hard, true);
            }
    }

    void add_sum(const DeviceCosts& device, ConvolutionMethod method, Precision precision, double support,
                 bool is_cut) {
        ConvolutionChoice choice{method, device.device, precision, support, accuracy(precision)};
        choice.error = std::hypot(cut_error(), sums_error(), rounding_of(precision, support, is_cut));
        const bool is_sum = method == ConvolutionMethod::pixel_sum;
        const auto way = is_sum ? PixelMethod::pixel_sum : PixelMethod::ring_fft;
        choice.seconds = seconds_of(kernel_->work(support, sum_options(device, way, precision)),
                                    kernel_->costs(device).pixels(way, precision));
        choices_.push_back(choice);
    }

    double accuracy(Precision precision) const {
        return planning::accuracy_of_sums(precision, request_.error / convolved_.noise);
    }

    /// From where on the profile is below the convolution's accuracy, of its peak; the support itself where
    /// that is not within four times of it.
    double faded_support(Precision precision, double support) const {
        constexpr int n_samples = 400;
        const double end = std::min({4 * support, kernel_->support(), pi});
        std::vector<double> theta;
        for (int i = 0; i <= n_samples; ++i) theta.push_back(end * i / n_samples);
        const auto value = kernel_->values(theta);
        const double peak = *std::max_element(value.begin(), value.end());
        int last = n_samples;
        while (last > 0 && value[last] <= 0.5 * accuracy(precision) * peak) --last;
        return last == n_samples ? support : std::max(support, theta[last + 1]);
    }

    double fastest() const {
        double seconds = HUGE_VAL;
        for (const auto& choice : choices_)
            if (choice.excluded.empty()) seconds = std::min(seconds, choice.seconds);
        return seconds;
    }

    /// Where the sum over pixels would take about a quarter or half of what is fastest without a split.
    std::vector<double> cuts_worth_trying(const DeviceCosts& device, Precision precision) const {
        std::vector<double> cuts;
        constexpr double first = 40, ratio = 2;  // pixels
        for (double cut = first * resolution(); cut < 0.5 && std::ssize(cuts) < 3; cut *= ratio) {
            const double seconds = ring_fft_seconds(device, precision, as_soft_as_splines(cut));
            if (seconds > 0.7 * fastest()) break;
            if (seconds < 0.05 * fastest()) cuts.clear();  // the next one takes next to nothing more
            cuts.push_back(cut);
        }
        return cuts;
    }

    /// A split takes planning of a second for each cut: only where that is not more than what it may save.
    void add_splits() {
        constexpr double worth_planning = 0.5;  // s
        constexpr std::int64_t least_lmax = 256;
        const bool is_worth = fastest() >= worth_planning && request_.lmax >= least_lmax;
        const auto precision = precision_of_splits();
        if (!(fit_error(precision) > 0) || !(is_worth || request_.only_split)) return;
        const auto window = kernel_->window_to_split();
        for (const auto* device : devices_) {
            if (request_.theta_cut > 0)
                add_split(*device, precision, window, request_.theta_cut);
            else if (request_.only_split)
                scan_splits(*device, precision, window);
            else
                for (const double theta_cut : cuts_worth_trying(*device, precision))
                    add_split(*device, precision, window, theta_cut);
        }
    }

    /// From small discs on, as long as the sum over pixels alone takes less than the best split so far.
    void scan_splits(const DeviceCosts& device, Precision precision, const std::vector<double>& window) {
        constexpr double first = 4;         // pixels
        constexpr double most_knots = 600;  // more take minutes
        const double end = std::min(pi, most_knots * pi / (1.5 * static_cast<double>(request_.lmax + 1)));
        double best = HUGE_VAL;
        for (double cut = first * resolution(); cut < end; cut *= 2) {
            if (ring_fft_seconds(device, precision, as_soft_as_splines(cut)) >= best) break;
            if (add_split(device, precision, window, cut)) best = std::min(best, choices_.back().seconds);
        }
    }

    /// Their sums over pixels end softly, at discs of a few degrees.
    Precision precision_of_splits() const {
        return is_allowed(Precision::float32, most_split_support, false) ? Precision::float32
                                                                         : Precision::float64;
    }

    double rounding_of_split(Precision precision) const {
        return rounding_of(precision, most_split_support, false);
    }

    /// What is left for a split's fit and leakage, half of it for each in squares.
    double fit_error(Precision precision) const {
        const double others = std::hypot(rounding_of_split(precision), convolved_.beyond_lmax);
        const double left = cut_error() * cut_error() - others * others;
        return left > 0 ? std::sqrt(left / 2) : 0;
    }

    /// Of the map's pixels above lmax: at least what white noise of the map's variance has, twice to be sure.
    /// Of maps of C_l = 1 / l^2 their true leakage was up to 1.3 times (rms) that by white noise.
    double spectrum_beyond(const std::vector<double>& c_l) const {
        if (c_l.empty()) return 0;
        double variance = 0;
        for (std::int64_t l = 0; l <= request_.lmax; ++l)
            variance += static_cast<double>(2 * l + 1) / (4 * pi) * c_l[l];
        const double white = 4 * pi / static_cast<double>(request_.grid.n_pixels()) * variance;
        return std::max(c_l.back(), 2 * white);
    }

    /// Whether there is one.
    bool add_split(const DeviceCosts& pixels, Precision precision, const std::vector<double>& window,
                   double theta_cut) {
        KernelSplitOptions options;
        options.spin = kernel_->spin();
        options.theta_cut = theta_cut;
        options.input_spectrum = kernel_->spectrum();
        options.spectrum_beyond = spectrum_beyond(options.input_spectrum);
        options.alpha = 1;  // what single precision adds is counted by itself
        options.threads = request_.threads;
        const KernelSplitter splitter(window, options);
        const auto l_cut = splitter.find_l_cut(fit_error(precision), 0);
        if (!l_cut) return false;
        const auto split = std::make_shared<const KernelSplit>(splitter.split(*l_cut));
        ConvolutionChoice choice{ConvolutionMethod::split, pixels.device, precision, theta_cut,
                                 accuracy(precision),      *l_cut};
        choice.error =
            std::hypot(std::hypot(split->quality.estimated_error, split->quality.leakage),
                       std::hypot(rounding_of_split(precision), convolved_.beyond_lmax), sums_error());
        choice.split = split;
        const double sum = ring_fft_seconds(pixels, precision, split->profile.kernel());
        choice.seconds = HUGE_VAL;
        for (const auto* device : devices_) {  // one after the other on one device, side by side on two
            const double harmonic = harmonic_seconds(*device, *l_cut, 0);
            const double both = device == &pixels ? sum + harmonic : std::max(sum, harmonic);
            if (both >= choice.seconds) continue;
            choice.seconds = both;
            choice.harmonic_device = device->device;
        }
        choices_.push_back(choice);
        return true;
    }

    const ConvolutionRequest& request_;
    std::vector<const DeviceCosts*> devices_;
    std::unique_ptr<const split::PlannedKernel> kernel_;
    split::Convolved convolved_;
    std::vector<ConvolutionChoice> choices_;
};

}  // namespace

std::vector<ConvolutionChoice> plan_convolution(const ConvolutionRequest& request, const CostModel& costs) {
    planning::check(request);
    if (costs.devices.empty()) throw InvalidArgument("costs: no device");
    const auto complete = with_quadrature(request);
    return Planner(complete, costs).choices();
}

std::vector<ConvolutionChoice> plan_convolution(ConvolutionRequest request, const CostModel& costs,
                                                Device device) {
    request.devices.clear();
    if (device.kind() == Device::Kind::automatic) return plan_convolution(request, costs);
    if (has_costs(costs, device)) {
        request.devices = {device};
        return plan_convolution(request, costs);
    }
    auto choices = plan_convolution(request, costs);
    for (auto& choice : choices) {
        choice.device = choice.harmonic_device = device;
        choice.seconds = 0;
    }
    return choices;
}

std::string why_not_kept(const ConvolutionRequest& request, const ConvolutionChoice& choice) {
    planning::check(request);
    const auto complete = with_quadrature(request);
    const DeviceCosts no_costs{choice.device, {}, {}};
    return Planner(complete, {"", {no_costs}}).why_not_kept(choice);
}

}  // namespace zonal
