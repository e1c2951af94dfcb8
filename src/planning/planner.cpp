#include "zonal/planning/planner.hpp"
#include "core/constants.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/parallel.hpp"
#include "planning/limits/error_limits.hpp"
#include "planning/planned_kernel.hpp"
#include "planning/request.hpp"
#include "planning/way_seconds.hpp"
#include "sky/sky_part.hpp"
#include "zonal/error.hpp"
#include "zonal/planning/certificate.hpp"

namespace zonal {
namespace {

using core::pi;

/// Discs of more pixels are not for the sum over pixels.
constexpr double largest_disc = 5000;

/// Ends at `cut`, rad, as a spline does.
RadialKernel as_soft_as_splines(double cut) {
    return RadialKernel::gaussian(cut / 3.2).truncated(cut);
}

class Planner {
  public:
    Planner(const ConvolutionRequest& request, const CostModel& costs, const SkyPart& part)
        : request_(request),
          kernel_(split::planned_kernel(request)),
          predictor_(request, *kernel_, part),
          limits_(request) {
        for (const auto& device : costs.devices)
            if (request.devices.empty() || std::find(request.devices.begin(), request.devices.end(),
                                                     device.device) != request.devices.end())
                devices_.push_back(&device);
        if (devices_.empty()) throw InvalidArgument("devices", "none of them is in the cost model");
        // Tables of rings. Splits are told of by themselves, and series of kernels end within some 40 MB.
        request.check_memory(sizeof(Ring) * static_cast<double>(request.grid.n_rings()), "a plan");
    }

    std::vector<ConvolutionChoice> choices() {
        add_harmonic();
        if (is_only(ConvolutionMethod::harmonic)) {
        } else if (const auto why = limits_.why_no_sums(); !why.empty()) {
            exclude_sums(why);
        } else {
            add_sums();
            if (may_be(ConvolutionMethod::split) && can_be_split(request_)) add_splits();
        }
        std::stable_sort(choices_.begin(), choices_.end(), [](const auto& a, const auto& b) {
            return std::pair(!a.excluded.empty(), a.seconds) < std::pair(!b.excluded.empty(), b.seconds);
        });
        return choices_;
    }

  private:
    /// Whether a method is to be looked at.
    bool may_be(ConvolutionMethod method) const {
        if (request_.method != ConvolutionMethod::automatic) return request_.method == method;
        return method != ConvolutionMethod::split || request_.consider_split;
    }
    bool is_only(ConvolutionMethod method) const { return request_.method == method; }

    /// Collective for maps in parts.
    void set_seconds(ConvolutionChoice& choice, const planning::WaySeconds& here) const {
        const auto slowest = predictor_.slowest(here);
        choice.seconds = slowest.all;
        choice.exchange_seconds = slowest.exchange;
    }

    void add_harmonic() {
        ConvolutionChoice choice;
        limits_.complete_harmonic(choice);
        if (!request_.consider_harmonic) choice.excluded = "was not to be considered";
        const auto lmax = choice.lmax >= 0 ? choice.lmax : request_.lmax;
        for (const auto* device : devices_) {
            choice.device = device->device;
            set_seconds(choice, predictor_.harmonic(*device, lmax, choice.iterations));
            choices_.push_back(choice);
        }
    }

    void exclude_sums(const std::string& reason) {
        for (const auto method : {ConvolutionMethod::ring_fft, ConvolutionMethod::pixel_sum}) {
            if (is_only(ConvolutionMethod::harmonic)) break;
            ConvolutionChoice choice{method, devices_[0]->device};
            choice.error = HUGE_VAL;  // there is no bound
            choice.excluded = reason;
            choices_.push_back(choice);
        }
    }

    /// The size of a pixel, rad.
    double resolution() const { return std::sqrt(4 * pi / static_cast<double>(request_.grid.n_pixels())); }

    PixelConvolutionOptions sum_options(const DeviceCosts& device, PixelMethod method, Precision precision,
                                        double accuracy) const {
        PixelConvolutionOptions options;
        options.method = method;
        options.precision = precision;
        options.accuracy = accuracy;
        options.threads = request_.threads;
        options.device = device.device;
        return options;
    }

