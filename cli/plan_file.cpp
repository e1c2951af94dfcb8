#include "plan_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <functional>
#include <numbers>

#include "cost_model_file.hpp"
#include "error.hpp"
#include "version.hpp"
#include "zonal/io/atomic_file.hpp"

namespace zonal::cli {
namespace {

constexpr int plan_version = 1;

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
    return request.c_l.empty() ? "white" : "hash " + hash_of(request.c_l);
}

std::string to_string(ConvolutionReference reference) {
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

std::shared_ptr<const KernelSplit> split_of(const Json& json, std::int64_t l_cut) {
    KernelSplit split{
        {l_cut, json.at("estimated_error"), json.at("amplification"), json.at("leakage"), json.at("rank")},
        json.at("window"),
        SplineProfile(json.at("knots_rad"), json.at("coefficients_per_sr")),
        {},
        json.at("actual_error")};
    if (std::ssize(split.window) != l_cut + 1)
        throw InvalidArgument(fmt::format("window: {} values, must be l_cut + 1", split.window.size()));
    return std::make_shared<const KernelSplit>(std::move(split));
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

/// The value of that name; Json's exceptions say what is missing.
template <class Enum>
Enum one_of(const Json& json, const char* key, const std::vector<Enum>& values,
            const std::function<std::string(Enum)>& name) {
    const std::string text = json.at(key);
    for (const auto value : values)
        if (name(value) == text) return value;
    throw InvalidArgument(fmt::format("{} = {}: is not known", key, text));
}

ConvolutionChoice choice_of(const Json& json) {
    using enum zonal::ConvolutionMethod;
    ConvolutionChoice choice;
    choice.method = one_of<zonal::ConvolutionMethod>(
        json, "method", {pixel_sum, ring_fft, harmonic, split},
        [](zonal::ConvolutionMethod method) { return zonal::to_string(method); });
    choice.device = device_named(json.at("device"));
    choice.precision = one_of<Precision>(
        json, "precision", {Precision::single_, Precision::double_},
        [](Precision precision) { return precision == Precision::single_ ? "float" : "double"; });
    choice.support = json.at("support_rad");
    choice.accuracy = json.at("accuracy");
    choice.iterations = json.at("iterations");
    choice.seconds = json.at("predicted_seconds");
    choice.error = json.at("predicted_error");
    if (choice.method != split) return choice;
    choice.l_cut = json.at("l_cut");
    choice.harmonic_device = device_named(json.at("harmonic_device"));
    choice.split = split_of(json.at("split"), choice.l_cut);
    return choice;
}

[[noreturn]] void reject(const SavedPlan& plan, const std::string& field, const std::string& has,
                         const std::string& wanted) {
    throw UsageError(fmt::format("--plan {}: {} = {}: must be {}", plan.source, field, has, wanted));
}

void require_kernel(const SavedPlan& plan, const RadialKernel& kernel) {
    // What tables of the same kernel may differ by when they are written as text.
    constexpr double tolerance = 1e-9;
    const auto theta = plan_angles();
    const auto profile = kernel.profile(theta);
    double largest = 0;
    for (const double value : profile) largest = std::max(largest, std::abs(value));
    for (std::size_t i = 0; i < profile.size(); ++i)
        if (!(std::abs(plan.profile[i] - profile[i]) <= tolerance * largest))
            reject(plan, fmt::format("kernel ({}) at {:.4g} rad", plan.kernel, theta[i]),
                   fmt::format("{:.9g} /sr", plan.profile[i]),
                   fmt::format("{:.9g} /sr as of {}", profile[i], kernel.name()));
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
    plan.kernel = request.kernel.name();
    plan.profile = request.kernel.profile(plan_angles());
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
                       {"spectrum", plan.spectrum},
                       {"error", plan.error},
                       {"reference", to_string(plan.reference)},
                       {"n_maps", plan.n_maps},
                       {"choice", to_json(plan.choice)}};
    io::AtomicFile file(path, overwrite);
    file.write(json.dump(1) + "\n");
    file.commit();
}

SavedPlan read_plan(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw IoError(fmt::format("{}: cannot be opened", path));
    try {
        const auto json = Json::parse(file);
        if (const int found = json.at("zonal_plan"); found != plan_version)
            throw InvalidArgument(fmt::format("zonal_plan = {}: must be {}", found, plan_version));
        SavedPlan plan;
        plan.source = path;
        plan.machine = json.at("machine");
        plan.costs = json.at("costs");
        plan.grid = json.at("grid");
        plan.lmax = json.at("lmax");
        plan.kernel = json.at("kernel").at("name");
        plan.profile = json.at("kernel").at("profile_per_sr").get<std::vector<double>>();
        plan.spectrum = json.at("spectrum");
        plan.error = json.at("error");
        using enum ConvolutionReference;
        plan.reference =
            one_of<ConvolutionReference>(json, "reference", {discrete, continuous},
                                         [](ConvolutionReference reference) { return to_string(reference); });
        plan.n_maps = json.at("n_maps");
        plan.choice = choice_of(json.at("choice"));
        if (plan.profile.size() != plan_angles().size())
            throw InvalidArgument(fmt::format("profile_per_sr: {} values", plan.profile.size()));
        return plan;
    } catch (const std::exception& error) {  // Json's, and what is thrown above
        throw IoError(fmt::format("{}: is no plan of zonal plan --save-plan: {}", path, error.what()));
    }
}

void require_match(const SavedPlan& plan, const ConvolutionRequest& request) {
    if (plan.grid != request.grid.name()) reject(plan, "grid", plan.grid, request.grid.name());
    if (plan.lmax != request.lmax)
        reject(plan, "lmax", std::to_string(plan.lmax), std::to_string(request.lmax));
    if (plan.reference != request.reference)
        reject(plan, "reference", to_string(plan.reference), to_string(request.reference));
    if (!(plan.error <= request.error))
        reject(plan, "error", fmt::format("{}", plan.error), fmt::format("at most {}", request.error));
    if (const auto spectrum = spectrum_of(request); plan.spectrum != spectrum)
        reject(plan, "spectrum", plan.spectrum, spectrum + ", that of --input-cl");
    require_kernel(plan, request.kernel);
}

}  // namespace zonal::cli
