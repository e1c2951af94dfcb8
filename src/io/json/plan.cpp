#include "zonal/io/plan.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "io/json/json_field.hpp"
#include "zonal/error.hpp"
#include "zonal/io/atomic_file.hpp"

namespace zonal::io {
namespace {

/// Raised with every change of what a file must have: older ones are not read.
constexpr int plan_version = 4;

// What plans have been made with: errors and iterations that the tool takes, and ConvolutionChoice::accuracy,
// a hundredth of the error but not below what each precision reaches.
constexpr std::int64_t most_degrees = 1'000'000;
constexpr double largest_gain = 1e9;
constexpr double least_error = 1e-13, largest_error = 0.5;
constexpr std::int64_t most_iterations = 1000;
constexpr double share_of_accuracy = 0.01, least_accuracy = 1e-12, single_accuracy = 3e-8,
                 most_accuracy = 1e-5;
constexpr std::int64_t most_maps = 1'000'000'000;
constexpr double least_support = 1e-9;  // rad: a pixel of any grid is larger

Json json_of(const KernelSplit& split) {
    return {{"estimated_error", split.quality.estimated_error},
            {"amplification", split.quality.amplification},
            {"leakage", split.quality.leakage},
            {"rank", split.quality.rank},
            {"actual_error", split.actual_error},
            {"window", split.window},
            {"knots_rad", split.profile.knots()},
            {"coefficients_per_sr", split.profile.coefficients()}};
}

/// As SplineProfile takes them.
void check_knots(const JsonField& field, const std::vector<double>& knots) {
    constexpr std::size_t least = 8;
    if (knots.size() < least) field.reject(fmt::format("have at least {} values", least));
    if (knots[0] != 0) field.elements()[0].reject("be 0");
    for (std::size_t k = 1; k < knots.size(); ++k)
        if (!(knots[k] > knots[k - 1])) field.elements()[k].reject("be above the one before");
    if (!(knots.back() <= std::numbers::pi)) field.elements().back().reject("be at most pi");
}

std::shared_ptr<const KernelSplit> split_of(const JsonField& field, std::int64_t l_cut, double error,
                                            int spin) {
    const auto knots_field = field.at("knots_rad");
    const auto knots = knots_field.numbers();
    check_knots(knots_field, knots);
    const auto coefficients = field.at("coefficients_per_sr").numbers(knots.size() - 3);
    const auto any = [&](const char* key) { return field.at(key).number(0, HUGE_VAL); };
    const auto rank = static_cast<int>(field.at("rank").integer(0, std::ssize(coefficients)));
    return std::make_shared<const KernelSplit>(
        KernelSplit{{l_cut, any("estimated_error"), any("amplification"), any("leakage"), rank},
                    field.at("window").numbers(l_cut + 1),
                    SplineProfile(knots, coefficients),
                    {},
                    field.at("actual_error").number(0, error),
                    spin});
}

Json json_of(const ConvolutionChoice& choice) {
    Json json = {{"method", zonal::to_string(choice.method)},
                 {"device", zonal::to_string(choice.device)},
                 {"precision", choice.precision == zonal::Precision::float32 ? "float" : "double"},
                 {"support_rad", choice.support},
                 {"accuracy", choice.accuracy},
                 {"lmax", choice.lmax},
                 {"iterations", choice.iterations},
                 {"tolerance", choice.tolerance},
                 {"predicted_seconds", choice.seconds},
                 {"predicted_error", choice.error}};
    if (choice.split == nullptr) return json;
    json["l_cut"] = choice.l_cut;
    json["harmonic_device"] = zonal::to_string(choice.harmonic_device);
    json["split"] = json_of(*choice.split);
    return json;
}

/// The value of that name.
template <class Enum>
Enum one_of(const JsonField& field, const std::vector<Enum>& values,
            const std::function<std::string(Enum)>& name) {
    const auto text = field.text();
    std::string known;
    for (const auto value : values) {
        if (name(value) == text) return value;
        known += (known.empty() ? "" : ", ") + name(value);
    }
    field.reject("be one of " + known);
}

/// Of sums over pixels; in harmonic space there is neither. error: the plan's.
void read_cut(const JsonField& field, double error, ConvolutionChoice& choice) {
    const bool is_sum = choice.method != ConvolutionMethod::harmonic;
    const double most = std::clamp(share_of_accuracy * error, single_accuracy, most_accuracy);
    choice.support =
        field.at("support_rad").number(is_sum ? least_support : 0, is_sum ? std::numbers::pi : 0);
    choice.accuracy = field.at("accuracy").number(is_sum ? least_accuracy : 0, is_sum ? most : 0);
}

/// error, lmax, spin: the plan's.
ConvolutionChoice choice_of(const JsonField& field, double error, std::int64_t lmax, int spin) {
    using enum ConvolutionMethod;
    ConvolutionChoice choice;
    choice.method =
        one_of<ConvolutionMethod>(field.at("method"), {pixel_sum, ring_fft, harmonic, split},
                                  [](ConvolutionMethod method) { return zonal::to_string(method); });
    choice.device = field.at("device").device();
    choice.precision = one_of<zonal::Precision>(
        field.at("precision"), {zonal::Precision::float32, zonal::Precision::float64},
        [](zonal::Precision precision) {
            return precision == zonal::Precision::float32 ? "float" : "double";
        });
    read_cut(field, error, choice);
    choice.iterations = static_cast<int>(field.at("iterations").integer(0, most_iterations));
    choice.lmax = field.at("lmax").integer(-1, most_degrees);
    choice.tolerance = field.at("tolerance").number(0, 1);
    choice.seconds = field.at("predicted_seconds").number(0, HUGE_VAL);
    choice.error = field.at("predicted_error").number(0, error);
    if (choice.method != split) return choice;
    choice.l_cut = field.at("l_cut").integer(0, std::max<std::int64_t>(0, lmax - 1));
    choice.harmonic_device = field.at("harmonic_device").device();
    choice.split = split_of(field.at("split"), choice.l_cut, error, spin);
    if (const double end = choice.split->profile.support(); choice.support != end)
        field.at("support_rad").reject(fmt::format("be {}, the last of split.knots_rad", end));
    return choice;
}

/// A spectrum up to lmax, or an empty one: white.
std::vector<double> spectrum_of(const JsonField& field, std::int64_t lmax) {
    return field.elements().empty() ? std::vector<double>{} : field.numbers(lmax + 1);
}

}  // namespace

void write_plan(const std::string& path, const SavedPlan& plan, bool overwrite) {
    const Json json = {{"zonal_plan", plan_version},
                       {"machine", plan.machine},
                       {"costs", plan.costs},
                       {"grid", plan.grid},
                       {"lmax", plan.lmax},
                       {"spin", plan.spin},
                       {"kernel", {{"name", plan.kernel}, {"profile_per_sr", plan.profile}}},
                       {"c_l", plan.c_l},
                       {"c_bb", plan.c_bb},
                       {"error_bound", plan.error},
                       {"gain", plan.gain.value_or(0)},
                       {"reference", to_string(plan.reference)},
                       {"n_maps", plan.n_maps},
                       {"choice", json_of(plan.choice)}};
    AtomicFile file(path, overwrite);
    file.write(json.dump(1) + "\n");
    file.commit();
}

SavedPlan read_plan(const std::string& path) {
    const auto json = read_json(path, "plan of zonal plan --save-plan");
    const JsonField file(path, json);
    file.at("zonal_plan").integer(plan_version, plan_version);
    SavedPlan plan;
    plan.source = path;
    plan.machine = file.at("machine").text();
    plan.costs = file.at("costs").text();
    plan.grid = file.at("grid").text();
    plan.lmax = file.at("lmax").integer(0, most_degrees);
    plan.spin = static_cast<int>(file.at("spin").integer(0, 2));
    if (plan.spin == 1) file.at("spin").reject("be 0 or 2");
    plan.kernel = file.at("kernel").at("name").text();
    plan.profile =
        file.at("kernel").at("profile_per_sr").numbers((plan.spin == 0 ? 1 : 2) * plan_angles().size());
    plan.c_l = spectrum_of(file.at("c_l"), plan.lmax);
    plan.c_bb = spectrum_of(file.at("c_bb"), plan.lmax);
    plan.error = file.at("error_bound").number(least_error, largest_error);
    if (const double gain = file.at("gain").number(0, largest_gain); gain > 0) plan.gain = gain;
    using enum ConvolutionReference;
    plan.reference =
        one_of<ConvolutionReference>(file.at("reference"), {discrete, continuous},
                                     [](ConvolutionReference reference) { return to_string(reference); });
    plan.n_maps = file.at("n_maps").integer(1, most_maps);
    plan.choice = choice_of(file.at("choice"), plan.error, plan.lmax, plan.spin);
    return plan;
}

}  // namespace zonal::io