    /// Predicts ring FFTs with the profile of a split, or one that ends as softly.
    planning::WaySeconds ring_fft_seconds(const DeviceCosts& device, Precision precision, double accuracy,
                                          const RadialKernel& profile) const {
        return predictor_.sums_of_profile(device, profile,
                                          sum_options(device, PixelMethod::ring_fft, precision, accuracy));
    }
    /// Returns about the seconds of the ring FFTs of a split that ends at `cut`. Collective for maps in
    /// parts.
    double soft_seconds(const DeviceCosts& device, double cut) const {
        const auto precision = request_.allow_single ? Precision::float32 : Precision::float64;
        return predictor_
            .slowest(ring_fft_seconds(device, precision, planning::least_accuracy_of_splits,
                                      as_soft_as_splines(cut)))
            .all;
    }

    /// Cut where the error permits; the ring FFT also where the profile has faded away to its accuracy, as a
    /// hard cut makes it sum over pixels in the polar caps.
    void add_sums() {
        for (const auto precision : {Precision::float32, Precision::float64}) {
            if (precision == Precision::float32 && !request_.allow_single) continue;
            if (may_be(ConvolutionMethod::ring_fft)) add_ring_ffts(precision);
            if (may_be(ConvolutionMethod::pixel_sum)) add_pixel_sums(precision);
        }
        for (const auto method : {ConvolutionMethod::ring_fft, ConvolutionMethod::pixel_sum})
            if (request_.method == method) explain(method);
    }

    /// Why a method that was asked for is not in the list.
    void explain(ConvolutionMethod method) {
        const bool is_there = std::any_of(choices_.begin(), choices_.end(),
                                          [&](const auto& choice) { return choice.method == method; });
        if (is_there) return;
        ConvolutionChoice choice{method, devices_[0]->device};
        choice.excluded = limits_.why_none();
        choice.error = HUGE_VAL;
        choices_.push_back(choice);
    }

    /// Discs so wide that they hold a third of the rings: where harmonic space keeps the error it is faster,
    /// and the tables of kernels that never fade away would take longer to make than its transforms.
    bool is_for_harmonic_space(double support) const {
        constexpr double widest = 1;  // rad
        return request_.method == ConvolutionMethod::automatic && support > widest &&
               choices_[0].excluded.empty();
    }

    void add_ring_ffts(Precision precision) {
        const double hard = limits_.support(precision);
        if (is_for_harmonic_space(hard)) return;
        const double faded = request_.support > 0
                                 ? hard
                                 : planning::faded_support(*kernel_, limits_.accuracy(precision), hard);
        if (faded > hard && limits_.allows(precision, faded, false))
            add_sum(ConvolutionMethod::ring_fft, precision, faded);
        if (limits_.allows(precision, hard, true)) add_sum(ConvolutionMethod::ring_fft, precision, hard);
    }

    void add_pixel_sums(Precision precision) {
        const double hard = limits_.support(precision);
        const double disc = static_cast<double>(request_.grid.n_pixels()) * (1 - std::cos(hard)) / 2;
        if (is_for_harmonic_space(hard)) return;
        if (disc > largest_disc && !is_only(ConvolutionMethod::pixel_sum)) return;
        if (limits_.allows(precision, hard, true)) add_sum(ConvolutionMethod::pixel_sum, precision, hard);
    }

    void add_sum(ConvolutionMethod method, Precision precision, double support) {
        ConvolutionChoice choice{method, Device::cpu(), precision, support, limits_.accuracy(precision)};
        limits_.judge(choice);
        const bool is_sum = method == ConvolutionMethod::pixel_sum;
        const auto way = is_sum ? PixelMethod::pixel_sum : PixelMethod::ring_fft;
        for (const auto* device : devices_) {
            choice.device = device->device;
            set_seconds(choice, predictor_.sums(*device, support,
                                                sum_options(*device, way, precision, choice.accuracy)));
            choices_.push_back(choice);
        }
    }

    double fastest() const {
        double seconds = HUGE_VAL;
        for (const auto& choice : choices_)
            if (choice.excluded.empty()) seconds = std::min(seconds, choice.seconds);
        return seconds;
    }

