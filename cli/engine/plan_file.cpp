#include "engine/plan_file.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numbers>

#include "engine/cost_model_file.hpp"
#include "options/common_options.hpp"
#include "shell/error.hpp"
#include "shell/version.hpp"
#include "zonal/io/atomic_file.hpp"

namespace zonal::cli {
namespace {

constexpr int plan_version = 2;

int spin_of(const ConvolutionRequest& request) {
    return request.polarization ? 2 : 0;
}

// What plans have been made with: --error of zonal plan and zonal smooth, the iterations of --iter, and
// ConvolutionChoice::accuracy, a hundredth of the error but not below what each precision reaches.
constexpr double least_error = 1e-13, largest_error = 0.5;
constexpr std::int64_t most_iterations = 1000;
constexpr double share_of_accuracy = 0.01, least_accuracy = 1e-12, single_accuracy = 3e-8,
                 most_accuracy = 1e-5;
constexpr std::int64_t most_maps = 1'000'000'000;
/// What tables of the same kernel may differ by when they are written as text.
constexpr double kernel_tolerance = 1e-9;
constexpr double least_support = 1e-9;  // rad: a pixel of any grid is larger

/// FNV-1a of the values' bytes.
std::string hash_of(const std::vector<double>& values) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const double value : values)
        for (int byte = 0; byte < 8; ++byte) {
            hash ^= (std::bit_cast<std::uint64_t>(value) >> (8 * byte)) & 0xff;
            hash *= 0x100000001b3;
        }
    return fmt::format("{:016x}", hash);
}

std::string spectrum_of(const ConvolutionRequest& request) {
    auto values = request.c_l;
    values.insert(values.end(), request.c_bb.begin(), request.c_bb.end());
    return values.empty() ? "white" : "hash " + hash_of(values);
}

std::string name_of(const ConvolutionRequest& request) {
    return request.polarization ? fmt::format("of Q and U, up to l = {}", request.polarization->band_limit())
                                : request.kernel.name();
}

/// Values of plus or minus of a kernel of Q and U times what makes K+ or K- of them.
std::vector<double> values_of(const RadialKernel* part, bool is_minus) {
    const auto theta = plan_angles();
    if (part == nullptr) return std::vector<double>(theta.size());
    auto values = part->profile(theta);
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] *= std::pow(is_minus ? std::sin(theta[i] / 2) : std::cos(theta[i] / 2), 4);
    return values;
}

std::vector<double> profile_of(const ConvolutionRequest& request) {
    if (!request.polarization) return request.kernel.profile(plan_angles());
    auto values = values_of(request.polarization->plus(), false);
    const auto minus = values_of(request.polarization->minus(), true);
    values.insert(values.end(), minus.begin(), minus.end());
    return values;
}

std::string reference_name(ConvolutionReference reference) {
    return reference == ConvolutionReference::discrete ? "discrete" : "continuous";
}

Json to_json(const KernelSplit& split) {
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

Json to_json(const ConvolutionChoice& choice) {
    Json json = {{"method", zonal::to_string(choice.method)},
                 {"device", zonal::to_string(choice.device)},
                 {"precision", choice.precision == Precision::single_ ? "float" : "double"},
                 {"support_rad", choice.support},
                 {"accuracy", choice.accuracy},
                 {"iterations", choice.iterations},
                 {"predicted_seconds", choice.seconds},
                 {"predicted_error", choice.error}};
    if (choice.split == nullptr) return json;
    json["l_cut"] = choice.l_cut;
    json["harmonic_device"] = zonal::to_string(choice.harmonic_device);
    json["split"] = to_json(*choice.split);
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
    const bool is_sum = choice.method != zonal::ConvolutionMethod::harmonic;
    const double most = std::clamp(share_of_accuracy * error, single_accuracy, most_accuracy);
    choice.support =
        field.at("support_rad").number(is_sum ? least_support : 0, is_sum ? std::numbers::pi : 0);
    choice.accuracy = field.at("accuracy").number(is_sum ? least_accuracy : 0, is_sum ? most : 0);
}

/// error, lmax, spin: the plan's.
ConvolutionChoice choice_of(const JsonField& field, double error, std::int64_t lmax, int spin) {
    using enum zonal::ConvolutionMethod;
    ConvolutionChoice choice;
    choice.method = one_of<zonal::ConvolutionMethod>(
        field.at("method"), {pixel_sum, ring_fft, harmonic, split},
        [](zonal::ConvolutionMethod method) { return zonal::to_string(method); });
    choice.device = device_named(field.at("device"));
    choice.precision = one_of<Precision>(
        field.at("precision"), {Precision::single_, Precision::double_},
        [](Precision precision) { return precision == Precision::single_ ? "float" : "double"; });
    read_cut(field, error, choice);
    choice.iterations = static_cast<int>(field.at("iterations").integer(0, most_iterations));
    choice.seconds = field.at("predicted_seconds").number(0, HUGE_VAL);
    choice.error = field.at("predicted_error").number(0, error);
    if (choice.method != split) return choice;
    choice.l_cut = field.at("l_cut").integer(0, std::max<std::int64_t>(0, lmax - 1));
    choice.harmonic_device = device_named(field.at("harmonic_device"));
    choice.split = split_of(field.at("split"), choice.l_cut, error, spin);
    if (const double end = choice.split->profile.support(); choice.support != end)
        field.at("support_rad").reject(fmt::format("be {}, the last of split.knots_rad", end));
    return choice;
}

[[noreturn]] void reject(const SavedPlan& plan, const std::string& field, const std::string& has,
                         const std::string& wanted) {
    throw UsageError(fmt::format("--plan {}: {} = {}: must be {}", plan.source, field, has, wanted));
}

void require_kernel(const SavedPlan& plan, const ConvolutionRequest& request) {
    if (plan.spin != spin_of(request))
        reject(plan, "spin", std::to_string(plan.spin), fmt::format("{}, the map's", spin_of(request)));
    const auto theta = plan_angles();
    const auto profile = profile_of(request);
    double largest = 0;
    for (const double value : profile) largest = std::max(largest, std::abs(value));
    for (std::size_t i = 0; i < profile.size(); ++i)
        if (!(std::abs(plan.profile[i] - profile[i]) <= kernel_tolerance * largest))
            reject(plan, fmt::format("kernel ({}) at {:.4g} rad", plan.kernel, theta[i % theta.size()]),
                   fmt::format("{:.9g} /sr", plan.profile[i]),
                   fmt::format("{:.9g} /sr as of {}", profile[i], name_of(request)));
}

/// Window and profile must give what the plan says of them: of a damaged file they do not.
void require_split(const SavedPlan& plan, const ConvolutionRequest& request) {
    const auto& split = *plan.choice.split;
    if (!can_be_split(request))
        reject(plan, "choice.method", "split", "another: the windows of E and B differ");
    const double error = split_error(split, request);
    const auto require_at_most = [&](const char* name, double bound, double rounding) {
        constexpr double relative_rounding = 1e-6;  // of the error, a sum of small differences
        if (!(error <= bound * (1 + relative_rounding) + rounding))
            throw IoError(
                fmt::format("{}: choice.split: window and profile (knots_rad, coefficients_per_sr) are "
                            "together wrong by {:.3g}: must be at most {} = {:.3g}",
                            plan.source, error, name, bound));
    };
    require_at_most("choice.predicted_error", plan.choice.error, 1e-11);
    require_at_most("choice.split.actual_error", split.actual_error, kernel_tolerance);
}

}  // namespace

