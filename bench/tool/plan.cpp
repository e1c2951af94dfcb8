#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "commands/plan.hpp"
#include "options/common_options.hpp"
#include "options/options.hpp"
#include "shell/interrupt.hpp"
#include "shell/timing.hpp"
#include "tool/plan_sample.hpp"
#include "tool/subcommands.hpp"
#include "zonal/memory.hpp"
#include "zonal/planning/convolution_plan.hpp"

namespace zonal::cli {
namespace {

/// What one way took and was wrong by.
struct Measured {
    double plan_seconds = HUGE_VAL, seconds = HUGE_VAL;
    ConvolutionError error;
};

/// The best of some runs after one that warms up, more of short ones; that one alone where it says that
/// others are far faster.
double best_beside(double fastest, const std::function<void()>& work) {
    constexpr double little = 0.1, enough = 0.4, long_run = 0.4, hopeless = 2;  // s, s, s, times
    double best = seconds_of(work), all = 0;
    if (best > long_run && best > hopeless * fastest) return best;
    for (int run = 0; run < 30 && (all < little || (run < 7 && all < enough)); ++run) {
        const double seconds = seconds_of(work);
        best = std::min(best, seconds);
        all += seconds;
    }
    return best;
}

template <class T>
void measure(const ConvolutionRequest& request, const ConvolutionChoice& choice, const Sample& sample,
             double fastest, Measured& measured) {
    const auto size = std::ssize(sample.map), n_pixels = request.grid.n_pixels();
    const View<double, 2>::Extents extents{request.n_maps * size / n_pixels, n_pixels};
    Array<T, 2> maps(extents), convolved(extents);
    // Times do not depend on the values: the same sky, ever brighter.
    for (std::int64_t map = 0; map < request.n_maps; ++map)
        for (std::int64_t i = 0; i < size; ++i)
            maps.data()[map * size + i] = static_cast<T>(static_cast<double>(map + 1) * sample.map[i]);
    std::optional<ConvolutionPlan> plan;
    const double planning = seconds_of([&] { plan.emplace(request, choice); });
    const double seconds =
        best_beside(fastest, [&] { plan->convolve<T>(std::as_const(maps).view(), convolved.view()); });
    measured.plan_seconds = std::min(measured.plan_seconds, planning);
    measured.seconds = std::min(measured.seconds, seconds);
    measured.error = error_of<T>(request.grid, View<const T, 1>(convolved.data(), {size}), sample.reference);
}

/// Two rounds, the second in the reverse order, so that a disturbance does not hit the same way twice.
class Measurement {
  public:
    Measurement(const ConvolutionRequest& request, const std::vector<ConvolutionChoice>& choices,
                const Sample& sample)
        : request_(request), choices_(choices), sample_(sample), results_(choices.size()) {}

    void run(const Progress& bar) {
        const auto count = std::ssize(choices_);
        for (std::int64_t step = 0; step < 2 * count; ++step) {
            measure_one(step < count ? step : 2 * count - 1 - step);
            bar(static_cast<double>(step + 1) / static_cast<double>(2 * count));
            stop_if_interrupted();
        }
    }
    /// Whether it would take long although others are known to be far faster.
    bool is_left_out(std::int64_t i) const {
        constexpr double long_run = 1, hopeless = 20;  // s, times
        const double predicted = choices_[i].seconds;
        return results_[i].seconds == HUGE_VAL && predicted > long_run && predicted > hopeless * fastest_;
    }
    const std::vector<Measured>& results() const { return results_; }
    double fastest() const { return fastest_; }

  private:
    void measure_one(std::int64_t i) {
        constexpr double hopeless = 2;
        const auto& choice = choices_[i];
        const bool is_slow = results_[i].seconds < HUGE_VAL && results_[i].seconds > hopeless * fastest_;
        if (!choice.excluded.empty() || is_left_out(i) || is_slow) return;
        if (choice.precision == Precision::float32)
            measure<float>(request_, choice, sample_, fastest_, results_[i]);
        else
            measure<double>(request_, choice, sample_, fastest_, results_[i]);
        fastest_ = std::min(fastest_, results_[i].seconds);
    }

    const ConvolutionRequest& request_;
    const std::vector<ConvolutionChoice>& choices_;
    const Sample& sample_;
    std::vector<Measured> results_;
    double fastest_ = HUGE_VAL;
};

/// Convolves random maps of the request's spectrum by every way that may be taken, and adds to the report's
/// "choices" what they took and were wrong by beside what was predicted, and under "measured" how much longer
/// the first of them took than the fastest, and its error and the largest over the one that was asked for.
/// Ways that are predicted to take more than a second and 20 times as long as the fastest are left out
/// ("not_measured"). Throws IoError where the memory is too small.
void measure_choices(const ConvolutionRequest& request, const std::vector<ConvolutionChoice>& choices,
                     std::int64_t seed, Session& session) {
    const auto n_pixels = static_cast<double>(request.grid.n_pixels());
    // Maps of a way, and what it works in; the sample, its reference and their alm.
    const double components = request.polarization ? 2 : 1;
    require_memory(
        components * n_pixels * (48 * static_cast<double>(request.n_maps) + 64),
        fmt::format("{} map{} of {}", request.n_maps, request.n_maps == 1 ? "" : "s", request.grid.name()));
    const auto sample = make_sample(request, static_cast<std::uint64_t>(seed));
    Measurement measurement(request, choices, sample);
    measurement.run(session.progress("measure"));
    double worst = 0;
    for (std::size_t i = 0; i < choices.size(); ++i) {
        if (!choices[i].excluded.empty()) continue;
        const auto& result = measurement.results()[i];
        auto& row = session.report["choices"][i];
        if (measurement.is_left_out(static_cast<std::int64_t>(i))) {
            row["not_measured"] = "predicted to take 20 times as long as the fastest";
            continue;
        }
        row["measured_plan_seconds"] = result.plan_seconds;
        row["measured_seconds"] = result.seconds;
        row["measured_error"] = result.error.rms;
        row["measured_largest_error"] = result.error.maximum;
        worst = std::max(worst, result.error.rms);
    }
    session.report["measured"] = {
        {"map", sample.description},
        {"reference_is", sample.reference.description},
        {"chosen_over_fastest", measurement.results()[0].seconds / measurement.fastest()},
        {"chosen_error_over_wanted", measurement.results()[0].error.rms / request.error},
        {"largest_error_over_wanted", worst / request.error}};
}

}  // namespace

void add_bench_plan(CLI::App& root, Session& session, Action& action) {
    auto& app = add_subcommand(root, session, "plan",
                               "Does what zonal plan does, convolves random maps in all of the ways that it "
                               "lists, and reports times and "
                               "errors beside the predicted ones.",
                               "zonal-bench plan --nside 256 --lmax 512 --fwhm 1deg --error 1e-4");
    const auto seed = std::make_shared<std::int64_t>(1);
    declare_plan(app, action, [seed](const auto& request, const auto& choices, Session& session) {
        measure_choices(request, choices, *seed, session);
    });
    OptionGroup(app, "Convolution")
        .integer("--seed", *seed, {0, std::int64_t{1} << 62}, "of the random maps", "1");
}

}  // namespace zonal::cli