    /// Where the sum over pixels would take about a quarter or half of what is fastest without a split.
    std::vector<double> cuts_worth_trying(const DeviceCosts& device) const {
        std::vector<double> cuts;
        constexpr double first = 40, ratio = 2;  // pixels
        for (double cut = first * resolution(); cut < 0.5 && std::ssize(cuts) < 3; cut *= ratio) {
            const double seconds = soft_seconds(device, cut);
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
        if (!is_worth && !is_only(ConvolutionMethod::split)) return;
        const auto window = kernel_->window_to_split();
        for (const auto* device : devices_) {
            if (request_.theta_cut > 0)
                add_split(*device, window, request_.theta_cut);
            else if (is_only(ConvolutionMethod::split))
                scan_splits(*device, window);
            else
                for (const double theta_cut : cuts_worth_trying(*device))
                    add_split(*device, window, theta_cut);
        }
    }

    /// From small discs on, as long as the sum over pixels alone takes less than the best split so far.
    void scan_splits(const DeviceCosts& device, const std::vector<double>& window) {
        constexpr double first = 4;         // pixels
        constexpr double most_knots = 600;  // more take minutes
        const double end = std::min(pi, most_knots * pi / (1.5 * static_cast<double>(request_.lmax + 1)));
        double best = HUGE_VAL;
        for (double cut = first * resolution(); cut < end; cut *= 2) {
            if (soft_seconds(device, cut) >= best) break;
            if (add_split(device, window, cut)) best = std::min(best, choices_.back().seconds);
        }
    }

    /// Whether there is one.
    bool add_split(const DeviceCosts& pixels, const std::vector<double>& window, double theta_cut) {
        ConvolutionChoice choice{ConvolutionMethod::split, pixels.device, Precision::float64, theta_cut};
        if (!limits_.complete_split(choice, window)) return false;
        const auto sum =
            ring_fft_seconds(pixels, choice.precision, choice.accuracy, choice.split->profile.kernel());
        planning::WaySeconds fastest{HUGE_VAL};
        for (const auto* device : devices_) {  // one after the other on one device, side by side on two
            const auto harmonic = predictor_.harmonic(*device, choice.l_cut, 0);
            const double both = device == &pixels ? sum.all + harmonic.all : std::max(sum.all, harmonic.all);
            if (both >= fastest.all) continue;
            fastest = {both, sum.exchange + harmonic.exchange};
            choice.harmonic_device = device->device;
        }
        set_seconds(choice, fastest);
        choices_.push_back(choice);
        return true;
    }

    const ConvolutionRequest& request_;
    std::vector<const DeviceCosts*> devices_;
    std::unique_ptr<const split::PlannedKernel> kernel_;
    const planning::WayPredictor predictor_;
    planning::ErrorLimits limits_;
    std::vector<ConvolutionChoice> choices_;
};

std::vector<ConvolutionChoice> plan(const ConvolutionRequest& request, const CostModel& costs,
                                    const SkyPart& part) {
    if (costs.devices.empty()) throw InvalidArgument("costs", "no device");
    const auto complete = completed(request);
    return Planner(complete, costs, part).choices();
}

}  // namespace

std::vector<ConvolutionChoice> plan_convolution(const ConvolutionRequest& request, const CostModel& costs) {
    return plan(request, costs, WholeSky(request.grid));
}

std::vector<ConvolutionChoice> plan_convolution(const ConvolutionRequest& request, const CostModel& costs,
                                                Device device) {
    return plan_convolution(request, costs, device, WholeSky(request.grid));
}

std::vector<ConvolutionChoice> plan_convolution(ConvolutionRequest request, const CostModel& costs,
                                                Device wanted, const SkyPart& part) {
    if (costs.devices.empty()) throw InvalidArgument("costs", "no device");
    const auto device = part.device(wanted);
    request.devices.clear();
    if (device.kind() == Device::Kind::automatic) return plan(request, costs, part);
    // Costs may be those of another GPU of this machine.
    auto known = std::find_if(costs.devices.begin(), costs.devices.end(),
                              [&](const auto& one) { return one.device == device; });
    if (known == costs.devices.end())
        known = std::find_if(costs.devices.begin(), costs.devices.end(),
                             [&](const auto& one) { return one.device.kind() == device.kind(); });
    const bool is_known = known != costs.devices.end();
    request.devices = {(is_known ? *known : costs.devices.front()).device};
    const auto are_known = part.gather(is_known ? 1 : 0);
    const bool all_are_known = *std::min_element(are_known.begin(), are_known.end()) == 1;
    auto choices = plan(request, costs, part);
    for (auto& choice : choices) {
        choice.device = choice.harmonic_device = device;
        if (!all_are_known) choice.seconds = choice.exchange_seconds = 0;
    }
    return choices;
}

}  // namespace zonal