std::vector<double> plan_angles() {
    constexpr int n_angles = 129;
    std::vector<double> theta;
    for (int i = 0; i < n_angles; ++i) {
        const double share = static_cast<double>(i) / (n_angles - 1);
        theta.push_back(std::numbers::pi * share * share * share);
    }
    return theta;
}

SavedPlan make_plan(const ConvolutionRequest& request, const ConvolutionChoice& choice,
                    const CostModel& costs) {
    SavedPlan plan;
    plan.machine = machine_fingerprint(request.threads);
    plan.costs = costs.fingerprint;
    plan.grid = request.grid.name();
    plan.kernel = name_of(request);
    plan.spin = spin_of(request);
    plan.profile = profile_of(request);
    plan.lmax = request.lmax;
    plan.spectrum = spectrum_of(request);
    plan.error = request.error;
    plan.reference = request.reference;
    plan.n_maps = request.n_maps;
    plan.choice = choice;
    return plan;
}

void write_plan(const std::string& path, const SavedPlan& plan, bool overwrite) {
    const Json json = {{"zonal_plan", plan_version},
                       {"zonal_version", version()},
                       {"machine", plan.machine},
                       {"costs", plan.costs},
                       {"grid", plan.grid},
                       {"lmax", plan.lmax},
                       {"kernel", {{"name", plan.kernel}, {"profile_per_sr", plan.profile}}},
                       {"spin", plan.spin},
                       {"spectrum", plan.spectrum},
                       {"error_bound", plan.error},
                       {"reference", reference_name(plan.reference)},
                       {"n_maps", plan.n_maps},
                       {"choice", to_json(plan.choice)}};
    io::AtomicFile file(path, overwrite);
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
    plan.lmax = file.at("lmax").integer(0, max_lmax);
    plan.kernel = file.at("kernel").at("name").text();
    plan.spin = static_cast<int>(file.at("spin").integer(0, 2));
    if (plan.spin == 1) file.at("spin").reject("be 0 or 2");
    const std::size_t n_parts = plan.spin == 0 ? 1 : 2;
    plan.profile = file.at("kernel").at("profile_per_sr").numbers(n_parts * plan_angles().size());
    plan.spectrum = file.at("spectrum").text();
    plan.error = file.at("error_bound").number(least_error, largest_error);
    using enum ConvolutionReference;
    plan.reference = one_of<ConvolutionReference>(
        file.at("reference"), {discrete, continuous},
        [](ConvolutionReference reference) { return reference_name(reference); });
    plan.n_maps = file.at("n_maps").integer(1, most_maps);
    plan.choice = choice_of(file.at("choice"), plan.error, plan.lmax, plan.spin);
    return plan;
}

void require_grid(const SavedPlan& plan, const Grid& grid) {
    if (plan.grid != grid.name()) reject(plan, "grid", plan.grid, grid.name() + ", the map's");
}

void require_match(const SavedPlan& plan, const ConvolutionRequest& request) {
    require_grid(plan, request.grid);
    if (plan.lmax != request.lmax)
        reject(plan, "lmax", std::to_string(plan.lmax), std::to_string(request.lmax));
    if (plan.reference != request.reference)
        reject(plan, "reference", reference_name(plan.reference), reference_name(request.reference));
    if (!(plan.error <= request.error))
        reject(plan, "error_bound", fmt::format("{}", plan.error), fmt::format("at most {}", request.error));
    if (const auto spectrum = spectrum_of(request); plan.spectrum != spectrum)
        reject(plan, "spectrum", plan.spectrum, spectrum + ", that of --input-cl");
    require_kernel(plan, request);
    if (plan.choice.split != nullptr) require_split(plan, request);
}

}  // namespace zonal::cli
